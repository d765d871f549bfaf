package httpapi

import (
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Bounds of a server where its options say nothing.
const (
	defaultHeaderTimeout  = 10 * time.Second
	defaultIdleTimeout    = 2 * time.Minute
	defaultMaxHeaderBytes = 64 << 10
)

// ServerOptions bound what a client may take of a server. The zero value has
// sensible bounds.
type ServerOptions struct {
	// HeaderTimeout is how long a request's header may take; 0 means 10 s.
	HeaderTimeout time.Duration
	// IdleTimeout is how long a connection may rest between requests; 0 means
	// two minutes.
	IdleTimeout time.Duration
	// MaxHeaderBytes bounds a request's header; 0 means 64 KiB. More is 431.
	MaxHeaderBytes int
	// Logger gets the server's own complaints; nil means [slog.Default].
	Logger *slog.Logger
}

// NewServer makes a server for h. Headers, idle connections and, by the handler
// of [New], bodies are bounded in time. Answers are not: a long poll lasts as
// long as its request asked for, and a stream as long as there may be more, if its
// client takes what it is sent.
func NewServer(h http.Handler, o ServerOptions) *http.Server {
	if o.HeaderTimeout == 0 {
		o.HeaderTimeout = defaultHeaderTimeout
	}
	if o.IdleTimeout == 0 {
		o.IdleTimeout = defaultIdleTimeout
	}
	if o.MaxHeaderBytes == 0 {
		o.MaxHeaderBytes = defaultMaxHeaderBytes
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: o.HeaderTimeout,
		IdleTimeout:       o.IdleTimeout,
		MaxHeaderBytes:    o.MaxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(o.Logger.Handler(), slog.LevelWarn),
		// "OPTIONS *" is a route that does not exist, like any other.
		DisableGeneralOptionsHandler: true,
	}
}

// LimitListener bounds the connections that are open at once to n, which must be
// at least 1. While there are as many, further ones wait in the kernel's queue.
func LimitListener(l net.Listener, n int) net.Listener {
	return &limitListener{Listener: l, slots: make(chan struct{}, n), closed: make(chan struct{})}
}

type limitListener struct {
	net.Listener
	slots  chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Accept waits for a free slot and then for a connection. It ends when the
// listener is closed, in either wait.
func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.closed:
		return nil, net.ErrClosed
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	return &limitedConn{Conn: conn, slots: l.slots}, nil
}

func (l *limitListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return l.Listener.Close()
}

// limitedConn gives its slot back when it is first closed.
type limitedConn struct {
	net.Conn
	once  sync.Once
	slots chan struct{}
}

func (c *limitedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { <-c.slots })
	return err
}
