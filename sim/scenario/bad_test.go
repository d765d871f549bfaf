package scenario_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/skerryhq/skerry/sim/scenario"
)

// good has one of everything; a bad file differs from it in one place.
const good = `title: One of everything
duration: 1m
namespaces:
  - name: a
    settings:
      claim_initial_concurrency: 8
      claim_max_pending: 0
    service:
      model: sharing
      servers: 4
      time: {kind: exponential, mean: 20ms}
    principals:
      - name: p
        arrivals: {kind: poisson, rate: 5}
        client: {retry: after}
      - name: q
        count: 2
        arrivals:
          kind: closed
          clients: 3
          think: {kind: constant, mean: 1s}
    episodes:
      - {kind: slow, from: 10s, to: 20s, factor: 2}
    runs:
      workers: 2
      slots: 1
      batches:
        - {tenant: t, items: 5, time: {kind: constant, mean: 1s}}
`

// Places of good that bad files change.
const (
	poisson   = "kind: poisson, rate: 5"
	law       = "kind: exponential, mean: 20ms"
	slow      = "kind: slow, from: 10s, to: 20s, factor: 2"
	batchTime = "time: {kind: constant, mean: 1s}}\n"
)

func TestBadFileIsAnErrorThatNamesLineAndKey(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		old, new string
		line     int
		want     string // begins the rest of the error
	}{
		// What is there, and of which type.
		{good, "", 1, "the file is empty"},
		{good, "# nothing\n", 1, "the file is empty"},
		{good, "- a\n", 1, "must be keys with values"},
		{good, good + "---\ntitle: B\n", 30, "must be one document"},
		{"title: One", "titel: One", 1, "titel: there is no such key; there are title, about"},
		{"      servers: 4", "      server: 4", 10, "namespaces[0].service.server: there is no such key"},
		{"title: One of everything\n", "", 1, "title: is missing"},
		{"title: One of everything", "title: 7", 1, "title: must be text"},
		{"title: One of everything", "title: ' '", 1, "title: must be text"},
		{"title: One of everything", "title: *x", 1, "title: must be text; anchors"},
		{"title: One of everything", "title: &x y", 1, "title: must be text; anchors"},
		{"duration: 1m", "duration: 60", 2, "duration: must be a span of time such as 200ms, 1.5s or 2m, 1ms to 24h"},
		{"duration: 1m", "duration: 1 minute", 2, "duration: must be a span"},
		{"duration: 1m", "duration: -1m", 2, "duration: must be a span"},
		{"duration: 1m", "duration: 25h", 2, "duration: must be a span"},
		{"duration: 1m", "duration:", 2, "duration: must be a span of time such as 200ms, 1.5s or 2m, 1ms to 24h; there is nothing"},
		{"duration: 1m", "duration: 1m\nduration: 2m", 3, "not YAML: mapping key \"duration\" already defined"},
		{"duration: 1m", "duration: [", 2, "not YAML: "},
		{"duration: 1m", "duration: 1m\n  warmup: 1s", 2, "not YAML: "},
		{"      servers: 4", "      servers: four", 10, "namespaces[0].service.servers: must be a whole number, 0 to 1000000"},
		{"      servers: 4", "      servers: 1.5", 10, "namespaces[0].service.servers: must be a whole number"},
		{"      servers: 4", "      servers: -1", 10, "namespaces[0].service.servers: must be a whole number"},
		{"      servers: 4", "      servers: 18446744073709551615", 10, "namespaces[0].service.servers: must be a whole number"},
		{"      servers: 4", "      servers: true", 10, "namespaces[0].service.servers: must be a whole number"},
		{"      servers: 4", "      servers: [4]", 10, "namespaces[0].service.servers: must be a whole number"},
		{"      servers: 4", "      servers: 4\n      failures: 1.01", 11, "namespaces[0].service.failures: must be a number, 0 to 1"},
		{"      servers: 4", "      servers: 4\n      failures: .nan", 11, "namespaces[0].service.failures: must be a number"},
		{"    principals:\n", "    principals: 5\n    principal:\n", 12, "namespaces[0].principals: must be a list"},
		{"    runs:\n", "    runs: 5\n    run:\n", 24, "namespaces[0].runs: must be keys with values"},
		{"name: a", "name: a b", 4, "namespaces[0].name: must be a name"},
		{"name: a", "name: -a", 4, "namespaces[0].name: must be a name"},
		{"- name: p\n        arrivals", "- arrivals", 13, "namespaces[0].principals[0].name: is missing"},

		// Kinds, and what they need.
		{"model: sharing", "model: shared", 9, "namespaces[0].service.model: must be one of delay, servers, sharing, writer"},
		{"model: sharing", "model: delay", 10, "namespaces[0].service.servers: is not for model delay, only for servers, sharing"},
		{"      model: sharing\n      servers: 4", "      model: writer", 8, "namespaces[0].service.sync: is missing, and model writer needs it"},
		{"      model: sharing\n", "", 8, "namespaces[0].service.model: is missing: must be one of"},
		{law, "kind: exponential", 11, "namespaces[0].service.time.mean: is missing, and kind exponential needs it"},
		{law, law + ", sigma: 1", 11, "namespaces[0].service.time.sigma: is not for kind exponential, only for lognormal"},
		{law, "kind: exponential, mean: 0", 11, "namespaces[0].service.time.mean: must be a span"},
		{law, "kind: lognormal, mean: 1s, sigma: 3.5", 11, "namespaces[0].service.time.sigma: must be a number, above 0 and at most 3"},
		{law, "kind: pareto, shape: 1, min: 0, max: 1s", 11, "namespaces[0].service.time.min: must be above 0"},
		{law, "kind: pareto, shape: 1, min: 2s, max: 1s", 11, "namespaces[0].service.time.max: must be above min, 2s"},
		{law, "kind: uniform, min: 1s, max: 1s", 11, "namespaces[0].service.time.max: must be above min"},
		{law, "kind: hyperexponential, mean: 1s, slow: 2s", 11, "namespaces[0].service.time.share: is missing"},
		{poisson, poisson + ", think: {kind: constant, mean: 1s}", 14, "namespaces[0].principals[0].arrivals.think: is not for kind poisson, only for closed"},
		{poisson, "kind: poisson", 14, "namespaces[0].principals[0].arrivals.rate: is missing"},
		{poisson, "kind: even, rate: 0", 14, "namespaces[0].principals[0].arrivals.rate: must be above 0 for even"},
		{poisson, "kind: poisson, rate: 0.0001", 14, "namespaces[0].principals[0].arrivals.rate: must be 0 or 0.001 to 1000000"},
		{poisson, "kind: ramp, rate: 0, peak: 0", 14, "namespaces[0].principals[0].arrivals.peak: must be above 0"},
		{poisson, "kind: flash, peak: 9", 14, "namespaces[0].principals[0].arrivals.from: is missing"},
		{poisson, poisson + ", zipf: 1", 14, "namespaces[0].principals[0].arrivals.zipf: needs a count"},
		{"clients: 3", "clients: 0", 20, "namespaces[0].principals[1].arrivals.clients: must be a whole number"},
		{"          clients: 3\n", "", 18, "namespaces[0].principals[1].arrivals.clients: is missing, and kind closed needs it"},
		{"mean: 1s}\n    episodes", "maen: 1s}\n    episodes", 21, "namespaces[0].principals[1].arrivals.think.maen: there is no such key"},
		{"retry: after", "retry: soon", 15, "namespaces[0].principals[0].client.retry: must be one of after"},
		{"retry: after", "base: 1s", 15, "namespaces[0].principals[0].client.base: is not for retry after"},
		{"retry: after", "retry: never, attempts: 3", 15, "namespaces[0].principals[0].client.attempts: is not for retry never"},
		{"retry: after", "retry: backoff, base: 9s, cap: 8s", 15, "namespaces[0].principals[0].client.cap: must be at least base, 9s"},
		{slow, "kind: stall, from: 10s, to: 20s, factor: 2", 23, "namespaces[0].episodes[0].factor: is not for kind stall"},
		{slow, "kind: slow, from: 10s, to: 20s", 23, "namespaces[0].episodes[0].factor: is missing"},

		// Values against each other.
		{"duration: 1m", "duration: 1m\nwarmup: 1m", 3, "warmup: must be less than duration, 1m0s"},
		{"duration: 1m", "duration: 1m\nsample: 2m", 3, "sample: must be 600µs to 1m0s"},
		{"duration: 1m", "duration: 1m\nsample: 1us", 3, "sample: must be"},
		{"      claim_initial_concurrency: 8", "      claim_initial_concurrency: 2000", 6, "namespaces[0].settings.claim_initial_concurrency: the initial concurrency, 2000, must be at most the maximum, 1024"},
		{"      claim_initial_concurrency: 8", "      claim_max_concurrency: 31", 6, "namespaces[0].settings.claim_max_concurrency: the initial"},
		{"name: q\n        count: 2", "name: p", 16, "namespaces[0].principals[1].name: there is a principal p already, in line 13"},
		{"name: p", "name: q-2", 16, "namespaces[0].principals[1].name: there is a principal q-2 already, in line 13"},
		{good, good + strings.Replace(good[strings.Index(good, "  - name"):], "name: q", "name: r", 1), 29, "namespaces[1].name: there is a namespace a already, in line 4"},
		{"    service:\n      model: sharing\n      servers: 4\n      time: {" + law + "}\n", "", 4, "namespaces[0]: must have a service"},
		{good[strings.Index(good, "    settings"):], "", 4, "namespaces[0]: must have principals or runs"},
		{good[strings.Index(good, "namespaces"):], "namespaces: []\n", 3, "namespaces: must hold at least one namespace"},
		{"count: 2", "count: 2\n        cost: 0.0001", 18, "namespaces[0].principals[1].cost: must be 0 or 0.001 to 1000"},
		{"name: p", "name: p\n        arrivals: {kind: even, rate: 1}\n        count: 100000\n      - name: s\n        count: 100000\n        arrivals: {kind: even, rate: 1}\n      - name: r", 19, "namespaces[0].principals[2].count: makes 200001 principals"},
		{poisson, poisson + ", from: 1m", 14, "namespaces[0].principals[0].arrivals.from: must be before the end, 1m0s"},
		{poisson, poisson + ", from: 20s, to: 20s", 14, "namespaces[0].principals[0].arrivals.to: must be after from"},
		{poisson, poisson + ", to: 61s", 14, "namespaces[0].principals[0].arrivals.to: must be after from, 0s, and at most the duration, 1m0s"},
		{slow, "kind: slow, from: 20s, to: 10s, factor: 2", 23, "namespaces[0].episodes[0].to: must be after from"},
		{slow, "kind: slow, from: 1m, to: 2m, factor: 2", 23, "namespaces[0].episodes[0].from: must be before the end"},
		{slow, slow + ", every: 10s", 23, "namespaces[0].episodes[0].every: must be more than the episode lasts, 10s"},
		{slow, "kind: stall, from: 1s, to: 1001ms, every: 2ms", 23, "namespaces[0].episodes[0].every: must be more than the episode lasts, 1ms, and at least 30ms"},
		{"workers: 2", "workers: 2\n      lost: 1us", 26, "namespaces[0].runs.lost: must be 0 or 1ms to 24h"},
		{"      batches:\n        - {tenant: t, items: 5, " + batchTime, "      batches: []\n", 27, "namespaces[0].runs.batches: must hold at least one batch"},
		{"items: 5,", "items: 5, at: 1m,", 28, "namespaces[0].runs.batches[0].at: must be before the end"},
		{"items: 5,", "items: 5, every: 1s,", 28, "namespaces[0].runs.batches[0].every: needs times"},
		{"items: 5,", "items: 5, times: 2,", 28, "namespaces[0].runs.batches[0].times: needs every"},
		{"items: 5,", "items: 5, times: 7, every: 10s,", 28, "namespaces[0].runs.batches[0].times: the last would be submitted after the end, 1m0s; there is time for 6"},
		{"items: 5, " + batchTime, "items: 5, time: {kind: uniform, min: 1s, max: 1ms}}\n", 28, "namespaces[0].runs.batches[0].time.max: must be above min"},
	} {
		if !strings.Contains(good, tt.old) {
			t.Fatalf("nothing in the good file is %q", tt.old)
		}
		_, err := scenario.Parse("bad.yaml", []byte(strings.Replace(good, tt.old, tt.new, 1)), nil)
		if want := fmt.Sprintf("bad.yaml:%d: %s", tt.line, tt.want); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q instead of %q:\ngot  %v\nwant %s", tt.new, tt.old, err, want)
		}
	}
}

func TestGoodFileIsRead(t *testing.T) {
	t.Parallel()
	s, err := scenario.Parse("folder/some.yaml", []byte(good), nil)
	if err != nil {
		t.Fatal(err)
	}
	n := s.Namespaces[0]
	for _, tt := range []struct {
		name      string
		got, want any
	}{
		{"name", s.Name, "some"},
		{"sample, a two-hundredth of the duration", s.Sample.String(), "300ms"},
		{"claim_initial_concurrency", n.Settings.InitialConcurrency, 8},
		{"claim_max_concurrency by default", n.Settings.MaxConcurrency, 1024},
		{"claim_max_pending, 0 as given", *n.Settings.MaxPending, 0},
		{"fixed, the initial concurrency", n.Settings.Fixed, 8},
		{"mean", n.Service.Time.Mean.String(), "20ms"},
		{"count by default", n.Principals[0].Count, 1},
		{"cost by default", n.Principals[0].Cost, 1.0},
		{"rate", n.Principals[0].Arrivals.Rate, 5.0},
		{"to, the end", n.Principals[0].Arrivals.To, s.Duration},
		{"jitter by default", *n.Principals[0].Client.Jitter, 0.2},
		{"retry by default", n.Principals[1].Client.Retry, "after"},
		{"attempts by default", n.Principals[1].Client.Attempts, 10},
		{"lease by default", n.Runs.Lease.String(), "1m0s"},
		{"quantum_items by default", n.Runs.QuantumItems, 4},
		{"times by default", n.Runs.Batches[0].Times, 1},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

// Several alike are called NAME-1, NAME-2, so that NAME itself is free.
func TestOnePrincipalMayHaveTheNameThatSeveralBeginWith(t *testing.T) {
	t.Parallel()
	if _, err := scenario.Parse("a.yaml", []byte(strings.Replace(good, "name: q", "name: p", 1)), nil); err != nil {
		t.Error(err)
	}
}

func TestAllThatIsWrongIsToldInOrderOfLines(t *testing.T) {
	t.Parallel()
	text := strings.NewReplacer("servers: 4", "servers: x", "workers: 2", "workers: 0", "duration: 1m", "duration: 1").Replace(good)
	_, err := scenario.Parse("bad.yaml", []byte(text), nil)
	if err == nil {
		t.Fatal("got no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 {
		t.Fatalf("got %d errors, want 3:\n%v", len(lines), err)
	}
	for i, want := range []string{"bad.yaml:2: duration", "bad.yaml:10: namespaces[0].service.servers", "bad.yaml:25: namespaces[0].runs.workers"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("error %d: got %s, want %s …", i, lines[i], want)
		}
	}
	var bad *scenario.Error
	if !errors.As(err, &bad) || bad.Line != 2 || bad.Key != "duration" {
		t.Errorf("got first error %#v, want one of line 2 and duration", bad)
	}
}
