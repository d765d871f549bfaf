package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// Handler works on one item inside the process and returns its result, a JSON object
// of up to 1 MiB, which it may use again once it was called for the next item.
//
// Its context ends when the item is out of time, its run is cancelled, its lease is
// lost or the runtime stops; it must then return soon, because its slot is taken until
// it does. A *[Failure] says with which code and message the item fails; any other
// error fails it with the code handler_error, a panic with handler_panic. The text of
// an error is kept with the item and shown to its tenant.
type Handler func(ctx context.Context, item Item) (json.RawMessage, error)

// Item is one item of a run, or a singular call.
type Item struct {
	Namespace string
	// Run is the run's id, "" for a singular call; Scorer is that of such a call.
	Run, Kind, Scorer string
	// ID is the item's, InputIndex its place in the run's document.
	ID         string
	InputIndex int
	// Attempt counts from 1 how often the item was granted.
	Attempt int
	// Shared is what all items of the run share, Payload what is the item's own: JSON
	// objects, which must not be changed.
	Shared, Payload json.RawMessage
}

// Failure is an error that says with which code and message an item fails. A code has
// at most 64 bytes, without one it is handler_error; a message has at most 16 KiB.
type Failure struct{ Code, Message string }

// Error is the message.
func (f *Failure) Error() string { return f.Message }

// Codes of items that failed in the hands of a handler.
const (
	codeHandlerError  = "handler_error"
	codeHandlerPanic  = "handler_panic"
	codeInvalidResult = "invalid_result"
	codeRejected      = "result_rejected"
)

var errItemTimeout = errors.New("the item is out of time")

// attempt is one call of a handler. It is the goroutine's of the call until that is
// over.
type attempt struct {
	result *api.ItemResult
	// failed says that the handler returned an error or did not return.
	failed bool
}

// work calls the handler for an item. The item's result is nil if its work was broken
// off and says nothing about it. over is closed when the handler has returned, which is
// later if it does not obey its context.
func (h *hand) work(ctx context.Context, item *api.QuantumItem) (result *api.ItemResult, over <-chan struct{}) {
	ctx, cancel := context.WithTimeoutCause(ctx, milliseconds(h.quantum.TimeoutMs), errItemTimeout)
	defer cancel()
	a, done := &attempt{}, make(chan struct{})
	go func() {
		defer close(done)
		h.call(ctx, item, a)
	}()
	select {
	case <-done:
	case <-ctx.Done():
		await(ctx, done, handlerGrace)
	}
	switch {
	case errors.Is(context.Cause(ctx), errItemTimeout):
		return failed(item.ID, string(api.ItemTimeout), "the item took longer than its kind allows"), done
	case !closed(done), a.failed && h.ctx.Err() != nil:
		return nil, done
	}
	return a.result, done
}

// call runs the handler and judges what it returned. Nothing that a handler does can
// leave it, not in the methods of its error either.
func (h *hand) call(ctx context.Context, item *api.QuantumItem, a *attempt) {
	q := h.quantum
	*a = attempt{failed(item.ID, codeHandlerPanic, "the handler panicked"), true}
	returned := false
	defer func() {
		if !returned {
			h.logPanic(ctx, recover())
		}
	}()
	given := Item{
		Namespace: h.namespace, Kind: q.Kind, Scorer: q.Scorer, ID: item.ID, InputIndex: item.InputIndex,
		Attempt: item.AttemptCount, Shared: q.Shared, Payload: item.Payload,
	}
	if q.Run != nil {
		given.Run = *q.Run
	}
	result, err := h.crew.handlers[q.Kind](ctx, given)
	if err != nil {
		*a = attempt{failure(item.ID, err), true}
	} else {
		*a = attempt{judge(item.ID, result), false}
	}
	returned = true
}

// logPanic says where a handler panicked. What with may hold a payload, and is left out;
// nil is the end of its goroutine.
func (h *hand) logPanic(ctx context.Context, v any) {
	h.crew.log.LogAttrs(ctx, slog.LevelError, "panic in a handler", slog.String("namespace", h.namespace),
		slog.String("kind", h.quantum.Kind), slog.String("type", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
}

// failure is the result of an item whose handler returned an error.
func failure(id string, err error) *api.ItemResult {
	var said *Failure
	if !errors.As(err, &said) {
		return failed(id, codeHandlerError, err.Error())
	}
	if said == nil {
		return failed(id, codeHandlerError, "")
	}
	return failed(id, said.Code, said.Message)
}

// judge says whether what a handler returned can be a result. It keeps a copy, as the
// handler may use its buffer again before the batch is full.
func judge(id string, result json.RawMessage) *api.ItemResult {
	if v := jsontext.Value(result); len(v) > maxResultBytes || v.Kind() != '{' || !v.IsValid() {
		return failed(id, codeInvalidResult, "the handler's result is not a JSON object of at most 1 MiB")
	}
	return &api.ItemResult{ID: id, Status: api.ItemSucceeded, Result: bytes.Clone(result)}
}

// failed is the result of an item that failed. What a handler says is made fit to be
// stored.
func failed(id, code, message string) *api.ItemResult {
	if code == "" {
		code = codeHandlerError
	}
	if message == "" {
		message = "the handler gave no reason"
	}
	return &api.ItemResult{ID: id, Status: api.ItemFailed, Error: &api.Failure{
		Code: clip(code, maxCodeBytes), Message: clip(message, maxFailureBytes),
	}}
}

// clip makes UTF-8 of text and cuts it to a number of bytes, at the border of a
// character.
func clip(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}
