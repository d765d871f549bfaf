package client

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Client works in one namespace of a server. It is safe for concurrent use.
// Make one with [New].
type Client struct {
	sender *sender
	// key is the Idempotency-Key of the next creation, empty for one of its own.
	key string
}

// New makes a client of the namespace at baseURL, which is
// "http://host/ns/NAME", or "http://host" where the server serves a single
// namespace. The key may be empty where the namespace admits anonymous
// requests. New sends nothing; its errors are about its arguments.
func New(baseURL, key string, o *Options) (*Client, error) {
	s, err := newSender(baseURL, key, o)
	if err != nil {
		return nil, err
	}
	return &Client{sender: s}, nil
}

// WithIdempotencyKey returns a client that sends the key, 1 to 255 printable
// ASCII characters, with every request that changes something except
// heartbeats. The caller uses it for one logical request, sent as often as it
// takes; another request under the same key is refused or answered with the
// first one's answer.
//
// Without it a creation bears a random key of its own, so that its tries within
// one call are one request, and a claim bears none.
func (c *Client) WithIdempotencyKey(key string) *Client {
	return &Client{sender: c.sender, key: key}
}

// Close closes idle connections. Requests under way go on.
func (c *Client) Close() { c.sender.close() }

// keyOr is the key that the caller chose, or else the one given.
func (c *Client) keyOr(own string) string {
	if c.key != "" {
		return c.key
	}
	return own
}

// parseBase checks a base URL and returns it without a trailing slash.
func parseBase(baseURL string) (string, error) {
	u, err := url.Parse(baseURL)
	if err != nil {
		return "", errors.New("parse base url: not a URL")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return "", fmt.Errorf("parse base url: scheme %q is neither http nor https", u.Scheme)
	case u.Host == "":
		return "", errors.New("parse base url: no host")
	case u.User != nil:
		return "", errors.New("parse base url: credentials belong in the key, not in the URL")
	case u.RawQuery != "" || u.Fragment != "":
		return "", errors.New("parse base url: a query or fragment has no place in it")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// checkKey refuses a key that a header cannot carry, without showing it.
func checkKey(key string) error {
	for i := range len(key) {
		if key[i] <= ' ' || key[i] > '~' {
			return errors.New("check key: it holds a space or a character that is not printable ASCII")
		}
	}
	return nil
}

// pathOf escapes each segment of a noun's key or an id and leaves the slashes.
func pathOf(name string) string {
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/")
}
