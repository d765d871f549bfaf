package admission

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// TestQuotaAgreesWithModel compares with a list of every pass ever made, and
// checks that whoever waits as long as told passes, and no shorter.
func TestQuotaAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(0, 4).Draw(t, "limit")
		cfg := QuotaConfig{Limit: limit, Window: rapid.Int64Range(1, 40).Draw(t, "window"), Second: 7}
		q, err := NewQuota(cfg)
		if err != nil {
			t.Fatal(err)
		}
		passes := make(map[string][]int64)
		now := rapid.Int64Range(-50, 50).Draw(t, "start")
		for range rapid.IntRange(1, 150).Draw(t, "takes") {
			now += rapid.SampledFrom([]int64{0, 0, 1, 3, 10, 50}).Draw(t, "advance")
			if rapid.IntRange(0, 19).Draw(t, "set limit") == 0 {
				limit = rapid.IntRange(0, 4).Draw(t, "limit")
				if err := q.SetLimit(limit); err != nil {
					t.Fatal(err)
				}
				if limit == 0 {
					clear(passes)
				}
			}
			p := rapid.SampledFrom([]string{"A", "B", "C"}).Draw(t, "principal")
			ok, retry := q.Take(now, p)
			wantOK, wantRetry := modelTake(passes[p], now, limit, cfg)
			if ok != wantOK || retry != wantRetry {
				t.Fatalf("at %d: %v, %d s; want %v, %d s", now, ok, retry, wantOK, wantRetry)
			}
			if ok && limit > 0 {
				passes[p] = append(passes[p], now)
			}
			checkQuotaMemory(t, q)
		}
	})
}

// modelTake asks for the first whole second from now on at which a pass is free.
func modelTake(passes []int64, now int64, limit int, cfg QuotaConfig) (bool, int) {
	if limit == 0 {
		return true, 0
	}
	for seconds := 0; ; seconds++ {
		at, n := now+int64(seconds)*cfg.Second, 0
		for _, p := range passes {
			if p > at-cfg.Window {
				n++
			}
		}
		if n < limit {
			return seconds == 0, seconds
		}
	}
}

// checkQuotaMemory checks that what is known is listed by last pass, and that no
// buffer outgrows the limit.
func checkQuotaMemory(t *rapid.T, q *Quota) {
	listed := 0
	for e := q.front; e != nil; e = e.next {
		listed++
		if q.takers[e.principal] != e {
			t.Fatalf("%q is listed and not known", e.principal)
		}
		if e.next != nil && e.passes.last() > e.next.passes.last() {
			t.Fatalf("%q is listed before %q", e.principal, e.next.principal)
		}
		if n := len(e.passes.buffer); n > 8 {
			t.Fatalf("%q has a buffer of %d for at most 4 passes", e.principal, n)
		}
	}
	if listed != len(q.takers) {
		t.Fatalf("%d listed, %d known", listed, len(q.takers))
	}
}

func TestQuotaForgetsIdlePrincipals(t *testing.T) {
	t.Parallel()
	q, err := NewQuota(QuotaConfig{Limit: 1, Window: 10})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		q.Take(0, string(rune('a'+i)))
	}
	for i := range 600 { // two are forgotten at a time
		q.Take(10+int64(i)/100, "regular")
	}
	if got := len(q.takers); got != 1 {
		t.Errorf("%d principals remembered, want 1", got)
	}
}

func TestQuotaWindowIsHalfOpen(t *testing.T) {
	t.Parallel()
	q, err := NewQuota(QuotaConfig{Limit: 2, Window: 60_000, Second: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		now   int64
		ok    bool
		retry int
	}{
		{0, true, 0},
		{1500, true, 0},
		{1500, false, 59},
		{59_999, false, 1},
		{60_000, true, 0},
		{60_001, false, 2},
		{50_000, false, 2}, // a clock that steps back stands still
		{61_500, true, 0},
	} {
		if ok, retry := q.Take(c.now, "A"); ok != c.ok || retry != c.retry {
			t.Errorf("at %d: %v, %d s; want %v, %d s", c.now, ok, retry, c.ok, c.retry)
		}
	}
}

func TestQuotaSettingsAreRefusedByName(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cfg  QuotaConfig
		want ConfigError
	}{
		{QuotaConfig{Limit: -1, Window: 1}, ConfigError{Field: "limit", Rule: "must not be negative"}},
		{QuotaConfig{}, ConfigError{Field: "window", Rule: "must be at least 1"}},
		{QuotaConfig{Window: maxSpan + 1}, ConfigError{Field: "window", Rule: "is too large"}},
		{QuotaConfig{Window: 1, Second: -1}, ConfigError{Field: "second", Rule: "must not be negative"}},
	} {
		_, err := NewQuota(c.cfg)
		var got *ConfigError
		if !errors.As(err, &got) || *got != c.want {
			t.Errorf("%+v: %v, want %v", c.cfg, err, &c.want)
		}
	}
	q, err := NewQuota(QuotaConfig{Limit: 1, Window: 10})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.SetLimit(-1); err == nil {
		t.Error("a negative limit is taken")
	}
	q.Take(0, "A")
	if ok, _ := q.Take(0, "A"); ok {
		t.Error("a limit that was refused is in force")
	}
}
