package runs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/skerryhq/skerry/api"
)

// Handler works on one item inside the process and returns its result, a JSON object
// of up to 1 MiB.
//
// Its context ends when the item is out of time, its run is cancelled, its lease is
// lost or the runtime stops; it must then return soon, because its slot is taken until
// it does. A *[Failure] says with which code and message the item fails; any other
// error fails it with the code handler_error, a panic with handler_panic.
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
	// objects.
	Shared, Payload json.RawMessage
}

// Failure is an error that says with which code and message an item fails. A code has
// at most 64 bytes.
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

// attempt is one call of a handler.
type attempt struct {
	result json.RawMessage
	err    error
}

// work calls the handler for an item. The item's result is nil if its work was broken
// off and says nothing about it. over is closed when the handler has returned, which is
// later if it does not obey its context.
func (h *hand) work(ctx context.Context, item *api.QuantumItem) (result *api.ItemResult, over <-chan struct{}) {
	ctx, cancel := context.WithTimeoutCause(ctx, milliseconds(h.quantum.TimeoutMs), errItemTimeout)
	returned, done := make(chan attempt, 1), make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		returned <- h.call(ctx, item)
	}()
	var a attempt
	select {
	case a = <-returned:
	case <-ctx.Done():
		a.err = context.Cause(ctx)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), handlerGrace)
		defer cancel()
		select {
		case a = <-returned:
		case <-grace.Done():
		}
	}
	switch {
	case errors.Is(context.Cause(ctx), errItemTimeout):
		return failed(item.ID, string(api.ItemTimeout), "the item took longer than its kind allows"), done
	case a.err == nil:
		return h.judge(item.ID, a.result), done
	case h.ctx.Err() != nil:
		return nil, done
	}
	var said *Failure
	switch {
	case errors.As(a.err, &said):
		return failed(item.ID, said.Code, said.Message), done
	case errors.Is(a.err, errPanic):
		return failed(item.ID, codeHandlerPanic, "the handler panicked"), done
	}
	return failed(item.ID, codeHandlerError, a.err.Error()), done
}

var errPanic = errors.New("panic in a handler")

// call runs the handler. What it panicked with may hold a payload, and is not logged.
func (h *hand) call(ctx context.Context, item *api.QuantumItem) (a attempt) {
	q := h.quantum
	defer func() {
		if v := recover(); v != nil {
			h.crew.log.LogAttrs(ctx, slog.LevelError, "panic in a handler", slog.String("namespace", h.namespace),
				slog.String("kind", q.Kind), slog.String("type", fmt.Sprintf("%T", v)), slog.String("stack", string(debug.Stack())))
			a.err = errPanic
		}
	}()
	given := Item{
		Namespace: h.namespace, Kind: q.Kind, Scorer: q.Scorer, ID: item.ID, InputIndex: item.InputIndex,
		Attempt: item.AttemptCount, Shared: q.Shared, Payload: item.Payload,
	}
	if q.Run != nil {
		given.Run = *q.Run
	}
	a.result, a.err = h.crew.handlers[q.Kind](ctx, given)
	return a
}

// judge says whether what a handler returned can be a result.
func (h *hand) judge(id string, result json.RawMessage) *api.ItemResult {
	if v := jsontext.Value(result); v.Kind() != '{' || !v.IsValid() || len(v) > maxResultBytes {
		return failed(id, codeInvalidResult, "the handler's result is not a JSON object of at most 1 MiB")
	}
	return &api.ItemResult{ID: id, Status: api.ItemSucceeded, Result: result}
}

// failed is the result of an item that failed. What a handler says is cut to what may
// be stored.
func failed(id, code, message string) *api.ItemResult {
	if message == "" {
		message = "the handler gave no reason"
	}
	return &api.ItemResult{ID: id, Status: api.ItemFailed, Error: &api.Failure{
		Code: clip(code, maxCodeBytes), Message: clip(message, maxFailureBytes),
	}}
}
