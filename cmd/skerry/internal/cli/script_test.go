package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// checked looks for goroutines that outlived the tests.
type checked struct{ *testing.M }

func (c checked) Run() int {
	code := c.M.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

func TestMain(m *testing.M) {
	testscript.Main(checked{m}, map[string]func(){"skerry": func() { os.Exit(Main()) }})
}

const operatorKey = "operator-key-of-the-tests"

// TestScripts runs the command line as a process against a node, one of its own
// for each script.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               startNode,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"login": login,
			"exits": exits,
			"fifo":  makeFIFO,
			"await": await,
			"gone":  gone,
			"keep":  keep,
		},
	})
}

func startNode(e *testscript.Env) error {
	rt, err := skerry.Open(context.Background(), filepath.Join(e.WorkDir, ".data"), skerry.Options{OperatorKey: operatorKey})
	if err != nil {
		return err
	}
	server := httptest.NewServer(rt.Handler())
	e.Defer(func() {
		server.Close()
		if err := rt.Close(); err != nil {
			e.T().Log("close node:", err)
			e.T().FailNow()
		}
	})
	e.Setenv("SKERRY_SERVER", server.URL)
	e.Setenv("SKERRY_OPERATOR_KEY", operatorKey)
	return nil
}

// login NAMESPACE PRINCIPAL ROLE… makes the namespace if need be and a key, and
// puts both into the environment.
func login(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: login NAMESPACE PRINCIPAL ROLE…")
	}
	o, err := client.NewOperator(ts.Getenv("SKERRY_SERVER"), operatorKey, nil)
	ts.Check(err)
	defer o.Close()
	_, err = o.CreateNamespace(context.Background(), args[0])
	ts.Check(err)
	spec := api.KeySpec{Principal: args[1]}
	for _, role := range args[2:] {
		spec.Roles = append(spec.Roles, api.Role(role))
	}
	key, err := o.CreateKey(context.Background(), args[0], spec)
	ts.Check(err)
	ts.Setenv("SKERRY_NS", args[0])
	ts.Setenv("SKERRY_KEY", key.Secret)
}

// exits CODE COMMAND ARGS… runs a command that must end with the code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	code := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("got exit code %d, want %s", code, args[0])
	}
}

func makeFIFO(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(syscall.Mkfifo(ts.MkAbs(args[0]), 0o600))
}

// await NAME waits until somebody has written into a FIFO and closed it, and
// leaves what was written in NAME.out.
func await(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Open(ts.MkAbs(args[0]))
	ts.Check(err)
	defer f.Close()
	data, err := io.ReadAll(f)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".out"), data, 0o600))
}

// gone FILE checks that no process whose number stands in the file runs.
func gone(ts *testscript.TestScript, _ bool, args []string) {
	for _, pid := range strings.Fields(ts.ReadFile(args[0])) {
		status, err := os.ReadFile("/proc/" + pid + "/stat")
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		ts.Check(err)
		if _, state, _ := strings.Cut(string(status), ") "); !strings.HasPrefix(state, "Z") {
			ts.Fatalf("process %s still runs: %s", pid, status)
		}
	}
}

// keep NAME BEFORE AFTER puts the part of the last standard output between the
// two texts into the environment.
func keep(ts *testscript.TestScript, _ bool, args []string) {
	_, rest, found := strings.Cut(ts.ReadFile("stdout"), args[1])
	value, _, ended := strings.Cut(rest, strings.ReplaceAll(args[2], `\n`, "\n"))
	if !found || !ended {
		ts.Fatalf("standard output holds nothing between %q and %q", args[1], args[2])
	}
	ts.Setenv(args[0], value)
}
