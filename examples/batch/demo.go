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
	// leaseMs is short, so that what the killed worker held is soon somebody else's.
	leaseMs = "2000"
	// timeout bounds the whole demo.
	timeout = 3 * time.Minute
)

// demo is one run of it.
type demo struct {
	options options
	// self is this program, and dir the folder of the run.
	self, dir string
	// errs is where the progress goes.
	errs      io.Writer
	node      *node
	workerKey string
	// tenants are A with the large run and B with the small one.
	tenants []*tenant
	// crew are the workers that were not killed, and logs what all have printed.
	crew []*process
	logs []string
	// victim is the worker that is to be killed, nil once it was; orphans are the
	// items that it held then, with how often each had been granted.
	victim  *process
	orphans map[itemOf]int
	// strikes counts the attempts to kill it.
	strikes int
}

// run does all that the demo does and prints the result. Nothing that it started
// runs any more when it returns.
func run(ctx context.Context, o options, out, errs io.Writer) (err error) {
	d := &demo{options: o, errs: errs}
	if err := d.prepare(); err != nil {
		return err
	}
	defer func() { err = d.cleanUp(err) }()
	ctx, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("not done after %v", timeout))
	defer cancel()
	if err := d.build(ctx); err != nil {
		return err
	}
	if err := d.watch(ctx); err != nil {
		return err
	}
	if err := d.dismiss(); err != nil {
		return err
	}
	quanta, err := d.read(ctx)
	if err != nil {
		return err
	}
	if err := d.judge(); err != nil {
		return err
	}
	if err := d.stopNode(); err != nil {
		return err
	}
	return report(out, d.tenants, quanta, d.orphans)
}

// prepare finds the programs and the input and makes the folder of the run.
func (d *demo) prepare() (err error) {
	if d.self, err = os.Executable(); err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if d.options.skerry, err = filepath.Abs(d.options.skerry); err != nil {
		return fmt.Errorf("find skerry: %w", err)
	}
	rows, err := readInput(d.options.input)
	if err != nil {
		return err
	}
	many, err := repeat(rows, d.options.repeat)
	if err != nil {
		return err
	}
	d.tenants = []*tenant{{name: "A", rows: many}, {name: "B", rows: everyTenth(many)}}
	if d.dir, err = os.MkdirTemp("", "skerry-batch-"); err != nil {
		return fmt.Errorf("make folder: %w", err)
	}
	fmt.Fprintf(d.errs, "%d rows, %d items for A and %d for B\n", len(rows), len(many), len(d.tenants[1].rows))
	return nil
}

// build starts the node and makes the namespace, the kind of work and the keys.
func (d *demo) build(ctx context.Context) (err error) {
	if d.node, err = startNode(ctx, d.options.skerry, d.dir); err != nil {
		return err
	}
	fmt.Fprintf(d.errs, "node at %s, data and logs in %s\n", d.node.base, d.dir)
	if _, err := d.node.operator.CreateNamespace(ctx, space); err != nil {
		return err
	}
	settings := map[string]json.RawMessage{
		"kinds":            json.RawMessage(`{"` + kind + `":{"pool":"durable","cost":1,"timeout_ms":20000}}`),
		"quantum_lease_ms": json.RawMessage(leaseMs),
	}
	if _, err := d.node.operator.PatchSettings(ctx, space, settings); err != nil {
		return err
	}
	worker, err := d.newKey(ctx, "worker", api.RoleWorker)
	if err != nil {
		return err
	}
	d.workerKey = worker
	for _, t := range d.tenants {
		key, err := d.newKey(ctx, t.name, api.RoleProducer)
		if err != nil {
			return err
		}
		if t.client, err = client.New(d.node.base+"/ns/"+space, key, nil); err != nil {
			return err
		}
	}
	return nil
}

// newKey makes a key whose tenant is called as its principal.
func (d *demo) newKey(ctx context.Context, principal string, role api.Role) (string, error) {
	key, err := d.node.operator.CreateKey(ctx, space, api.KeySpec{Principal: principal, Tenant: principal, Roles: []api.Role{role}})
	if err != nil {
		return "", err
	}
	return key.Secret, nil
}

// dismiss stops the workers, and waits for them.
func (d *demo) dismiss() error {
	var err error
	for _, w := range d.crew {
		err = errors.Join(err, w.stop())
	}
	d.crew = nil
	return err
}

// read reads what became of the runs, and in which quanta it was done.
func (d *demo) read(ctx context.Context) ([]quantum, error) {
	worked := make(map[itemOf]string)
	for _, log := range d.logs {
		if err := readWorked(log, worked); err != nil {
			return nil, err
		}
	}
	for _, t := range d.tenants {
		if err := t.read(ctx); err != nil {
			return nil, err
		}
	}
	return quantaOf(d.tenants, worked), nil
}

// judge returns all that is wrong.
func (d *demo) judge() error {
	err := judgeOrphans(d.orphans, d.tenants)
	for _, t := range d.tenants {
		err = errors.Join(err, t.judge())
	}
	return err
}

func (d *demo) stopNode() error {
	n := d.node
	d.node = nil
	return n.stop()
}

// cleanUp ends what still runs, and removes the folder unless it is wanted or tells
// what went wrong.
func (d *demo) cleanUp(err error) error {
	if d.victim != nil {
		d.crew = append(d.crew, d.victim)
	}
	err = errors.Join(err, d.dismiss())
	for _, t := range d.tenants {
		if t.client != nil {
			t.client.Close()
		}
	}
	if d.node != nil {
		err = errors.Join(err, d.stopNode())
	}
	if err != nil || d.options.keep {
		fmt.Fprintln(d.errs, "data and logs:", d.dir)
		return err
	}
	if err := os.RemoveAll(d.dir); err != nil {
		return fmt.Errorf("remove folder: %w", err)
	}
	return nil
}
