// Package node runs a Skerry node as a process: it turns a configuration into a
// runtime that is served until it is told to stop.
package node

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/cmd/skerry/internal/config"
)

// Node is a node that has its data directory and its addresses, but does not
// serve yet.
type Node struct {
	config   config.Config
	runtime  *skerry.Runtime
	listener net.Listener
	metrics  net.Listener
	tls      *tls.Config
	audit    *os.File
	log      *slog.Logger
}

// Open takes everything a node needs, so that whatever is wrong is said at once.
// The log goes to stderr.
func Open(ctx context.Context, l config.Loaded, version string, stderr io.Writer) (*Node, error) {
	n := &Node{config: l.Config, log: newLogger(l.Config, stderr)}
	for _, name := range l.Unknown {
		n.log.Warn("environment variable ignored: no setting reads it", slog.String("variable", name))
	}
	if err := n.open(ctx, version); err != nil {
		return nil, plain(errors.Join(err, n.release()))
	}
	return n, nil
}

// plain is an error in words only. The network's and the context's errors of a
// node are its own; with their chain, who runs the node beside commands that talk
// to one would take them for a server that does not answer.
func plain(err error) error {
	if err == nil {
		return nil
	}
	return errors.New(err.Error())
}

func (n *Node) open(ctx context.Context, version string) error {
	c := n.config
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("make data directory: %w", err)
	}
	key, err := operatorKey(c, n.log)
	if err != nil {
		return err
	}
	if c.TLSCert != "" {
		pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
		if err != nil {
			return fmt.Errorf("load TLS certificate and key: %w", err)
		}
		n.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	}
	if n.audit, err = os.OpenFile(filepath.Join(c.Data, "audit.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return fmt.Errorf("open audit log: %w", err)
	}
	active := skerry.MaxActive(c.MaxActive)
	if active < c.MaxActive {
		n.log.Warn("max_active lowered to what the limit of open descriptors allows",
			slog.Int("asked", c.MaxActive), slog.Int("allowed", active))
	}
	n.runtime, err = skerry.Open(ctx, c.Data, skerry.Options{
		Settings: &c.Settings, MaxActive: active, OperatorKey: key, Single: c.Namespace, HideMetrics: c.MetricsListen != "",
		Logger: n.log, Audit: slog.New(slog.NewJSONHandler(n.audit, nil)), Version: version,
	})
	if err != nil {
		return err
	}
	return n.listen()
}

func (n *Node) listen() (err error) {
	if n.listener, err = net.Listen("tcp", n.config.Listen); err != nil {
		return fmt.Errorf("listen on %s: %w", n.config.Listen, err)
	}
	if n.config.MetricsListen == "" {
		return nil
	}
	if n.metrics, err = net.Listen("tcp", n.config.MetricsListen); err != nil {
		return fmt.Errorf("listen for metrics on %s: %w", n.config.MetricsListen, err)
	}
	return nil
}

// Addr is the address that is served.
func (n *Node) Addr() net.Addr { return n.listener.Addr() }

// Run serves until ctx ends, then drains. When hurry ends too it stops at once.
func (n *Node) Run(ctx, hurry context.Context) error {
	rt, closed := n.runtime, make(chan struct{})
	stop := context.AfterFunc(hurry, func() {
		defer close(closed)
		if err := rt.Close(); err != nil {
			n.log.Error("close at once", slog.Any("error", err))
		}
	})
	defer func() {
		if !stop() {
			<-closed
		}
	}()
	n.log.Info("serving", slog.String("address", n.Addr().String()), slog.String("data", n.config.Data),
		slog.Int("namespaces", n.runtime.NodeStats().Namespaces))
	err := rt.Serve(ctx, skerry.ServeOptions{
		Listener: n.listener, MetricsListener: n.metrics, TLS: n.tls,
		MaxConnections: n.config.MaxConnections, ShutdownTimeout: n.config.ShutdownTimeout,
	})
	n.listener, n.metrics, n.runtime = nil, nil, nil
	if err == nil {
		n.log.Info("stopped")
	}
	return plain(errors.Join(err, n.release()))
}

// release lets go of what is still held.
func (n *Node) release() error {
	var err error
	for _, l := range []net.Listener{n.listener, n.metrics} {
		if l != nil {
			err = errors.Join(err, l.Close())
		}
	}
	if n.runtime != nil {
		err = errors.Join(err, n.runtime.Close())
	}
	if n.audit != nil {
		err = errors.Join(err, n.audit.Close())
	}
	return err
}

func newLogger(c config.Config, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // the configuration allows only names that parse
	}
	o := &slog.HandlerOptions{Level: level}
	if c.LogFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
