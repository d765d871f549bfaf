package main_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// binary is built once for all tests of the package.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "skerry-binary-*")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "skerry")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := binary(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// process is a node that runs as its own process.
type process struct {
	data    string
	address string
	cmd     *exec.Cmd
	log     *logTail
}

// startNode starts a node on a fresh directory and a free port.
func startNode(t *testing.T) *process {
	t.Helper()
	n := &process{data: t.TempDir(), address: "127.0.0.1:0"}
	n.start(t)
	t.Cleanup(func() {
		if n.cmd.ProcessState == nil {
			n.cmd.Process.Kill()
			n.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("log of the node:\n%s", n.log)
		}
	})
	return n
}

// start starts the process, after a kill on the same directory and address.
func (n *process) start(t *testing.T) {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	n.cmd = exec.Command(path, "serve", "--data", n.data, "--listen", n.address)
	n.cmd.Env = append(os.Environ(), "GORACE=halt_on_error=1")
	stderr, err := n.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	n.log = &logTail{}
	if err := n.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	addresses := make(chan string, 1)
	go n.log.follow(stderr, addresses)
	select {
	case n.address = <-addresses:
	case <-time.After(30 * time.Second):
		t.Fatalf("the node did not say its address:\n%s", n.log)
	}
}

// logTail keeps a process's log and finds the address that it serves.
type logTail struct {
	mu   sync.Mutex
	text strings.Builder
}

var servingAt = regexp.MustCompile(`msg=serving address=(\S+)`)

func (l *logTail) follow(r io.Reader, addresses chan<- string) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		l.mu.Lock()
		l.text.WriteString(lines.Text() + "\n")
		l.mu.Unlock()
		if m := servingAt.FindStringSubmatch(lines.Text()); m != nil {
			addresses <- m[1]
		}
	}
}

func (l *logTail) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (n *process) url() string { return "http://" + n.address }

func (n *process) operator(t *testing.T) *client.Operator {
	t.Helper()
	key, err := os.ReadFile(filepath.Join(n.data, "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	op, err := client.NewOperator(n.url(), strings.TrimSpace(string(key)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(op.Close)
	return op
}

func (n *process) key(t *testing.T, ns, principal string, roles ...api.Role) string {
	t.Helper()
	key, err := n.operator(t).CreateKey(t.Context(), ns, api.KeySpec{Principal: principal, Roles: roles})
	if err != nil {
		t.Fatal(err)
	}
	return key.Secret
}

func (n *process) client(t *testing.T, ns, key string) *client.Client {
	t.Helper()
	c, err := client.New(n.url()+"/ns/"+ns, key, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// await asks for the admission status until it is as wanted.
func (n *process) await(t *testing.T, ns string, done func(*api.AdmissionStatus) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	admin := n.client(t, ns, n.key(t, ns, "watch", api.RoleAdmin))
	for {
		s, err := admin.Admission(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if done(s) {
			return
		}
	}
}

func (n *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// kill ends the process without any chance to do something.
func (n *process) kill(t *testing.T) {
	t.Helper()
	n.signal(t, syscall.SIGKILL)
	n.cmd.Wait()
}

// stop ends the process politely.
func (n *process) stop(t *testing.T) {
	t.Helper()
	n.signal(t, syscall.SIGTERM)
	n.wait(t)
}

// wait wants the process to leave with 0.
func (n *process) wait(t *testing.T) {
	t.Helper()
	if err := n.cmd.Wait(); err != nil {
		t.Errorf("the node left with %v", err)
	}
}
