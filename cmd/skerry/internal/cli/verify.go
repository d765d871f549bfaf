package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// verdict is what became of checking one receipt.
type verdict struct {
	Receipt  string `json:"receipt"`
	Sequence int64  `json:"sequence"`
	// Record is "ok" or "mismatch", and Artifact those, "missing", or "not read"
	// where it lies at a URI.
	Record   string `json:"record"`
	Artifact string `json:"artifact"`
}

const (
	verdictOK       = "ok"
	verdictMismatch = "mismatch"
	verdictMissing  = "missing"
	verdictNotRead  = "not read"
)

func (v *verdict) good() bool {
	return v.Record == verdictOK && (v.Artifact == verdictOK || v.Artifact == verdictNotRead)
}

func newReceiptVerify(e *env) *cobra.Command {
	var after int64
	cmd := &cobra.Command{
		Use: "verify [ID…]", Short: "Check receipts and their artifacts against their digests",
		Long: `Check receipts, all of them if none is named. Each receipt's own digest is
computed anew from its canonical form (RFC 8785), and its artifact is read back and
compared with the digest that the receipt records. An artifact that lies at a URI
is not read. The exit code is 1 if anything does not match.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			documents, total, err := chosenReceipts(cmd.Context(), cl, args, after)
			if err != nil {
				return err
			}
			return e.verify(cmd.Context(), cl, documents, total)
		},
	}
	cmd.Flags().Int64Var(&after, "after", 0, "only what follows this sequence number, where none is named")
	return cmd
}

// chosenReceipts gives the documents of the named receipts, or of all behind a
// sequence number, and how many there are.
func chosenReceipts(ctx context.Context, cl *client.Client, ids []string, after int64) (iter.Seq2[json.RawMessage, error], int64, error) {
	if len(ids) > 0 {
		return func(yield func(json.RawMessage, error) bool) {
			for _, id := range ids {
				document, err := cl.ReceiptDocument(ctx, id)
				if !yield(document, err) || err != nil {
					return
				}
			}
		}, int64(len(ids)), nil
	}
	var last int64
	newest := &client.ReceiptOptions{ListOptions: client.ListOptions{Desc: true, PageSize: 1}}
	for receipt, err := range cl.Receipts(ctx, newest) {
		if err != nil {
			return nil, 0, err
		}
		last = receipt.Sequence
		break
	}
	return cl.ReceiptDocuments(ctx, &client.ReceiptOptions{After: after}), max(last-after, 0), nil
}

func (e *env) verify(ctx context.Context, cl *client.Client, documents iter.Seq2[json.RawMessage, error], total int64) error {
	b := e.countBar(total, "verify")
	defer b.done()
	checked, bad := 0, 0
	for document, err := range documents {
		if err != nil {
			return err
		}
		v, err := verifyOne(ctx, cl, document)
		if err != nil {
			return err
		}
		checked++
		_ = b.Add(1)
		if !v.good() {
			bad++
		}
		switch {
		case e.json:
			err = e.line(v)
		case !v.good():
			_ = b.Clear()
			_, err = fmt.Fprintf(e.out, "%s  record %s, artifact %s\n", oneLine(v.Receipt), v.Record, v.Artifact)
		}
		if err != nil {
			return err
		}
	}
	b.done()
	if bad > 0 {
		return fmt.Errorf("verify receipts: %d of %d do not match; what they record was changed after the fact", bad, checked)
	}
	if !e.json {
		fmt.Fprintf(e.out, "%d verified\n", checked)
	}
	return nil
}

// verifyOne checks one receipt. Its error is about reading, not about what was
// read.
func verifyOne(ctx context.Context, cl *client.Client, document json.RawMessage) (*verdict, error) {
	var r api.Receipt
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, fmt.Errorf("verify receipt: not a receipt")
	}
	v := &verdict{Receipt: r.ID, Sequence: r.Sequence, Record: verdictMismatch, Artifact: verdictMismatch}
	if digest, err := receiptDigest(document); err == nil && digest == r.Digest {
		v.Record = verdictOK
	}
	body, err := cl.NounBody(ctx, r.Output.Ref)
	switch {
	case api.IsCode(err, api.Conflict):
		v.Artifact = verdictNotRead
	case api.IsCode(err, api.NotFound):
		v.Artifact = verdictMissing
	case err != nil:
		return nil, err
	case digestOf(body.Bytes) == r.Output.Digest:
		v.Artifact = verdictOK
	}
	return v, nil
}

// receiptDigest is the SHA-256 of the canonical form (RFC 8785) of a receipt
// without its digest. It is taken of the document as it came, so that fields
// that this program does not know count too.
func receiptDigest(document json.RawMessage) (string, error) {
	var fields map[string]jsontext.Value
	if err := json.Unmarshal(document, &fields); err != nil {
		return "", fmt.Errorf("read receipt: %w", err)
	}
	delete(fields, "digest")
	rest, err := json.Marshal(fields)
	if err != nil {
		return "", fmt.Errorf("read receipt: %w", err)
	}
	canonical := jsontext.Value(rest)
	if err := canonical.Canonicalize(); err != nil {
		return "", fmt.Errorf("canonicalize receipt: %w", err)
	}
	return digestOf(canonical), nil
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}
