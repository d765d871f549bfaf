package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// ledger is the receipts of a namespace as they are read, in sequence. It holds
// that they belong one to one to the verbs, and that no two grants had the same
// fence.
type ledger struct {
	// verbs are all verbs of the namespace by their ids.
	verbs map[string]api.Verb
	// receipts are those entered, by the ids of their verbs.
	receipts map[string]api.Receipt
	// fences tells which receipt has a fence.
	fences map[int64]string
}

func newLedger(verbs map[string]api.Verb) *ledger {
	return &ledger{verbs: verbs, receipts: make(map[string]api.Receipt), fences: make(map[int64]string)}
}

// enter checks the next receipt, as the server sent it, against its own digest
// and against all that came before.
func (l *ledger) enter(document []byte) error {
	r, err := readReceipt(document)
	if err != nil {
		return err
	}
	v, known := l.verbs[r.Verb]
	earlier, twice := l.receipts[r.Verb]
	owner, used := l.fences[r.Fence]
	switch next := int64(len(l.receipts)) + 1; {
	case r.Sequence != next:
		return fmt.Errorf("receipt %s has the sequence %d, want %d", r.ID, r.Sequence, next)
	case !known:
		return fmt.Errorf("receipt %s is of an unknown verb %s", r.ID, r.Verb)
	case twice:
		return fmt.Errorf("verb %s has two receipts, %s and %s", r.Verb, earlier.ID, r.ID)
	case v.State != api.VerbSucceeded || v.Receipt != r.ID:
		return fmt.Errorf("verb %s is %s with receipt %q, but there is receipt %s", v.ID, v.State, v.Receipt, r.ID)
	case used:
		return fmt.Errorf("receipts %s and %s have the same fence %d", owner, r.ID, r.Fence)
	}
	l.receipts[r.Verb], l.fences[r.Fence] = r, r.ID
	return nil
}

// complete returns an error unless the verbs that were planned are all that there
// are, and each has a receipt.
func (l *ledger) complete(planned []string) error {
	if len(l.verbs) != len(planned) || len(l.receipts) != len(planned) {
		return fmt.Errorf("%d verbs and %d receipts, want %d of each", len(l.verbs), len(l.receipts), len(planned))
	}
	for _, id := range planned {
		if _, ok := l.receipts[id]; !ok {
			return fmt.Errorf("verb %s has no receipt", id)
		}
	}
	return nil
}

// takeovers counts the claims of a dead worker whose verbs others finished. The
// fence of who takes over must be greater: that is what keeps the dead one, should
// it come back, from delivering. A claim that its worker submitted in its last
// moment was no takeover.
func (l *ledger) takeovers(orphans []api.Claim) (int, error) {
	n := 0
	for _, c := range orphans {
		r := l.receipts[c.Verb.ID]
		if r.Claim == c.ID {
			continue
		}
		if r.Fence <= c.Fence {
			return 0, fmt.Errorf("verb %s was taken over under the fence %d, which is not above %d", r.Verb, r.Fence, c.Fence)
		}
		n++
	}
	return n, nil
}

// readReceipt reads a receipt after checking it against its own digest: the
// SHA-256 of the canonical form (RFC 8785) of its other members. It is taken of
// the document and not of what this program knows of a receipt, so that no member
// is left out.
func readReceipt(document []byte) (api.Receipt, error) {
	var r api.Receipt
	if err := json.Unmarshal(document, &r); err != nil {
		return r, fmt.Errorf("read receipt: %w", err)
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(document, &members); err != nil {
		return r, fmt.Errorf("read receipt: %w", err)
	}
	delete(members, "digest")
	rest, err := json.Marshal(members)
	if err != nil {
		return r, fmt.Errorf("read receipt: %w", err)
	}
	canonical := jsontext.Value(rest)
	if err := canonical.Canonicalize(); err != nil {
		return r, fmt.Errorf("canonicalize receipt: %w", err)
	}
	if got := digest(canonical); got != r.Digest {
		return r, fmt.Errorf("receipt %s has the digest %s, but bears %q", r.ID, got, r.Digest)
	}
	return r, nil
}

// digest is the SHA-256 of data in the form that Skerry writes it.
func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
