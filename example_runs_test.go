package skerry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace/runs"
)

// A kind of item with a handler in the same program, and a run of it.
func Example_runs() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "skerry-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := squares(ctx, dir); err != nil {
		log.Fatal(err)
	}
	// Output:
	// item-0 {"square":9}
	// item-1 {"square":16}
}

func squares(ctx context.Context, dir string) error {
	rt, err := skerry.Open(ctx, dir, skerry.Options{Kinds: map[string]skerry.Kind{
		"square": {Kind: api.Kind{Pool: api.KindPool{Durable: true}}, Handler: square},
	}})
	if err != nil {
		return err
	}
	defer rt.Close()
	if _, err := rt.Create(ctx, "acme"); err != nil {
		return err
	}
	mine := runs.Of(rt.Namespace("acme"), skerry.Caller{Principal: "me"})
	spec := api.RunSpec{Kind: "square", Items: []api.RunItemSpec{
		{Payload: map[string]json.RawMessage{"n": json.RawMessage(`3`)}},
		{Payload: map[string]json.RawMessage{"n": json.RawMessage(`4`)}},
	}}
	run, err := mine.Submit(ctx, spec, "my-first-run")
	if err != nil {
		return err
	}
	for after := int64(0); !run.Status.Ended(); {
		events, err := mine.Events(ctx, run.ID, after, 30*time.Second, 100)
		if err != nil {
			return err
		}
		for _, e := range events.Data {
			after = e.Sequence
		}
		if run, err = mine.Run(ctx, run.ID); err != nil {
			return err
		}
	}
	results, err := mine.Results(ctx, run.ID, true, runs.Page{})
	if err != nil {
		return err
	}
	for _, item := range results.Data {
		fmt.Println(item.ID, string(item.Result))
	}
	return nil
}

// square is a handler.
func square(_ context.Context, item skerry.Item) (json.RawMessage, error) {
	var in struct{ N int }
	if err := json.Unmarshal(item.Payload, &in); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]int{"square": in.N * in.N})
}
