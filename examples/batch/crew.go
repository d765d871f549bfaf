package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/skerryhq/skerry/api"
)

const (
	// settle is how long a stopped worker is left alone, so that the requests that
	// it had sent are over.
	settle = 150 * time.Millisecond
	// passed is how many items must end after that until the other worker
	// certainly holds none of those that it held; a quantum has at most four.
	passed = 8
	// strikeTimeout is how long they may take: the lease of what the victim holds
	// must not end meanwhile.
	strikeTimeout = time.Second
	maxStrikes    = 10
)

// hire starts a worker process with one slot. The key stands in its environment,
// because a command line can be read by everyone on the machine; what it runs does not
// see it.
func (d *demo) hire(name string) (*process, error) {
	return start(d.dir, name, []string{"SKERRY_KEY=" + d.workerKey}, d.options.skerry, "work", "--json",
		"--server", d.node.base, "--ns", space, "--pool", api.PoolDurable, "--kind", kind, "--", d.self, commandFacts)
}

// hireAll starts one worker to stay and one to be killed.
func (d *demo) hireAll() error {
	stays, err := d.hire("worker-1")
	if err != nil {
		return err
	}
	d.crew = append(d.crew, stays)
	if d.victim, err = d.hire("worker-2"); err != nil {
		return err
	}
	d.logs = []string{stays.out, d.victim.out}
	return nil
}

// strike kills the victim with SIGKILL at a moment when it certainly holds items: it is
// stopped first, and what is then worked on and still is when the other worker has gone
// on to other work is the victim's. If it holds none it goes on, to be struck another
// time, but not for ever: there may be no other work any more.
func (d *demo) strike(ctx context.Context, ended int) error {
	if d.strikes == maxStrikes {
		return nil
	}
	d.strikes++
	if err := d.victim.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	held, err := d.held(ctx)
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return d.victim.signal(syscall.SIGCONT)
	}
	if err := d.victim.kill(); err != nil {
		return err
	}
	fmt.Fprintf(d.errs, "killed %s with SIGKILL after %d items of A; items it held: %d\n", d.victim.name, ended, len(held))
	d.victim, d.orphans = nil, held
	return nil
}

// held lists the items of a victim that has just been stopped.
func (d *demo) held(ctx context.Context) (map[itemOf]int, error) {
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	before, err := d.running(ctx)
	if err != nil {
		return nil, err
	}
	if passed, err := d.awaitEnds(ctx, passed); err != nil || !passed {
		return nil, err
	}
	after, err := d.running(ctx)
	if err != nil {
		return nil, err
	}
	for item, attempt := range before {
		if after[item] != attempt {
			delete(before, item)
		}
	}
	return before, nil
}

// awaitEnds waits until so many more items have ended, and reports false if that takes
// longer than strikeTimeout.
func (d *demo) awaitEnds(ctx context.Context, more int) (bool, error) {
	began, err := d.ended(ctx)
	if err != nil {
		return false, err
	}
	for deadline := time.Now().Add(strikeTimeout); time.Now().Before(deadline); {
		if err := pause(ctx, pollInterval); err != nil {
			return false, err
		}
		now, err := d.ended(ctx)
		if err != nil || now >= began+more {
			return err == nil, err
		}
	}
	return false, nil
}

// running lists the items that are being worked on, with how often each was granted.
func (d *demo) running(ctx context.Context) (map[itemOf]int, error) {
	found := make(map[itemOf]int)
	for _, t := range d.tenants {
		if err := t.running(ctx, found); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// ended counts the items that have ended.
func (d *demo) ended(ctx context.Context) (int, error) {
	n := 0
	for _, t := range d.tenants {
		if t.run == nil {
			continue
		}
		run, err := t.client.Run(ctx, t.run.ID)
		if err != nil {
			return 0, fmt.Errorf("count ended items: %w", err)
		}
		n += run.Progress.Succeeded + run.Progress.Failed
	}
	return n, nil
}
