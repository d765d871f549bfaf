package skerry

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/skerryhq/skerry/internal/httpapi"
)

// ServeOptions say where and how a runtime is served. Listener is required.
type ServeOptions struct {
	// Listener takes the connections; Serve closes it.
	Listener net.Listener
	// MetricsListener, if not nil, is where /metrics is served as well.
	MetricsListener net.Listener
	// TLS encrypts Listener's connections; nil leaves them plain.
	TLS *tls.Config
	// MaxConnections bounds the connections open at once; further ones wait. 0
	// means 16,384.
	MaxConnections int
	// ShutdownTimeout bounds the drain; 0 means 15 s.
	ShutdownTimeout time.Duration
}

// Serve serves the runtime over HTTP until ctx ends, and then drains and closes
// it: readiness turns false, new work is refused with 503 shutting_down, parked
// claims are answered, commits finished, files closed. It returns nil after a
// complete drain; clients that then still send or receive have a third of the
// timeout before they are cut off. A Close meanwhile ends it at once, with nil as
// well: what went wrong is Close's to say.
func (r *Runtime) Serve(ctx context.Context, o ServeOptions) error {
	if o.MaxConnections == 0 {
		o.MaxConnections = 16_384
	}
	if o.ShutdownTimeout == 0 {
		o.ShutdownTimeout = 15 * time.Second
	}
	listener := httpapi.LimitListener(o.Listener, o.MaxConnections)
	if o.TLS != nil {
		listener = tls.NewListener(listener, o.TLS)
	}
	servers := []*http.Server{httpapi.NewServer(r.handler, httpapi.ServerOptions{Logger: r.log})}
	listeners := []net.Listener{listener}
	if o.MetricsListener != nil {
		mux := http.NewServeMux()
		mux.Handle("GET /metrics", r.MetricsHandler())
		servers = append(servers, httpapi.NewServer(mux, httpapi.ServerOptions{Logger: r.log}))
		listeners = append(listeners, o.MetricsListener)
	}
	ended := make(chan error, len(servers))
	for n, s := range servers {
		go func() { ended <- s.Serve(listeners[n]) }()
	}
	var failure error
	running := len(servers)
	select {
	case <-ctx.Done():
	case <-r.closed:
	case failure = <-ended:
		running--
	}
	err := r.drain(context.WithoutCancel(ctx), servers, o.ShutdownTimeout)
	for range running {
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			failure = errors.Join(failure, e)
		}
	}
	if failure != nil {
		return errors.Join(fmt.Errorf("serve: %w", failure), err)
	}
	return err
}

// drain closes the runtime while the servers still answer, so that clients are
// told to come back rather than cut off, and then the servers.
func (r *Runtime) drain(ctx context.Context, servers []*http.Server, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-r.closed:
			cancel()
		case <-ctx.Done():
		}
	})
	defer watch.Wait()
	defer cancel()
	for _, s := range servers {
		s.SetKeepAlivesEnabled(false)
	}
	err := r.Shutdown(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil // a Close has taken over
	}
	err = errors.Join(err, r.disconnect(ctx, servers, timeout/3))
	if err != nil {
		return fmt.Errorf("shut down: %w", err)
	}
	return nil
}

// disconnect closes the servers. The runtime is closed already, so nothing that
// was acknowledged or committed hangs on the requests that are left: their
// clients are slow to send or to receive, and get only so much grace.
func (r *Runtime) disconnect(ctx context.Context, servers []*http.Server, grace time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	var err error
	for _, s := range servers {
		if s.Shutdown(ctx) != nil {
			r.log.Info("slow clients cut off")
			err = errors.Join(err, s.Close())
		}
	}
	return err
}
