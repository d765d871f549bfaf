package client

import (
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/api"
)

// Receipt reads one receipt.
func (c *Client) Receipt(ctx context.Context, id string) (*api.Receipt, error) {
	return fetch[api.Receipt](ctx, c.sender, read("read receipt", "/receipts/"+url.PathEscape(id)))
}

// ReceiptDocument reads one receipt as the very bytes that the server sent, over
// which its digest can be checked.
func (c *Client) ReceiptDocument(ctx context.Context, id string) (json.RawMessage, error) {
	a, err := c.sender.send(ctx, read("read receipt", "/receipts/"+url.PathEscape(id)))
	return a.body, err
}

// ReceiptOptions says which part of the receipt log is read.
type ReceiptOptions struct {
	// After is the sequence number after which it begins; receipts count from 1.
	After int64
	// Wait, up to 30 s, lets the first page wait for a receipt if there is none.
	Wait time.Duration
	ListOptions
}

// Receipts lists receipts in sequence.
func (c *Client) Receipts(ctx context.Context, o *ReceiptOptions) iter.Seq2[api.Receipt, error] {
	return list[api.Receipt](ctx, c.sender, o.call())
}

// ReceiptDocuments lists receipts in sequence as the server sent them.
func (c *Client) ReceiptDocuments(ctx context.Context, o *ReceiptOptions) iter.Seq2[json.RawMessage, error] {
	return list[json.RawMessage](ctx, c.sender, o.call())
}

func (o *ReceiptOptions) call() call {
	q := read("list receipts", "/receipts")
	if o == nil {
		return q.with(url.Values{})
	}
	q.query = o.ListOptions.query()
	if o.After > 0 {
		q.query.Set("after", strconv.FormatInt(o.After, 10))
	}
	return q.waiting(o.Wait)
}

// Admission reads how claims are admitted at this moment.
func (c *Client) Admission(ctx context.Context) (*api.AdmissionStatus, error) {
	return fetch[api.AdmissionStatus](ctx, c.sender, read("read admission", "/admission"))
}

// Catalog reads what the namespace offers and the limits that it enforces.
func (c *Client) Catalog(ctx context.Context) (*api.Catalog, error) {
	return fetch[api.Catalog](ctx, c.sender, read("read catalog", "/catalog"))
}
