package skerry_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/skerryhq/skerry"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace/claims"
)

// A whole program: it makes a unit of work, claims it and submits the result,
// without a server.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "skerry-example-*")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := greet(ctx, dir); err != nil {
		log.Fatal(err)
	}
	// Output: receipt 1: out/greeting@1
}

func greet(ctx context.Context, dir string) error {
	rt, err := skerry.Open(ctx, dir, skerry.Options{})
	if err != nil {
		return err
	}
	defer rt.Close()
	if _, err := rt.Create(ctx, "acme"); err != nil {
		return err
	}
	work := claims.Of(rt.Namespace("acme"), skerry.Caller{Principal: "me"})
	if _, err := work.CreateVerb(ctx, api.VerbSpec{Kind: "greet", Artifact: "out/greeting"}); err != nil {
		return err
	}
	got, err := work.Claim(ctx, api.ClaimSpec{Kinds: []string{"greet"}})
	if err != nil {
		return err
	}
	text, c := "hello", got.Claims[0]
	receipt, err := work.Submit(ctx, c.ID, api.SubmitSpec{Fence: c.Fence, Output: api.Content{Body: &text}}, "")
	if err != nil {
		return err
	}
	fmt.Printf("receipt %d: %s\n", receipt.Sequence, receipt.Output.Ref)
	return nil
}
