package actors

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestAgendaAgreesWithAMap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Unix(0, 0)
		var a agenda[int]
		model := map[int]time.Time{}
		key := rapid.IntRange(0, 9)
		after := rapid.Map(rapid.IntRange(0, 20), func(n int) time.Time { return start.Add(time.Duration(n)) })
		t.Repeat(map[string]func(*rapid.T){
			"set": func(t *rapid.T) {
				k, at := key.Draw(t, "key"), after.Draw(t, "at")
				a.set(k, at)
				model[k] = at
			},
			"remove": func(t *rapid.T) {
				k := key.Draw(t, "key")
				a.remove(k)
				delete(model, k)
			},
			"take": func(t *rapid.T) {
				now := after.Draw(t, "now")
				k, ok := a.due(now)
				if !ok {
					return
				}
				if at, known := model[k]; !known || at.After(now) {
					t.Fatalf("got key %d, which is not due", k)
				}
				a.remove(k)
				delete(model, k)
			},
			"": func(t *rapid.T) {
				var first time.Time
				for k, at := range model {
					if !a.has(k) {
						t.Fatalf("key %d is missing", k)
					}
					if first.IsZero() || at.Before(first) {
						first = at
					}
				}
				next, ok := a.next()
				if ok != (len(model) > 0) || ok && !next.Equal(first) || len(a.items) != len(model) {
					t.Fatalf("got next %v, %v and %d items, want %v and %d", next, ok, len(a.items), first, len(model))
				}
				if _, due := a.due(first); due != ok {
					t.Fatalf("got due %v at the next time, want %v", due, ok)
				}
			},
		})
	})
}
