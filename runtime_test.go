package skerry_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
	"github.com/skerryhq/skerry/namespace/claims"
)

func open(t *testing.T, dir string, o skerry.Options) *skerry.Runtime {
	t.Helper()
	rt, err := skerry.Open(t.Context(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func TestOpenRefusesADirectoryInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, skerry.Options{})
	_, err := skerry.Open(t.Context(), dir, skerry.Options{})
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("a second Open = %v, want an error that names %s", err, dir)
	}
}

func TestOpenNamesABadSetting(t *testing.T) {
	t.Parallel()
	s := skerry.DefaultSettings()
	s.ClaimInitialConcurrency = 0
	_, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{Settings: &s})
	if err == nil || !strings.Contains(err.Error(), "claim_initial_concurrency") {
		t.Errorf("Open = %v, want an error that names claim_initial_concurrency", err)
	}
}

// The in-process and the HTTP form are one service: what one makes the other sees.
func TestHandlerAndServiceShareANamespace(t *testing.T) {
	t.Parallel()
	rt := open(t, t.TempDir(), skerry.Options{Single: "acme", OperatorKey: "op"})
	server := httptest.NewServer(rt.Handler())
	defer server.Close()
	op, err := client.NewOperator(server.URL, "op", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer op.Close()
	key, err := op.CreateKey(t.Context(), "acme", api.KeySpec{Principal: "w", Roles: []api.Role{api.RoleWorker}})
	if err != nil {
		t.Fatal(err)
	}
	work := claims.Of(rt.Namespace("acme"), skerry.Caller{Principal: "me"})
	made, err := work.CreateVerb(t.Context(), api.VerbSpec{Kind: "k", Artifact: "out/x"})
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(server.URL, key.Secret, nil) // the shape without a prefix
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Claim(t.Context(), api.ClaimSpec{})
	if err != nil || len(got.Claims.Claims) != 1 || got.Claims.Claims[0].Verb.ID != made.ID {
		t.Errorf("claim over HTTP = %+v, %v, want %s", got, err, made.ID)
	}
}

// A drain lets requests in course finish, refuses new ones with advice, and
// leaves no goroutine.
func TestServeDrainsWhenItsContextEnds(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	rt, err := skerry.Open(t.Context(), t.TempDir(), skerry.Options{Single: "acme"})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- rt.Serve(ctx, skerry.ServeOptions{Listener: listener}) }()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	res, err := (&http.Client{Transport: transport}).Get("http://" + listener.Addr().String() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("readyz = %d, want 200", res.StatusCode)
	}
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v, want nil after a complete drain", err)
	}
	if err := rt.Close(); err != nil {
		t.Errorf("Close after Serve = %v", err)
	}
	_, err = rt.Namespace("acme").Authenticate(t.Context(), "x")
	if !api.IsCode(err, api.ShuttingDown) {
		t.Errorf("a request after the end = %v, want shutting_down", err)
	}
}

// stuckClient has a request under way whose body does not come.
func stuckClient(t *testing.T, address, operatorKey string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "PUT /api/v2/namespaces/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Expect: 100-continue\r\nContent-Length: 10\r\n\r\n", operatorKey)
	// It is told to go on when the server begins to read.
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v, want 100 Continue", line, err)
	}
}

// serveStuck serves a runtime to one stuck client, and gives what Serve returns.
func serveStuck(t *testing.T, timeout time.Duration) (rt *skerry.Runtime, stop func(), served <-chan error) {
	t.Helper()
	rt = open(t, t.TempDir(), skerry.Options{OperatorKey: "op"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	result := make(chan error, 1)
	go func() { result <- rt.Serve(ctx, skerry.ServeOptions{Listener: listener, ShutdownTimeout: timeout}) }()
	stuckClient(t, listener.Addr().String(), "op")
	return rt, stop, result
}

// A client that does not send its body keeps no node from a clean end.
func TestDrainCutsOffAClientThatIsTooSlow(t *testing.T) {
	t.Parallel()
	_, stop, served := serveStuck(t, 300*time.Millisecond)
	stop()
	if err := <-served; err != nil {
		t.Errorf("Serve = %v, want nil: everything but the client was done", err)
	}
}

func TestCloseEndsServeAtOnce(t *testing.T) {
	t.Parallel()
	for _, draining := range []bool{false, true} {
		rt, stop, served := serveStuck(t, time.Hour)
		if draining {
			stop()
		}
		if err := rt.Close(); err != nil {
			t.Errorf("Close while draining is %t = %v", draining, err)
		}
		select {
		case err := <-served:
			if err != nil {
				t.Errorf("Serve = %v after Close, want nil", err)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("Serve goes on after Close, while draining is %t", draining)
		}
	}
}
