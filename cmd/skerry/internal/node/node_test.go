package node_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/cmd/skerry/internal/config"
	"github.com/skerryhq/skerry/cmd/skerry/internal/node"
)

// loaded is a configuration for a fresh directory and a free port.
func loaded(t *testing.T) config.Loaded {
	t.Helper()
	l := config.Loaded{Config: config.Default()}
	l.Config.Data, l.Config.Listen = filepath.Join(t.TempDir(), "data"), "127.0.0.1:0"
	return l
}

// run starts a node and ends it with the test.
func run(t *testing.T, l config.Loaded) *node.Node {
	t.Helper()
	n, err := node.Open(t.Context(), l, "test", io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx, context.Background()) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("run node: %v", err)
		}
	})
	return n
}

func TestOpenNamesWhatAnotherNodeHolds(t *testing.T) {
	t.Parallel()
	first := loaded(t)
	address := run(t, first).Addr().String()
	samePort, sameData := loaded(t), loaded(t)
	samePort.Config.Listen = address
	sameData.Config.Data = first.Config.Data
	for _, tt := range []struct {
		l    config.Loaded
		want string
	}{
		{samePort, "listen on " + address},
		{sameData, first.Config.Data + " is held by"},
	} {
		_, err := node.Open(t.Context(), tt.l, "test", io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got error %v, want one with %q", err, tt.want)
		}
		// A caller must not take it for a server that does not answer.
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			t.Errorf("%v still is a network error", err)
		}
	}
	// Nothing is held on to by the node that did not start.
	samePort.Config.Listen = "127.0.0.1:0"
	run(t, samePort)
}

func TestOperatorKeyIsWrittenOnceForItsOwnerOnly(t *testing.T) {
	t.Parallel()
	l := loaded(t)
	path := filepath.Join(l.Config.Data, node.KeyFile)
	var first string
	for range 2 {
		n, err := node.Open(t.Context(), l, "test", io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		stop()
		if err := n.Run(ctx, context.Background()); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("got mode %o, want 600", got)
		}
		key, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first != "" && string(key) != first {
			t.Error("the second start wrote another key")
		}
		first = string(key)
	}
}
