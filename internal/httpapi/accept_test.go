package httpapi

import (
	"net/http"
	"testing"
)

func TestOnlyWhoNamesAndPrefersAStreamGetsOne(t *testing.T) {
	t.Parallel()
	tests := []struct {
		accept []string
		want   bool
	}{
		{nil, false},
		{[]string{""}, false},
		{[]string{"*/*"}, false},
		{[]string{"text/*"}, false},
		{[]string{"application/json"}, false},
		{[]string{"text/event-stream"}, true},
		{[]string{"Text/Event-Stream"}, true},
		{[]string{"text/event-stream; charset=utf-8"}, true},
		{[]string{"text/event-streams"}, false},
		{[]string{"text/event-stream, */*;q=0.1"}, true},
		{[]string{"text/event-stream, */*"}, true},
		{[]string{"text/html , text/event-stream"}, true},
		{[]string{"text/html", "text/event-stream"}, true},
		{[]string{"application/json, text/event-stream"}, true},
		{[]string{"application/json;q=0.5, text/event-stream;q=0.4"}, false},
		{[]string{"application/json;q=0.4, text/event-stream;q=0.5"}, true},
		{[]string{"text/event-stream;q=0.5, */*;q=0.8"}, false},
		{[]string{"text/event-stream;q=0.5, */*;q=0.8, application/json;q=0.1"}, true},
		{[]string{"application/json;q=0.1, */*;q=0.8, text/event-stream;q=0.5"}, true},
		{[]string{"text/event-stream;q=0.5, application/*;q=0.8, */*;q=0.1"}, false},
		{[]string{"text/event-stream;q=0"}, false},
		{[]string{"text/event-stream;q=0.000"}, false},
		{[]string{"text/event-stream;q=0.001"}, true},
		{[]string{"text/event-stream;Q=1.000"}, true},
		{[]string{"text/event-stream;q=1.001"}, false},
		{[]string{"text/event-stream;q=2"}, false},
		{[]string{"text/event-stream;q=-1"}, false},
		{[]string{"text/event-stream;q=nan"}, false},
		{[]string{"text/event-stream;q=1e-9"}, false},
		{[]string{"text/event-stream;q="}, false},
		{[]string{"text/event-stream;q=0.5;q=0.6"}, false},
		{[]string{`text/plain;a="x, text/event-stream"`}, false},
		{[]string{`text/plain;a="x\", text/event-stream"`}, false},
		{[]string{`text/plain;a="x\", y", text/event-stream`}, true},
		{[]string{`"`, "text/event-stream"}, true},
		{[]string{",,;, text/event-stream,"}, true},
	}
	for _, test := range tests {
		if got := acceptsEvents(http.Header{"Accept": test.accept}); got != test.want {
			t.Errorf("%q: %v, want %v", test.accept, got, test.want)
		}
	}
}

func FuzzAccept(f *testing.F) {
	for _, s := range []string{"*/*", "text/event-stream;q=0.5,", `a/b;c="\`, `"",text/event-stream`, ",;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, field string) {
		if acceptsEvents(http.Header{"Accept": {field}}) && len(field) < len(mediaEvents) {
			t.Errorf("%q names no stream", field)
		}
		total := 0
		for e := range elements(field) {
			total += len(e) + 1
		}
		if total != len(field)+1 {
			t.Errorf("the elements of %q have %d bytes, want %d", field, total-1, len(field))
		}
	})
}
