package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/skerryhq/skerry/client"
)

// startTimeout is how long a node may take to serve.
const startTimeout = 30 * time.Second

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
func startNode(ctx context.Context, skerry, dir, logs string) (*node, error) {
	data := filepath.Join(dir, "data")
	found := make(chan string, 1)
	p, err := start(logs, "node", func(log io.Writer) io.Writer { return &addressFinder{log: log, found: found} }, nil,
		skerry, "serve", "--data", data, "--listen", "127.0.0.1:0", "--log-format", "json")
	if err != nil {
		return nil, err
	}
	n := &node{process: p}
	if err := n.ready(ctx, found, data); err != nil {
		return nil, errors.Join(fmt.Errorf("start node: %w", err), p.kill())
	}
	return n, nil
}

// ready waits until the node serves, and makes the operator.
func (n *node) ready(ctx context.Context, found <-chan string, data string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("not ready after %v", startTimeout))
	defer cancel()
	select {
	case address := <-found:
		n.base = "http://" + address
	case <-n.done:
		return fmt.Errorf("ended before it served: %w", n.err)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	key, err := os.ReadFile(filepath.Join(data, "operator.key"))
	if err != nil {
		return fmt.Errorf("read operator key: %w", err)
	}
	n.operator, err = client.NewOperator(n.base, strings.TrimSpace(string(key)), nil)
	if err != nil {
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

// addressFinder passes a node's log on, and sends the address from the record
// that says that the node serves.
type addressFinder struct {
	log io.Writer
	// found has room for one address; it is nil once that was sent.
	found chan<- string
	line  []byte
}

// Write takes part of the log.
func (a *addressFinder) Write(p []byte) (int, error) {
	if a.found != nil {
		a.scan(p)
	}
	return a.log.Write(p)
}

func (a *addressFinder) scan(p []byte) {
	a.line = append(a.line, p...)
	for {
		line, rest, complete := bytes.Cut(a.line, []byte("\n"))
		if !complete {
			return
		}
		a.line = rest
		var record struct {
			Msg     string `json:"msg"`
			Address string `json:"address"`
		}
		if json.Unmarshal(line, &record) == nil && record.Msg == "serving" {
			a.found <- record.Address
			a.found, a.line = nil, nil
			return
		}
	}
}
