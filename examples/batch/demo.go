package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

const (
	space = "demo"
	kind  = "source-facts"
	// leaseMs is short, so that the killed worker's items are soon somebody else's.
	leaseMs = "1500"
	// killAfter is how many items must have ended before a worker is killed.
	killAfter = 40
)

// demo runs everything and reports to out.
func demo(ctx context.Context, o options, out io.Writer) (err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %v", timeout))
	defer cancel()
	rows, err := readInput(o.input)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "skerry-batch-*")
	if err != nil {
		return err
	}
	defer func() {
		if o.keep || err != nil {
			fmt.Fprintln(out, "data and logs:", dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	node, base, operator, err := startNode(ctx, o.skerry, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.stop()) }()
	s, err := prepare(ctx, base, operator, repeat(rows, o.repeat))
	if err != nil {
		return err
	}
	if err := s.work(ctx, o.skerry, dir, out); err != nil {
		return err
	}
	return s.report(ctx, out)
}

// stage is a namespace with two tenants and their runs.
type stage struct {
	server    string
	workerKey string
	tenants   []*tenant
}

// tenant is one tenant with its run.
type tenant struct {
	letter string
	name   string
	rows   []row
	client *client.Client
	run    *api.Run
	events []api.RunEvent
}

// prepare makes the namespace, its keys and the kind of work.
func prepare(ctx context.Context, base, operator string, rows []row) (*stage, error) {
	op, err := client.NewOperator(base, operator, nil)
	if err != nil {
		return nil, err
	}
	defer op.Close()
	if _, err := op.CreateNamespace(ctx, space); err != nil {
		return nil, err
	}
	settings := map[string]json.RawMessage{
		"kinds":            json.RawMessage(`{"` + kind + `":{"pool":"durable","cost":1,"timeout_ms":20000}}`),
		"quantum_lease_ms": json.RawMessage(leaseMs),
	}
	if _, err := op.PatchSettings(ctx, space, settings); err != nil {
		return nil, err
	}
	s := &stage{server: base}
	worker, err := op.CreateKey(ctx, space, api.KeySpec{Principal: "worker", Roles: []api.Role{api.RoleWorker}})
	if err != nil {
		return nil, err
	}
	s.workerKey = worker.Secret
	few := make([]row, 0, len(rows)/10)
	for i := 0; i+9 < len(rows); i += 10 {
		few = append(few, rows[i])
	}
	for _, t := range []*tenant{{letter: "A", name: "large", rows: rows}, {letter: "B", name: "small", rows: few}} {
		key, err := op.CreateKey(ctx, space, api.KeySpec{Principal: t.name, Roles: []api.Role{api.RoleProducer}})
		if err != nil {
			return nil, err
		}
		if t.client, err = client.New(base+"/ns/"+space, key.Secret, nil); err != nil {
			return nil, err
		}
		s.tenants = append(s.tenants, t)
	}
	return s, nil
}

// submit asks for the tenant's run.
func (t *tenant) submit(ctx context.Context) error {
	spec := api.RunSpec{Kind: kind}
	for _, r := range t.rows {
		text, err := json.Marshal(r.Text)
		if err != nil {
			return err
		}
		spec.Items = append(spec.Items, api.RunItemSpec{ID: r.ID, Payload: map[string]json.RawMessage{"text": text}})
	}
	estimate, err := t.client.EstimateRun(ctx, spec)
	if err != nil {
		return err
	}
	if !estimate.Admissible {
		return fmt.Errorf("the run of %s would not be admitted: %s", t.name, estimate.Reason)
	}
	t.run, err = t.client.SubmitRun(ctx, spec)
	return err
}

// work starts two workers, submits the large run and, once it is being worked on, the
// small one, kills a worker in the middle, and waits until both runs have ended.
func (s *stage) work(ctx context.Context, skerry, dir string, out io.Writer) (err error) {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var workers []*process
	defer func() {
		for _, w := range workers {
			err = errors.Join(err, w.stop())
		}
	}()
	if err := s.tenants[0].submit(ctx); err != nil {
		return err
	}
	slow := filepath.Join(dir, "stall")
	for i, name := range []string{"worker-1", "worker-2"} {
		env := []string{"SKERRY_KEY=" + s.workerKey}
		if i == 1 {
			env = append(env, stallVariable+"="+slow)
		}
		w, err := start(dir, name, func(string) {}, env,
			skerry, "work", "--server", s.server, "--ns", space, "--pool", api.PoolDurable, "--kind", kind, "--", self, commandFacts)
		if err != nil {
			return err
		}
		workers = append(workers, w)
	}
	first := workers[0]
	go func() {
		<-first.done
		stop(fmt.Errorf("%s ended: %w", first.name, first.err))
	}()
	ended := 0
	for e, err := range s.tenants[0].client.FollowRun(ctx, s.tenants[0].run.ID, 0) {
		if err != nil {
			return err
		}
		if s.tenants[1].run == nil && e.Type == "item.succeeded" {
			if err := s.tenants[1].submit(ctx); err != nil {
				return err
			}
		}
		if e.Type == "item.succeeded" {
			ended++
		}
		if ended == min(killAfter, len(s.tenants[0].rows)/3) && len(workers) == 2 {
			if err := killAtWork(ctx, workers[1], slow); err != nil {
				return err
			}
			workers = workers[:1]
			fmt.Fprintf(out, "worker-2 killed with SIGKILL after %d items\n", ended)
		}
	}
	for _, t := range s.tenants {
		if t.run, err = t.client.WaitRun(ctx, t.run.ID); err != nil {
			return err
		}
	}
	return nil
}

// killAtWork kills a worker in the middle of an item.
func killAtWork(ctx context.Context, w *process, slow string) error {
	if err := os.WriteFile(slow, nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(slow + "ed"); err == nil {
			w.kill()
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// timeout bounds the whole demo.
const timeout = 3 * time.Minute
