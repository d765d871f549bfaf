package cli

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/skerryhq/skerry/client"
)

const defaultServer = "http://127.0.0.1:7480"

// options are those of every client here. A person waits, so few tries.
func (e *env) options() *client.Options {
	return &client.Options{MaxAttempts: 3, UserAgent: "skerry/" + version()}
}

// client works in the chosen namespace.
func (e *env) client(o *client.Options) (*client.Client, error) {
	base := strings.TrimRight(e.server, "/")
	if e.namespace != "" {
		base += "/ns/" + url.PathEscape(e.namespace)
	}
	c, err := client.New(base, e.key, o)
	if err != nil {
		return nil, usage("%w", err)
	}
	return c, nil
}

// operator works on the node. For what concerns one namespace an admin's key of
// that namespace serves where there is no operator key.
func (e *env) operator() (*client.Operator, error) {
	if e.operatorKey == "" {
		e.operatorKey = e.operatorKeyFile()
	}
	key := e.operatorKey
	if key == "" {
		key = e.key
	}
	o, err := client.NewOperator(e.server, key, e.options())
	if err != nil {
		return nil, usage("%w", err)
	}
	return o, nil
}

// operatorOf is operator with the namespace that the command is about.
func (e *env) operatorOf() (o *client.Operator, name string, err error) {
	if name, err = e.needNamespace(); err != nil {
		return nil, "", err
	}
	o, err = e.operator()
	return o, name, err
}

// operatorKeyFile reads the key that skerry serve wrote. It is for a server on
// this machine only: the key of this node is no business of another.
func (e *env) operatorKeyFile() string {
	u, err := url.Parse(e.server)
	if err != nil {
		return ""
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return ""
	}
	key, err := os.ReadFile(filepath.Join(e.data, "operator.key"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(key))
}

// needNamespace is the namespace that an operator's command is about.
func (e *env) needNamespace() (string, error) {
	if e.namespace == "" {
		return "", usage("no namespace: set --ns or SKERRY_NS")
	}
	return e.namespace, nil
}

// usageError is a mistake in how the command was called.
type usageError struct{ err error }

func usage(format string, args ...any) error { return &usageError{fmt.Errorf(format, args...)} }

func (u *usageError) Error() string { return u.err.Error() }

func (u *usageError) Unwrap() error { return u.err }
