package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/skerryhq/skerry/client"
)

const (
	// startTimeout is how long a node may take to serve.
	startTimeout = 30 * time.Second
	pollInterval = 20 * time.Millisecond
)

// node is a Skerry node that the demo started.
type node struct {
	*process
	// base is "http://host:port".
	base     string
	operator *client.Operator
}

// startNode starts a node on a data directory of its own in dir and waits until it
// is ready. The kernel chooses the port, so that nothing on the machine is in the
// way; the node's log says which it was.
func startNode(ctx context.Context, skerry, dir string) (*node, error) {
	data := filepath.Join(dir, "data")
	p, err := start(dir, "node", nil, skerry, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-format", "json")
	if err != nil {
		return nil, err
	}
	n := &node{process: p}
	if err := n.ready(ctx, data); err != nil {
		return nil, errors.Join(fmt.Errorf("start node: %w", err), p.kill())
	}
	return n, nil
}

// ready waits until the node serves, and makes the operator.
func (n *node) ready(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	serving := regexp.MustCompile(`"msg":"serving".*"address":"([^"]+)"`)
	for n.base == "" {
		log, err := os.ReadFile(n.log)
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if found := serving.FindSubmatch(log); found != nil {
			n.base = "http://" + string(found[1])
			break
		}
		select {
		case <-n.done:
			return fmt.Errorf("ended before it served: %w", n.err)
		default:
		}
		if err := pause(ctx, pollInterval); err != nil {
			return err
		}
	}
	key, err := os.ReadFile(filepath.Join(data, "operator.key"))
	if err != nil {
		return fmt.Errorf("read operator key: %w", err)
	}
	if n.operator, err = client.NewOperator(n.base, strings.TrimSpace(string(key)), nil); err != nil {
		return err
	}
	_, err = n.operator.Ready(ctx)
	return err
}

// stop ends the node in order; an exit code other than 0 is an error.
func (n *node) stop() error {
	n.operator.Close()
	return n.process.stop()
}
