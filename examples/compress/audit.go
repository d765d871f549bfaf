package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// audit reads everything back that came of the work in the namespace and checks it
// against itself and against the files on disk. It tells checked of each file.
func (s *space) audit(ctx context.Context, checked func()) (*report, error) {
	l, err := s.readLedger(ctx)
	if err != nil {
		return nil, err
	}
	r := newReport(s, l)
	if r.takeovers, err = l.takeovers(s.orphans); err != nil {
		return nil, err
	}
	if len(s.orphans) > 0 && r.takeovers == 0 {
		return nil, errors.New("none of the leases of the killed worker was taken over")
	}
	for _, f := range s.files {
		o, err := f.audit(ctx, l, s.read)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		r.add(f, o)
		checked()
	}
	return r, nil
}

// readLedger reads all verbs and all receipts.
func (s *space) readLedger(ctx context.Context) (*ledger, error) {
	const pageSize = 250
	verbs := make(map[string]api.Verb)
	for v, err := range s.producer.Verbs(ctx, client.VerbFilter{}, &client.ListOptions{PageSize: pageSize}) {
		if err != nil {
			return nil, err
		}
		verbs[v.ID] = v
	}
	l := newLedger(verbs)
	o := &client.ReceiptOptions{ListOptions: client.ListOptions{PageSize: pageSize}}
	for document, err := range s.producer.ReceiptDocuments(ctx, o) {
		if err != nil {
			return nil, err
		}
		if err := l.enter(document); err != nil {
			return nil, err
		}
	}
	var planned []string
	for _, f := range s.files {
		planned = append(append(planned, f.attempts...), f.comparison)
	}
	return l, l.complete(planned)
}

// read reads the content of a noun.
func (s *space) read(ctx context.Context, ref string) ([]byte, error) {
	body, err := s.producer.NounBody(ctx, ref)
	if err != nil {
		return nil, err
	}
	return body.Bytes, nil
}

// outcome is what came of one file.
type outcome struct {
	// sizes are those of what the attempts made, and winner the index of the
	// smallest.
	sizes  []int64
	winner int
}

// audit checks the receipts of a file and its artifacts, which it reads by read,
// and restores the file from the winner.
func (f *source) audit(ctx context.Context, l *ledger, read func(ctx context.Context, ref string) ([]byte, error)) (outcome, error) {
	original, err := os.ReadFile(f.path)
	if err != nil {
		return outcome{}, fmt.Errorf("read original: %w", err)
	}
	if digest(original) != f.digest {
		return outcome{}, errors.New("the file on disk has changed since it was stored")
	}
	inputs := []api.NounRef{{Ref: f.inputKey() + "@1", Digest: f.digest}}
	var packed [][]byte
	var alternatives []alternative
	for i, id := range f.attempts {
		r := l.receipts[id]
		body, err := artifact(ctx, r, inputs[:1], read)
		if err != nil {
			return outcome{}, err
		}
		inputs, packed = append(inputs, r.Output), append(packed, body)
		alternatives = append(alternatives, alternative{
			Attempt: i + 1, Method: f.methods[i], Ref: r.Output.Ref, Digest: r.Output.Digest, Size: int64(len(body)), Restores: true,
		})
	}
	document, err := artifact(ctx, l.receipts[f.comparison], inputs, read)
	if err != nil {
		return outcome{}, err
	}
	want, _ := smallest(alternatives)
	if err := checkVerdict(document, verdict{Original: inputs[0], Winner: want, Alternatives: alternatives}); err != nil {
		return outcome{}, err
	}
	o := outcome{winner: want.Attempt - 1}
	for _, a := range alternatives {
		o.sizes = append(o.sizes, a.Size)
	}
	restored, err := want.Method.decompress(ctx, bytes.NewReader(packed[o.winner]))
	if err != nil {
		return o, fmt.Errorf("restore from %s: %w", want.Ref, err)
	}
	if !bytes.Equal(restored, original) {
		return o, fmt.Errorf("what %s restores is not the file on disk", want.Ref)
	}
	return o, nil
}

// artifact reads back what a receipt records, after checking that it records the
// inputs that the verb should have had.
func artifact(ctx context.Context, r api.Receipt, inputs []api.NounRef, read func(ctx context.Context, ref string) ([]byte, error)) ([]byte, error) {
	if !slices.Equal(r.Inputs, inputs) {
		return nil, fmt.Errorf("receipt %s records the inputs %v, want %v", r.ID, r.Inputs, inputs)
	}
	body, err := read(ctx, r.Output.Ref)
	if err != nil {
		return nil, fmt.Errorf("read artifact of receipt %s: %w", r.ID, err)
	}
	if got := digest(body); got != r.Output.Digest {
		return nil, fmt.Errorf("artifact %s has the digest %s, but receipt %s records %s", r.Output.Ref, got, r.ID, r.Output.Digest)
	}
	return body, nil
}

// checkVerdict compares a verdict with what the receipts say it should be.
func checkVerdict(document []byte, want verdict) error {
	var got verdict
	if err := json.Unmarshal(document, &got); err != nil {
		return fmt.Errorf("read verdict: %w", err)
	}
	switch {
	case got.Original != want.Original:
		return fmt.Errorf("the verdict is on %v, want %v", got.Original, want.Original)
	case !slices.Equal(got.Alternatives, want.Alternatives):
		return fmt.Errorf("the verdict compares %+v, want %+v", got.Alternatives, want.Alternatives)
	case got.Winner != want.Winner:
		return fmt.Errorf("the verdict chooses %+v, want %+v", got.Winner, want.Winner)
	}
	return nil
}
