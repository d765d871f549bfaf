package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/skerryhq/skerry/api"
)

// The types of events that the demo looks at.
const (
	eventQueued    = "run.queued"
	eventCompleted = "run.completed"
	eventSucceeded = "item.succeeded"
	eventReturned  = "item.returned"
)

// maxFaults bounds the faults of a run that are told.
const maxFaults = 10

// judge holds what the server says of a run against the input and the demo's own
// computation. It returns all that is wrong.
func (t *tenant) judge() error {
	var faults faultList
	t.judgeRun(&faults)
	t.judgeEvents(&faults)
	t.judgeItems(&faults)
	if err := faults.err(); err != nil {
		return fmt.Errorf("run of %s: %w", t.name, err)
	}
	return nil
}

func (t *tenant) judgeRun(faults *faultList) {
	if t.run.Status != api.RunCompleted {
		faults.add("it is %s", t.run.Status)
	}
	if want := (api.Progress{Total: len(t.rows), Succeeded: len(t.rows)}); t.run.Progress != want {
		faults.add("its progress is %+v", t.run.Progress)
	}
	if t.run.EndedAt == nil {
		faults.add("it has no end")
	}
}

// judgeEvents holds that the log is whole, from the run's first event to its last.
func (t *tenant) judgeEvents(faults *faultList) {
	if n := int64(len(t.events)); n != t.run.LastEventSequence {
		faults.add("there are %d events, and the last is called %d", n, t.run.LastEventSequence)
	}
	for i, e := range t.events {
		if e.Sequence != int64(i+1) {
			faults.add("event %d stands where event %d should", e.Sequence, i+1)
		}
		if e.At == nil {
			faults.add("event %d has no time", e.Sequence)
		}
		if first, last := i == 0, i == len(t.events)-1; first != (e.Type == eventQueued) || last != (e.Type == eventCompleted) {
			faults.add("event %d of %d is %s", i+1, len(t.events), e.Type)
		}
	}
}

// judgeItems holds that there is exactly one result of each row, that it is right and
// that the log agrees with it.
func (t *tenant) judgeItems(faults *faultList) {
	if len(t.items) != len(t.rows) {
		faults.add("there are %d results of %d items", len(t.items), len(t.rows))
	}
	ends, returns, others := t.itemEvents()
	for i, item := range t.items[:min(len(t.items), len(t.rows))] {
		r := t.rows[i]
		if item.ID != r.id || item.InputIndex != i {
			faults.add("result %d is that of item %q, number %d", i, item.ID, item.InputIndex)
			continue
		}
		var got facts
		if err := json.Unmarshal(item.Result, &got); item.Status != api.ItemSucceeded || err != nil || got != factsOf(r.text) {
			faults.add("item %q is %s with the result %s, which is wrong", r.id, item.Status, item.Result)
		}
		if ends[r.id] != 1 {
			faults.add("item %q has succeeded %d times", r.id, ends[r.id])
		}
		if item.AttemptCount != 1+returns[r.id] {
			faults.add("item %q was granted %d times and given back %d times", r.id, item.AttemptCount, returns[r.id])
		}
		delete(ends, r.id)
	}
	if len(ends) > 0 || others > 0 {
		faults.add("%d events are of other items or of other ends", len(ends)+others)
	}
}

// itemEvents counts for each item how often it succeeded and how often it went back,
// and what else the log says of items.
func (t *tenant) itemEvents() (ends, returns map[string]int, others int) {
	ends, returns = make(map[string]int), make(map[string]int)
	for _, e := range t.events {
		switch {
		case e.Type == eventSucceeded:
			ends[e.ItemID]++
		case e.Type == eventReturned:
			returns[e.ItemID]++
		case strings.HasPrefix(e.Type, "item."):
			others++
		}
	}
	return ends, returns, others
}

// judgeOrphans holds that what the killed worker held was taken from it and granted to
// another.
func judgeOrphans(orphans map[itemOf]int, tenants []*tenant) error {
	var faults faultList
	if len(orphans) == 0 {
		faults.add("no worker was killed that held items")
	}
	for _, t := range tenants {
		_, returns, _ := t.itemEvents()
		for _, item := range t.items {
			attempt, held := orphans[itemOf{t.run.ID, item.ID}]
			if held && (item.AttemptCount <= attempt || returns[item.ID] == 0) {
				faults.add("item %q of %s, which the killed worker held, was not granted again", item.ID, t.name)
			}
		}
	}
	return faults.err()
}

// faultList collects what is wrong.
type faultList struct {
	told []error
	more int
}

func (f *faultList) add(format string, args ...any) {
	if len(f.told) == maxFaults {
		f.more++
		return
	}
	f.told = append(f.told, fmt.Errorf(format, args...))
}

// err is nil if nothing is wrong.
func (f *faultList) err() error {
	if f.more > 0 {
		return errors.Join(append(f.told, fmt.Errorf("and %d more faults", f.more))...)
	}
	return errors.Join(f.told...)
}
