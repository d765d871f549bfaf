package httpapi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/api"
)

const measurePath = "/ns/demo/api/v2/logs:measure"

func TestQueryByPostReadsItsBodyUpToTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := func(size int) string {
		head, tail := `{"key":"`, `"}`
		return head + strings.Repeat("k", size-len(head)-len(tail)) + tail
	}
	for _, size := range []int{20, 1000} {
		r := w.do("POST", measurePath, "producer", body(size))
		if want := fmt.Sprintf(`{"bytes":%d,"times":0}`, size); r.Code != 200 || r.Body.String() != want {
			t.Errorf("%d bytes: %d %s, want %s", size, r.Code, r.Body, want)
		}
	}
	w.want(w.do("POST", measurePath, "producer", ""), 200, "")
	r := w.do("POST", measurePath, "producer", body(1001))
	w.want(r, 413, api.BodyTooLarge)
	if !strings.Contains(r.Body.String(), `"details":{"actual":1001,"limit":1000}`) {
		t.Errorf("limit and size are not in %s", r.Body)
	}
	w.want(w.do("POST", measurePath, "producer", `{"lock":"k"}`), 400, api.BadRequest)
	w.want(w.do("GET", measurePath, "producer", ""), 405, api.MethodNotAllowed)
}

func TestQueryByPostStoresNothingForItsKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const key = "Idempotency-Key: one"
	for times, body := range []string{`{"key":"a"}`, `{"key":"a"}`, `{"key":"another body"}`} {
		r := w.do("POST", measurePath, "producer", body, key)
		if want := fmt.Sprintf(`{"bytes":%d,"times":%d}`, len(body), times); r.Code != 200 || r.Body.String() != want {
			t.Errorf("%d %s, want it answered anew with %s", r.Code, r.Body, want)
		}
		if replayed := r.Header().Get(api.HeaderIdempotentReplayed); replayed != "" {
			t.Errorf("the answer is said to be a replay: %s", replayed)
		}
		w.want(w.do("POST", notesPath, "producer", fmt.Sprintf(`{"key":"%d"}`, times)), 201, "")
	}
	for _, bad := range [][]string{{"Idempotency-Key: "}, {"Idempotency-Key: ü"}, {key, key}} {
		r := w.do("POST", measurePath, "producer", `{"key":"a"}`, bad...)
		w.want(r, 400, api.BadRequest)
		if !strings.Contains(r.Body.String(), `"field":"Idempotency-Key"`) {
			t.Errorf("the error names no field: %s", r.Body)
		}
	}
}
