package claims

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// receiptDigest is the digest that a receipt must carry: that of its other
// fields as canonical JSON.
func receiptDigest(r api.Receipt) (string, error) {
	r.Digest = ""
	doc, err := namespace.Encode(r)
	if err != nil {
		return "", fmt.Errorf("encode receipt: %w", err)
	}
	if doc, err = namespace.Canonical(doc); err != nil {
		return "", fmt.Errorf("encode receipt: %w", err)
	}
	sum := sha256.Sum256(doc)
	return formatDigest(sum[:]), nil
}

// addReceipt gives a receipt the next number and its digest, and stores it with
// the idempotency record of the request. The verb's row is the caller's to write.
func (c *change) addReceipt(b *verb, r *api.Receipt) error {
	if c.m.sequence == unknown {
		c.m.sequence = 0
		if _, err := c.QueryRow(sqlLastReceipt, nil, &c.m.sequence); err != nil {
			c.m.sequence = unknown
			return fmt.Errorf("find last receipt: %w", err)
		}
	}
	sequence := c.m.sequence + 1
	r.Sequence, r.ID = sequence, formatID(receiptPrefix, sequence)
	var err error
	if r.Digest, err = receiptDigest(*r); err != nil {
		return err
	}
	doc, err := namespace.Encode(r)
	if err != nil {
		return fmt.Errorf("encode receipt: %w", err)
	}
	idem := c.Idempotency()
	_, err = c.Exec(sqlInsertReceipt, sequence, b.id, b.fence, millis(r.SubmittedAt), idem.Key, idem.BodySHA256[:], string(doc))
	if err != nil {
		return fmt.Errorf("store receipt: %w", err)
	}
	b.receipt, c.m.sequence = sequence, sequence
	c.Signal(receiptsTopic, 0)
	return nil
}

// readReceipt takes a stored receipt. One that does not fit its own digest is
// not given out: the file has lost what it was trusted with.
func readReceipt(sequence int64, doc []byte) (api.Receipt, error) {
	var r api.Receipt
	err := namespace.Decode(doc, &r)
	digest := ""
	if err == nil {
		digest, err = receiptDigest(r)
	}
	if err != nil || digest != r.Digest || r.Sequence != sequence {
		return r, api.Errorf(api.StorageUnavailable, "the stored receipt %s does not fit its digest", formatID(receiptPrefix, sequence)).
			After(time.Second).Wrapping(err)
	}
	return r, nil
}

// getReceipt reads one receipt.
type getReceipt struct{ id string }

// Read finds the receipt by its number.
func (q *getReceipt) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	missing := api.Errorf(api.NotFound, "there is no such receipt")
	n, ok := parseID(receiptPrefix, q.id)
	if !ok {
		return namespace.Answer{}, missing
	}
	var doc []byte
	found, err := v.QueryRow(sqlReadReceipt, []any{n}, &n, &doc)
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read receipt: %w", err)
	}
	if !found {
		return namespace.Answer{}, missing
	}
	r, err := readReceipt(n, doc)
	return namespace.Answer{Body: r}, err
}

const receiptList = "receipts"

// listReceipts reads the receipts behind a number, in sequence.
type listReceipts struct {
	page  namespace.PageRequest
	after int64
	wait  time.Duration
}

// Wait is how long to wait for a receipt if there is none.
func (q *listReceipts) Wait() time.Duration { return q.wait }

// Topics are where new receipts are signalled.
func (q *listReceipts) Topics() []string { return []string{receiptsTopic} }

// Read reads a page of receipts.
func (q *listReceipts) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	l := newListing[api.Receipt](q.page)
	sql, from := sqlListReceipts, max(l.from(), q.after)
	if q.page.Desc {
		sql, from = sqlListReceiptsDesc, l.from()
	}
	rows, err := v.Query(sql, from, q.after, l.limit())
	if err != nil {
		return namespace.Answer{}, fmt.Errorf("read receipts: %w", err)
	}
	err = l.fill(rows, func(rows *namespace.Rows) (entry[api.Receipt], error) {
		var n int64
		var doc []byte
		if err := rows.Scan(&n, &doc); err != nil {
			return entry[api.Receipt]{}, fmt.Errorf("read receipt: %w", err)
		}
		r, err := readReceipt(n, doc)
		return entry[api.Receipt]{r, n, len(doc)}, err
	})
	answer := l.answer()
	answer.Await = len(l.data) == 0 && q.page.First && !q.page.Desc
	return answer, err
}
