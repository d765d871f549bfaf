package runs_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// What nobody waited for any more when a worker came was not worked on, and costs its
// tenant no turn.
func TestCallsThatNobodyWaitsForAreNotCharged(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(s *namespace.Settings) {
			kind := s.Kinds["call"]
			kind.Cost = api.Measure{Value: 100}
			s.Kinds["call"], s.Kinds["rare"] = kind, kind
		})
		serve := func() string {
			got, err := w.as("w1").ClaimQuanta(w.ctx(), api.QuantumSpec{Pool: "default", Kinds: []string{"call"}})
			if err != nil || got.Quantum == nil {
				return ""
			}
			w.commit("w1", got.Quantum)
			return string(got.Quantum.Items[0].Payload)
		}
		w.invoke(t.Context(), "patient", "")
		w.invoke(t.Context(), "hasty", "")
		serve()
		serve()
		// A call of another kind waits longest, and hides those behind it that are over.
		go func() { _, _ = w.as("third").Invoke(t.Context(), api.InvokeSpec{Kind: "rare"}) }()
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		for range 5 {
			w.invoke(ctx, "hasty", "")
		}
		leave()
		synctest.Wait()
		if got := serve(); got != "" {
			t.Fatalf("got %s of a caller that has gone", got)
		}
		// Now hasty has had as much as patient, or it would be behind for long.
		for range 4 {
			w.invoke(t.Context(), "patient", "")
			w.invoke(t.Context(), "hasty", "")
		}
		served := map[string]int{}
		for range 4 {
			served[serve()]++
		}
		if served[`{"of":"hasty"}`] != 2 {
			t.Errorf("of the next four, served %v, want two of each", served)
		}
	})
}

func TestCallsAreGivenUpWithTheMemoryThatHoldsThem(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		waiting, granted := w.invoke(t.Context(), "acme", ""), w.invoke(t.Context(), "acme", "")
		q := w.slot("w1", "default")
		w.spoil()
		// A command that is refused tells nobody; the next one does.
		_, err := w.tryCommit("w1", q)
		code(t, err, api.StaleFence)
		if n := w.slot("w1", "default"); n != nil {
			t.Errorf("got %+v after the rollback", n)
		}
		for _, call := range []*invocation{waiting, granted} {
			if e := call.wantCode(api.NamespaceUnavailable); e.RetryAfter < time.Second {
				t.Errorf("got retry after %v", e.RetryAfter)
			}
		}
		waiting, granted = w.invoke(t.Context(), "acme", ""), w.invoke(t.Context(), "acme", "")
		q = w.slot("w1", "default")
		w.reopen(0)
		waiting.wantCode(api.ShuttingDown)
		granted.wantCode(api.ShuttingDown)
		_, err = w.tryCommit("w1", q)
		code(t, err, api.StaleFence)
	})
}

// write is a command that carries out a statement.
type write string

func (w write) Apply(t *namespace.Turn) (namespace.Answer, error) {
	_, err := t.Exec(string(w))
	return namespace.Answer{}, err
}

// spoil makes a command write and fail, so that the memory is read again.
func (w *world) spoil() {
	w.t.Helper()
	command := write(`INSERT INTO runs_tenant (name, attained) VALUES ('spoilt', -1)`)
	if _, err := w.ns.Do(w.ctx(), namespace.Call{Class: "runs", Caller: namespace.Caller{Principal: "test"}, Command: command}); err == nil {
		w.t.Fatal("a row that breaks a constraint was stored")
	}
}

func TestCallsStoreNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		sizes := func() map[string]int64 {
			all := map[string]int64{"pages": w.number(`SELECT page_count FROM pragma_page_count`)}
			for _, table := range []string{
				"runs_run", "runs_state", "runs_item", "runs_work", "runs_outcome", "runs_quantum", "runs_tenant", "runs_record", "ns_event", "ns_idempotency",
			} {
				all[table] = w.number(`SELECT count(*) FROM ` + table)
			}
			return all
		}
		w.invoke(t.Context(), "acme", "")
		w.commit("w1", w.slot("w1", "default")) // the alarm and the fences have their rows now
		before := sizes()
		for n := range 20 {
			call := w.invoke(t.Context(), fmt.Sprint("tenant", n), "")
			w.commit("w1", w.slot("w1", "default"))
			if !call.over() || call.err != nil {
				t.Fatal(call.err)
			}
		}
		if diff := cmp.Diff(before, sizes()); diff != "" {
			t.Errorf("rows by table (-before +after):\n%s", diff)
		}
	})
}

func TestCallWithAKeyIsMadeAnew(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for range 2 {
			done := make(chan namespace.Outcome)
			go func() {
				got, err := w.posted("acme", "/invoke", "", "k", `{"kind":"call"}`)
				if err != nil {
					t.Error(err)
				}
				done <- got
			}()
			synctest.Wait()
			w.commit("w1", w.slot("w1", "default"))
			if got := <-done; got.Replayed {
				t.Error("the answer is one that was stored")
			}
		}
	})
}
