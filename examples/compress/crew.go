package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// settle is how long a stopped worker is left alone before its leases are
// counted, so that the requests that it had sent are over.
const settle = 150 * time.Millisecond

// post is a worker's place in a namespace.
type post struct {
	principal string
	kind      string
	jobs      int
	// command is what this program is run with for each claim, and mediaType the
	// type of what it writes.
	command, mediaType string
}

// posts are those who work in each namespace: two compete for the compressions.
func posts() []post {
	return []post{
		{"packer-1", kindCompress, 2, commandAttempt, "application/octet-stream"},
		{"packer-2", kindCompress, 2, commandAttempt, "application/octet-stream"},
		{"judge", kindCompare, 1, commandJudge, "application/json"},
	}
}

// worker is a process of `skerry work` with a key of its own.
type worker struct {
	*process
	principal string
	// client uses the worker's key, to see which leases it holds.
	client *client.Client
}

// hire starts the workers of the namespace. Whoever called it dismisses them, also
// after an error. The workers' key stands in their environment, because a command
// line can be read by everyone on the machine; what they run does not see it.
// Their temporary files lie in tmp, since one that is killed leaves some.
func (s *space) hire(ctx context.Context, n *node, skerry, self, logs, tmp string) error {
	for _, p := range posts() {
		key, c, err := s.newKey(ctx, n, p.principal, api.RoleWorker)
		if err != nil {
			return err
		}
		running, err := start(logs, s.name+"-"+p.principal, nil, []string{"SKERRY_KEY=" + key, "TMPDIR=" + tmp},
			skerry, "work", "--server", n.base, "--ns", s.name, "--kind", p.kind, "-j", strconv.Itoa(p.jobs),
			"--json-input", "--media-type", p.mediaType, "--", self, p.command)
		if err != nil {
			return err
		}
		s.crew = append(s.crew, &worker{process: running, principal: p.principal, client: c})
	}
	return nil
}

// dismiss stops the workers, all at once, and waits for them. One that is stopped
// by a signal goes on, so that it can end.
func (s *space) dismiss() error {
	var err error
	for _, w := range s.crew {
		err = errors.Join(err, w.signal(syscall.SIGTERM), w.signal(syscall.SIGCONT))
	}
	for _, w := range s.crew {
		err = errors.Join(err, w.await())
		w.client.Close()
	}
	s.crew = nil
	return err
}

// absent returns an error if a worker has ended that was not told to.
func (s *space) absent() error {
	for _, w := range s.crew {
		if w.ended() {
			return fmt.Errorf("worker %s ended by itself: %v", w.name, w.err)
		}
	}
	return nil
}

// freeze stops the victim at a moment when its claim waits at the server for work.
// It is then granted the first work that there is and can finish none of it. A
// small input is done before a worker can be caught in any other way.
func (s *space) freeze(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("worker %s asks for no work", s.victim.name))
	defer cancel()
	for {
		status, err := s.victim.client.Admission(ctx)
		if err != nil {
			return err
		}
		if len(status.Principals) == 1 && status.Principals[0].Parked > 0 {
			return s.victim.signal(syscall.SIGSTOP)
		}
		if err := pause(ctx, pollInterval); err != nil {
			return err
		}
	}
}

// strike kills the victim with SIGKILL at a moment when it certainly holds leases:
// it is stopped first, so that it can report on none of them while they are
// counted. If it holds none it goes on, and is struck another time.
func (s *space) strike(ctx context.Context) error {
	v := s.victim
	if err := v.signal(syscall.SIGSTOP); err != nil {
		return err
	}
	held, err := v.holds(ctx)
	if err != nil {
		return err
	}
	if len(held) == 0 {
		return v.signal(syscall.SIGCONT)
	}
	if err := v.kill(); err != nil {
		return err
	}
	v.client.Close()
	s.victim, s.orphans = nil, held
	s.crew = slices.DeleteFunc(s.crew, func(w *worker) bool { return w == v })
	return nil
}

// holds lists the leases of a worker that has just been stopped.
func (w *worker) holds(ctx context.Context) ([]api.Claim, error) {
	if err := pause(ctx, settle); err != nil {
		return nil, err
	}
	var held []api.Claim
	for claim, err := range w.client.Claims(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list leases of %s: %w", w.name, err)
		}
		held = append(held, claim)
	}
	return held, nil
}

// pause waits for d.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
