package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// end is the end of one item, as the log of its run tells it.
type end struct {
	at     time.Time
	letter string
}

// report reads both runs back, checks every item and prints what each tenant got.
func (s *stage) report(ctx context.Context, out io.Writer) error {
	var faults []error
	var ends []end
	takenOver := 0
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "tenant\titems\tfirst result after\tall after\tshare while both had work\treturned items")
	for _, t := range s.tenants {
		wrong, err := t.check(ctx)
		if err != nil {
			return err
		}
		faults = append(faults, wrong...)
		for _, e := range t.events {
			if e.Type == "item.succeeded" {
				ends = append(ends, end{*e.At, t.letter})
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return a.at.Compare(b.at) })
	both := contested(ends, s.tenants[1].events)
	for _, t := range s.tenants {
		returned := t.count("item.returned")
		takenOver += returned
		fmt.Fprintf(table, "%s (%s)\t%d\t%v\t%v\t%s\t%d\n", t.letter, t.name, len(t.rows),
			t.first().Sub(t.run.CreatedAt).Round(time.Millisecond), t.run.EndedAt.Sub(t.run.CreatedAt).Round(time.Millisecond),
			share(both, t.letter), returned)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "order of the quanta: %s\n", order(ends))
	if takenOver == 0 {
		faults = append(faults, errors.New("no item of the killed worker was taken over"))
	}
	if len(faults) > 0 {
		return errors.Join(faults...)
	}
	fmt.Fprintf(out, "all %d results are right\n", len(ends))
	return nil
}

// check holds every item of the run against a computation of its own.
func (t *tenant) check(ctx context.Context) (faults []error, err error) {
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("run of %s: %w", t.name, fmt.Errorf(format, args...)))
	}
	if t.run.Status != api.RunCompleted {
		fault("it is %s", t.run.Status)
	}
	n := 0
	for item, err := range t.client.RunResults(ctx, t.run.ID, &client.ResultOptions{InputOrder: true}) {
		if err != nil {
			return nil, err
		}
		if n >= len(t.rows) || item.ID != t.rows[n].ID {
			fault("item %d is not that of the input", n)
			break
		}
		var got facts
		if err := json.Unmarshal(item.Result, &got); err != nil || got != factsOf(t.rows[n].Text) {
			fault("the result of item %d is wrong", n)
		}
		n++
	}
	if n != len(t.rows) {
		fault("%d of %d items have a result", n, len(t.rows))
	}
	succeeded := map[string]int{}
	for e, err := range t.client.RunEvents(ctx, t.run.ID, nil) {
		if err != nil {
			return nil, err
		}
		t.events = append(t.events, e)
		if e.Sequence != int64(len(t.events)) {
			fault("event %d stands where %d should", e.Sequence, len(t.events))
		}
		if e.Type == "item.succeeded" {
			succeeded[e.ItemID]++
		}
	}
	for _, r := range t.rows {
		if succeeded[r.ID] != 1 {
			fault("item %s has succeeded %d times", r.ID, succeeded[r.ID])
		}
	}
	return faults, nil
}

func (t *tenant) count(kind string) int {
	n := 0
	for _, e := range t.events {
		if e.Type == kind {
			n++
		}
	}
	return n
}

// first is when the run's first result came.
func (t *tenant) first() time.Time {
	for _, e := range t.events {
		if e.Type == "item.succeeded" {
			return *e.At
		}
	}
	return t.run.CreatedAt
}

// contested are the ends of items in the time in which the small run had any left.
func contested(ends []end, small []api.RunEvent) []end {
	if len(small) == 0 {
		return nil
	}
	from, to := *small[0].At, *small[len(small)-1].At
	var both []end
	for _, e := range ends {
		if !e.at.Before(from) && !e.at.After(to) {
			both = append(both, e)
		}
	}
	return both
}

// share is a tenant's part of the ends.
func share(ends []end, letter string) string {
	n := 0
	for _, e := range ends {
		if e.letter == letter {
			n++
		}
	}
	if len(ends) == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d (%d %%)", n, len(ends), (100*n+len(ends)/2)/len(ends))
}

// order is whose results came one after the other: results of one commit have one time.
func order(ends []end) string {
	var b strings.Builder
	for i, e := range ends {
		if i > 0 && e.at.Equal(ends[i-1].at) && e.letter == ends[i-1].letter {
			continue
		}
		b.WriteString(e.letter)
		b.WriteByte(' ')
	}
	return strings.TrimSpace(b.String())
}
