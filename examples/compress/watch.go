package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// pollInterval is how often receipts are counted and admission is probed.
	pollInterval = 100 * time.Millisecond
	// checkInterval is how often failures are looked for.
	checkInterval = time.Second
	// stallTimeout is how long no receipt may come, many times a lease.
	stallTimeout = time.Minute
	// strikePercent is the part of the victim's namespace that is done when it is
	// killed, unless that is small.
	strikePercent = 30
)

// watch follows the work until every verb has a receipt, and kills the victim on
// the way.
func (d *demo) watch(ctx context.Context) error {
	total := 0
	for _, s := range d.spaces {
		total += s.expected()
	}
	bar := newProgress(d.errs, "receipts", total)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	news, checked := time.Now(), time.Now()
	for bar.done < total {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		n, err := d.observe(ctx, bar)
		if err != nil {
			return err
		}
		if n > 0 {
			news = time.Now()
			bar.add(n)
		}
		if time.Since(news) > stallTimeout {
			return fmt.Errorf("no receipt for %v, %d of %d", stallTimeout, bar.done, total)
		}
		if time.Since(checked) > checkInterval {
			if err := d.check(ctx); err != nil {
				return err
			}
			checked = time.Now()
		}
	}
	return d.missed()
}

// observe looks at every namespace once and counts the new receipts.
func (d *demo) observe(ctx context.Context, bar *progress) (int, error) {
	total := 0
	for _, s := range d.spaces {
		n, err := s.poll(ctx)
		if err != nil {
			return 0, err
		}
		total += n
		if s.done() {
			continue
		}
		if err := s.probe(ctx); err != nil {
			return 0, err
		}
		if s.victim == nil || s.seen < s.strikeAt() {
			continue
		}
		name := s.victim.name
		if err := s.strike(ctx); err != nil {
			return 0, fmt.Errorf("kill %s: %w", name, err)
		}
		if s.victim == nil {
			bar.say("killed %s with SIGKILL after %d of %d receipts in %s; leases it held: %d",
				name, s.seen, s.expected(), s.name, len(s.orphans))
		}
	}
	return total, nil
}

// check looks for what would keep receipts from coming.
func (d *demo) check(ctx context.Context) error {
	if d.node.ended() {
		return fmt.Errorf("the node ended by itself: %v", d.node.err)
	}
	for _, s := range d.spaces {
		if err := errors.Join(s.absent(), s.failed(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// missed returns an error if the victim is still alive.
func (d *demo) missed() error {
	for _, s := range d.spaces {
		if s.victim != nil {
			return fmt.Errorf("worker %s was never seen to hold a lease, so nothing could be taken over", s.victim.name)
		}
	}
	return nil
}
