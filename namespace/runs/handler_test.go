package runs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs"
)

// spoilt is an error whose methods fail.
type spoilt struct{}

func (spoilt) Error() string { panic("no message") }

// Whatever a handler does with its error fails its item, and nothing else.
func TestHandlersStrangeEndsAreFailuresOfTheirItems(t *testing.T) {
	t.Parallel()
	handler := func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		switch item.InputIndex {
		case 0:
			var none *runs.Failure
			return nil, none
		case 1:
			return nil, spoilt{}
		case 2:
			runtime.Goexit()
		case 3:
			return nil, errors.New("not UTF-8: \xff")
		case 4:
			return nil, &runs.Failure{}
		case 5:
			return nil, &runs.Failure{Code: strings.Repeat("c", 100), Message: strings.Repeat("é", 16<<10)}
		case 6:
			return nil, fmt.Errorf("wrapped: %w", &runs.Failure{Code: "odd", Message: "said"})
		case 7:
			return json.RawMessage(`{"a":1,"a":2}`), nil
		case 8:
			return json.RawMessage("{\"a\":\"\xff\"}"), nil
		case 9:
			return nil, nil
		}
		return item.Payload, nil
	}
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": handler}})
	r := w.ended("acme", w.submit("acme", batch(11)).ID)
	want := []string{
		"handler_error", "handler_panic", "handler_panic", "handler_error", "handler_error", strings.Repeat("c", 64), "odd",
		"invalid_result", "invalid_result", "invalid_result", "",
	}
	for n, item := range w.items("acme", r.ID) {
		got := ""
		if item.Error != nil {
			got = item.Error.Code
			if item.Error.Message == "" {
				t.Errorf("item %d: it failed without a message", n)
			}
		}
		if got != want[n] || item.AttemptCount != 1 {
			t.Errorf("item %d: got code %q at attempt %d, want %q at the first", n, got, item.AttemptCount, want[n])
		}
	}
}

// What a handler writes into a slice that it has returned does not reach the results
// of earlier items.
func TestHandlerMayUseItsBufferAgain(t *testing.T) {
	t.Parallel()
	buffer := make([]byte, 0, 100)
	w := crew(t, runs.Options{Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		buffer = fmt.Appendf(buffer[:0], `{"index":%d}`, item.InputIndex)
		return buffer, nil
	}}})
	r := w.ended("acme", w.submit("acme", batch(4)).ID)
	for n, item := range w.items("acme", r.ID) {
		if want := fmt.Sprintf(`{"index":%d}`, n); string(item.Result) != want {
			t.Errorf("item %d: got result %s, want %s", n, item.Result, want)
		}
	}
}

// Quanta that a slot was given together do not use up each other's time.
func TestNoItemRunsOutOfTimeBeforeItsTurn(t *testing.T) {
	t.Parallel()
	limit, attempts := int64(3_000), 1
	w := crewWith(t, func(s *namespace.Settings) {
		s.Kinds = map[string]api.Kind{"work": {Pool: api.KindPool{Durable: true}, TimeoutMs: &limit, MaxAttempts: &attempts}}
		s.Tenants = map[string]api.TenantSettings{"acme": {Coalesce: true}}
		s.BatchItems, s.QuantumItems = 6, 1
	}, runs.Options{Handlers: map[string]runs.Handler{"work": func(_ context.Context, item runs.Item) (json.RawMessage, error) {
		rest(t, 1800*time.Millisecond) // five of them take longer than one may, with what is added for its report
		return item.Payload, nil
	}}})
	r := w.submit("acme", batch(6))
	if got := w.ended("acme", r.ID); got.Status != api.RunCompleted {
		t.Errorf("got %s with %+v", got.Status, got.Progress)
	}
}
