package client

import (
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// Options tunes a [Client] or an [Operator]. The zero value, and nil, are
// sensible. They are copied; later changes have no effect.
type Options struct {
	// HTTPClient sends the requests. It must not follow redirects with a key it
	// would not show to the target. Nil means one of the client's own, with a
	// pool sized for Concurrency.
	HTTPClient *http.Client
	// Concurrency is how many requests are expected at once; that many idle
	// connections are kept. 0 means 16. It limits nothing.
	Concurrency int
	// RequestTimeout bounds one try, besides the time for which a long poll asks
	// to wait. 0 means 30 s.
	RequestTimeout time.Duration
	// MaxAttempts bounds the tries of one request, the first included. 0 means
	// 5, 1 means that nothing is tried again.
	MaxAttempts int
	// MaxElapsed bounds the time from the first try to the start of the last. 0
	// means 60 s.
	MaxElapsed time.Duration
	// Patient makes a claim that is refused with 429 come back, as often as it
	// takes, until its context ends.
	Patient bool
	// Jitter gives numbers in [0, 1) that spread repeated tries. It is called
	// concurrently. Nil means math/rand/v2.
	Jitter func() float64
	// UserAgent names the program; empty means "skerry-go".
	UserAgent string
}

func (o *Options) withDefaults() Options {
	var d Options
	if o != nil {
		d = *o
	}
	if d.Concurrency <= 0 {
		d.Concurrency = 16
	}
	if d.RequestTimeout <= 0 {
		d.RequestTimeout = 30 * time.Second
	}
	if d.MaxAttempts <= 0 {
		d.MaxAttempts = 5
	}
	if d.MaxElapsed <= 0 {
		d.MaxElapsed = time.Minute
	}
	if d.Jitter == nil {
		d.Jitter = rand.Float64
	}
	if d.UserAgent == "" {
		d.UserAgent = "skerry-go"
	}
	if d.HTTPClient == nil {
		d.HTTPClient = newHTTPClient(d.Concurrency)
	}
	return d
}

// newHTTPClient keeps as many idle connections as there are requests at once:
// the default of two would close and dial one for nearly every request of a
// busy worker. It follows no redirect, because a Skerry server sends none, and
// what lies elsewhere has no business with the key.
func newHTTPClient(concurrency int) *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         dialer.DialContext,
			ForceAttemptHTTP2:   true,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConns:        concurrency + 4,
			MaxIdleConnsPerHost: concurrency + 4,
			IdleConnTimeout:     90 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
