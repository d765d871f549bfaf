package client

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/skerryhq/skerry/api"
)

// Job is one claim in the hands of a handler.
type Job struct {
	api.Claim
	client *Client
}

// Input is the content of the i-th input, inline or fetched, after its digest has
// been checked. An input that lies at a URI is ErrNoBody: the handler fetches it
// and checks the digest itself.
func (j *Job) Input(ctx context.Context, i int) ([]byte, error) {
	in := &j.Inputs[i]
	body, err := j.content(ctx, in)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(body); in.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("read input %s: content does not match its digest", in.Ref)
	}
	return body, nil
}

// content fetches by the ref rather than by the href: both name one body, and no
// key can then go to an address that came in a document.
func (j *Job) content(ctx context.Context, in *api.ClaimInput) ([]byte, error) {
	switch {
	case in.Body != nil:
		return []byte(*in.Body), nil
	case in.BodyBase64 != nil:
		body, err := base64.StdEncoding.DecodeString(*in.BodyBase64)
		if err != nil {
			return nil, fmt.Errorf("read input %s: bad base64", in.Ref)
		}
		return body, nil
	case in.URI != "":
		return nil, fmt.Errorf("read input %s: %w", in.Ref, ErrNoBody)
	}
	b, err := j.client.NounBody(ctx, in.Ref)
	if err != nil {
		return nil, fmt.Errorf("read input %s: %w", in.Ref, err)
	}
	return b.Bytes, nil
}

// Result is the artifact that a handler made: Bytes, or a URI with the digest of
// what lies there.
type Result struct {
	// Bytes is at most 1 MiB. Nil is an empty artifact if URI is empty too.
	Bytes       []byte
	URI, Digest string
	// MediaType is by default text/plain in UTF-8 for text, and otherwise
	// application/octet-stream.
	MediaType string
	Metadata  map[string]string
}

func (r *Result) content() api.Content {
	if r.URI != "" {
		return api.Content{MediaType: r.MediaType, URI: r.URI, Digest: r.Digest}
	}
	return Inline(r.Bytes, r.MediaType)
}

// JobError is how a handler says what should become of its verb, or of an item of
// a run. Any other error fails a verb for another attempt, and an item for good.
type JobError struct {
	// Code is a stable name for programs, and Message is for people. Both are
	// stored with the verb or the item.
	Code, Message string
	// Final ends the verb; otherwise another attempt may come.
	Final bool
	// Release hands the claim back as if it had not been granted, so that no
	// attempt is spent. Code and Message are then not sent.
	Release bool
	// After delays the next attempt; 0 leaves it to the server.
	After time.Duration
}

// Error is "code: message".
func (e *JobError) Error() string {
	if e.Code == "" {
		return e.Message
	}
	return e.Code + ": " + e.Message
}

// maxMessage bounds a failure's message in bytes.
const maxMessage = 4 << 10

// jobError is the JobError in err's chain, or one made of it.
func jobError(err error) *JobError {
	var e *JobError
	if !errors.As(err, &e) {
		return &JobError{Code: "handler_error", Message: clip(err.Error())}
	}
	clipped := *e
	clipped.Message = clip(e.Message)
	return &clipped
}

// clip is at most the first maxMessage bytes of s as valid UTF-8.
func clip(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage]
	}
	return strings.ToValidUTF8(s, "")
}

func (e *JobError) retryAfterMs() *int64 {
	if e.After <= 0 {
		return nil
	}
	ms := e.After.Milliseconds()
	return &ms
}
