package skerry

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync"

	"github.com/skerryhq/skerry/internal/httpapi"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/claims"
	"github.com/skerryhq/skerry/namespace/runs"
)

// Runtime is an open data directory and the namespaces in it. It is safe for
// concurrent use. Its methods beyond those here are those of
// [namespace.Runtime]: Create, Delete, List, Namespace, Ready, Shutdown.
type Runtime struct {
	*namespace.Runtime
	handler http.Handler
	log     *slog.Logger
	closing sync.Once
	closed  chan struct{} // closed when Close begins
}

// Open opens the data directory, which is made if it is absent. A directory that
// another runtime holds, in this process or another, is an error. The runtime
// must be closed, by Shutdown (which drains) or Close (which does not); with
// either nothing that was acknowledged is lost.
func Open(ctx context.Context, dir string, o Options) (*Runtime, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	durable := runs.Class(runs.Options{Handlers: o.handlers(), Slots: o.RunSlots, Logger: log})
	inner, err := namespace.Open(ctx, dir, namespace.Options{
		Classes:  slices.Concat([]Class{claims.Class(), durable}, o.Classes),
		Defaults: o.settings(), MaxActive: o.MaxActive, Clock: o.Clock, Logger: log, Version: o.Version, VFS: o.VFS,
	})
	if err != nil {
		return nil, fmt.Errorf("open runtime: %w", err)
	}
	handler, err := httpapi.New(inner, httpapi.Options{
		OperatorKey: o.OperatorKey, Single: o.Single, Metrics: !o.HideMetrics, Audit: o.Audit, Logger: log,
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open runtime: %w", err), inner.Close())
	}
	if o.Single != "" {
		if _, err := inner.Create(ctx, o.Single); err != nil {
			return nil, errors.Join(fmt.Errorf("open runtime: %w", err), inner.Close())
		}
	}
	return &Runtime{Runtime: inner, handler: handler, log: log, closed: make(chan struct{})}, nil
}

// Close stops at once, without a drain, and ends a Serve under way. Nothing
// acknowledged is lost. It may be called again, and beside Shutdown.
func (r *Runtime) Close() error {
	r.closing.Do(func() { close(r.closed) })
	return r.Runtime.Close()
}

// Handler serves every HTTP route of the runtime. It may be mounted in any
// server, at the root of its paths.
func (r *Runtime) Handler() http.Handler { return r.handler }

// MetricsHandler serves the metrics alone, for an address of their own.
func (r *Runtime) MetricsHandler() http.Handler { return httpapi.MetricsHandler(r.Runtime) }
