package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// tenant is one of the two tenants, with its run.
type tenant struct {
	name   string
	client *client.Client
	rows   []row
	// run is nil until it has been submitted. Once it has ended, it and what
	// follows are what the server says of it then.
	run    *api.Run
	items  []api.RunItem
	events []api.RunEvent
}

// submit asks for the tenant's run, after an estimate that tells why if it cannot be.
func (t *tenant) submit(ctx context.Context) error {
	spec := api.RunSpec{Kind: kind}
	for _, r := range t.rows {
		text, err := json.Marshal(r.text)
		if err != nil {
			return fmt.Errorf("write item: %w", err)
		}
		spec.Items = append(spec.Items, api.RunItemSpec{ID: r.id, Payload: map[string]json.RawMessage{"text": text}})
	}
	estimate, err := t.client.EstimateRun(ctx, spec)
	if err != nil {
		return err
	}
	if !estimate.Admissible {
		return fmt.Errorf("the run of %s is not admissible: %s %s", t.name, estimate.Reason, estimate.Budget)
	}
	t.run, err = t.client.SubmitRun(ctx, spec)
	return err
}

// read reads all that the server says of the tenant's run once it has ended.
func (t *tenant) read(ctx context.Context) error {
	var err error
	if t.run, err = t.client.WaitRun(ctx, t.run.ID); err != nil {
		return err
	}
	for item, err := range t.client.RunResults(ctx, t.run.ID, &client.ResultOptions{InputOrder: true}) {
		if err != nil {
			return err
		}
		t.items = append(t.items, item)
	}
	for e, err := range t.client.RunEvents(ctx, t.run.ID, nil) {
		if err != nil {
			return err
		}
		t.events = append(t.events, e)
	}
	return nil
}

// running adds the items of the run that are being worked on, with how often each has
// been granted.
func (t *tenant) running(ctx context.Context, found map[itemOf]int) error {
	if t.run == nil {
		return nil
	}
	for item, err := range t.client.RunItems(ctx, t.run.ID, api.ItemRunning, nil) {
		if err != nil {
			return err
		}
		found[itemOf{t.run.ID, item.ID}] = item.AttemptCount
	}
	return nil
}

// itemOf names an item of a run.
type itemOf struct{ run, item string }
