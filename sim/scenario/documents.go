package scenario

import (
	"math"
	"reflect"
	"strings"
	"time"
)

// Bounds of numbers. They are far beyond what a scenario needs, and keep every sum and
// product of the simulator inside an int64.
const (
	maxCount    = 1_000_000
	maxRate     = 1_000_000 // a second
	leastRate   = 0.001
	maxCost     = 1_000
	leastCost   = 0.001
	maxFactor   = 100
	maxSigma    = 3
	maxShape    = 20
	maxZipf     = 10
	maxAttempts = 1_000
	maxSetting  = math.MaxInt32

	microsecond = float64(time.Microsecond)
	millisecond = float64(time.Millisecond)
	minute      = float64(time.Minute)
	hour        = float64(time.Hour)
	day         = 24 * hour
)

// entry makes a document of a type and its keys, which stand in the order of the type's
// fields. A key without a field, or a field without a key, is a mistake that a test
// finds.
func entry(t reflect.Type, name, about, kind string, keys ...key) *document {
	d := &document{name: name, about: about, kind: kind}
	for _, k := range keys {
		for i := range t.NumField() {
			if tag, _, _ := strings.Cut(t.Field(i).Tag.Get("yaml"), ","); tag == k.name {
				k.field = t.Field(i).Index
			}
		}
		d.keys = append(d.keys, &k)
	}
	return d
}

// types are those of the documents, the whole file's first.
func types() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[Scenario](), reflect.TypeFor[Namespace](), reflect.TypeFor[Settings](),
		reflect.TypeFor[Service](), reflect.TypeFor[Distribution](), reflect.TypeFor[Principal](),
		reflect.TypeFor[Arrivals](), reflect.TypeFor[Client](), reflect.TypeFor[Episode](),
		reflect.TypeFor[Runs](), reflect.TypeFor[Batch](),
	}
}

// documents gives the keys of every type.
func documents() map[reflect.Type]*document {
	all := map[reflect.Type]*document{}
	made := []*document{
		scenarioKeys(), namespaceKeys(), settingsKeys(), serviceKeys(), distributionKeys(), principalKeys(),
		arrivalsKeys(), clientKeys(), episodeKeys(), runsKeys(), batchKeys(),
	}
	for i, t := range types() {
		all[t] = made[i]
	}
	return all
}

func scenarioKeys() *document {
	return entry(reflect.TypeFor[Scenario](), "scenario", "The whole file.", "",
		key{name: "title", about: "A line that says what the scenario is.", example: "One principal asks for too much", required: true},
		key{name: "about", about: "What the scenario shows and what to look for.", example: "Look at the waits of the others."},
		key{name: "duration", about: "How long arrivals go on; then the simulation runs on until every request has ended.", example: "5m", required: true, least: millisecond, most: day},
		key{name: "warmup", about: "What the figures leave out at the beginning; less than the duration.", example: "20s", fallback: "0s", most: day},
		key{name: "sample", about: "The distance of the points of series; at most the duration, and at least a hundred-thousandth of it.", example: "1s", fallback: "a two-hundredth of the duration", most: day},
		key{name: "namespaces", about: "Namespaces are simulated side by side and share nothing.", required: true},
	)
}

func namespaceKeys() *document {
	return entry(reflect.TypeFor[Namespace](), "namespace", "One namespace: who asks, and what carries the work out. It has principals, or runs, or both.", "",
		key{name: "name", about: "Its name, unlike that of the others.", example: "shop", required: true, named: true},
		key{name: "settings", about: "Settings of admission.", fallback: "the defaults of the product"},
		key{name: "service", about: "What carries out what was admitted; needed with principals."},
		key{name: "principals", about: "Who asks, when, and what for."},
		key{name: "episodes", about: "What goes wrong with the service, and when.", fallback: "nothing"},
		key{name: "runs", about: "Batches for the run scheduler."},
	)
}

func settingsKeys() *document {
	return entry(reflect.TypeFor[Settings](), "settings", "Settings of admission under the names that operators know. 0 is the default, but for claim_max_pending.", "",
		key{name: "claim_initial_concurrency", about: "The limit at the beginning; at most claim_max_concurrency.", example: "16", fallback: "32", most: maxSetting},
		key{name: "claim_max_concurrency", about: "The highest limit.", example: "256", fallback: "1024", most: maxSetting},
		key{name: "claim_max_pending", about: "How many requests may wait; 0 is no queue.", example: "400", fallback: "2048", most: maxSetting},
		key{name: "claim_max_wait_ms", about: "How long a request may wait, in milliseconds.", example: "2000", fallback: "10000", most: maxSetting},
		key{name: "claim_target_ms", about: "The service time above which the limit falls, in milliseconds.", example: "100", fallback: "500", most: maxSetting},
		key{name: "fixed", about: "The limit of policies whose limit does not move.", example: "32", fallback: "claim_initial_concurrency", most: maxSetting},
	)
}

func serviceKeys() *document {
	servers, writer := []string{"servers", "sharing"}, []string{"writer"}
	return entry(reflect.TypeFor[Service](), "service", "What carries out requests that were admitted.", "model",
		key{name: "model", about: "delay: each takes its time, whatever else runs. servers: so many at once, the rest in order. sharing: so many servers shared evenly by all that run. writer: one writer that commits in groups.", example: "sharing", required: true, words: []string{"delay", "servers", "sharing", "writer"}},
		key{name: "servers", about: "How many servers there are.", example: "8", fallback: "1", of: servers, most: maxCount},
		key{name: "time", about: "What a request takes by itself; of the model writer, what it takes of the writer before the commit.", required: true},
		key{name: "sync", about: "What the commit of a group takes.", of: writer, needed: writer},
		key{name: "max_group", about: "The most requests in a group; 0 is no bound.", example: "64", fallback: "0", of: writer, most: maxCount},
		key{name: "failures", about: "The share of requests that fail.", example: "0.01", fallback: "0", most: 1},
	)
}

func distributionKeys() *document {
	mean := []string{"constant", "exponential", "lognormal", "hyperexponential"}
	logn, pareto, bounded, hyper := []string{"lognormal"}, []string{"pareto"}, []string{"pareto", "uniform"}, []string{"hyperexponential"}
	return entry(reflect.TypeFor[Distribution](), "distribution", "A random span of time.", "kind",
		key{name: "kind", about: "The law that it follows; hyperexponential has two phases, pareto is bounded.", example: "exponential", required: true, words: []string{"constant", "exponential", "lognormal", "pareto", "hyperexponential", "uniform"}},
		key{name: "mean", about: "The mean; of hyperexponential, that of the first phase.", example: "20ms", of: mean, needed: mean, least: 0, above: true, most: 10 * minute},
		key{name: "sigma", about: "The standard deviation of the logarithm.", example: "0.8", of: logn, needed: logn, above: true, most: maxSigma},
		key{name: "shape", about: "How fast the tail falls; the less, the heavier.", example: "1.5", of: pareto, needed: pareto, least: 0.01, most: maxShape},
		key{name: "min", about: "The least span; of pareto above 0.", example: "5ms", of: bounded, needed: bounded, most: hour},
		key{name: "max", about: "The greatest span; above min.", example: "10s", of: bounded, needed: bounded, above: true, most: hour},
		key{name: "slow", about: "The mean of the second phase.", example: "400ms", of: hyper, needed: hyper, above: true, most: 10 * minute},
		key{name: "share", about: "The share that is in the second phase.", example: "0.05", of: hyper, needed: hyper, most: 1},
	)
}

func principalKeys() *document {
	return entry(reflect.TypeFor[Principal](), "principal", "One principal, or several alike.", "",
		key{name: "name", about: "Its name; of several, NAME-1, NAME-2 and so on. No two principals of a namespace have the same.", example: "batch", required: true, named: true},
		key{name: "count", about: "How many there are, each with arrivals of its own.", example: "20", fallback: "1", most: 100_000},
		key{name: "arrivals", about: "When it asks.", required: true},
		key{name: "client", about: "What it does when it is refused.", fallback: "it comes back as Retry-After says"},
		key{name: "cost", about: "Multiplies the service time of its requests; 0 is 1, and the least is 0.001.", example: "10", fallback: "1", most: maxCost},
		key{name: "patience", about: "How long it waits before it gives a request up; 0 is for ever.", example: "5s", fallback: "0s", most: day},
	)
}

func clientKeys() *document {
	back := []string{"backoff"}
	again := []string{"after", "immediate", "backoff"}
	return entry(reflect.TypeFor[Client](), "client", "What a client does when it is refused.", "retry",
		key{name: "retry", about: "after: it waits as Retry-After says, and some more. immediate: it sends again at once, or after base. backoff: exponential with full jitter, whatever Retry-After says. never: it gives up.", example: "backoff", fallback: "after", words: []string{"after", "immediate", "backoff", "never"}},
		key{name: "jitter", about: "How much is added to Retry-After at random, as a share of it.", example: "0.5", fallback: "0.2", of: []string{"after"}, most: 10},
		key{name: "attempts", about: "How often a request is sent at most.", example: "5", fallback: "10", of: again, most: maxAttempts},
		key{name: "base", about: "Of backoff the pause that doubles, 100ms if absent; of immediate the pause, none if absent.", example: "50ms", fallback: "100ms", of: []string{"immediate", "backoff"}, most: hour},
		key{name: "cap", about: "The longest pause; at least base.", example: "10s", fallback: "30s", of: back, most: hour},
	)
}

func episodeKeys() *document {
	changes := []string{"slow", "leak"}
	return entry(reflect.TypeFor[Episode](), "episode", "Something that goes wrong with the service for a time. Where episodes overlap, factors multiply.", "kind",
		key{name: "kind", about: "slow: all times are multiplied by factor. stall: nothing goes on. leak: times grow evenly up to factor.", example: "slow", required: true, words: []string{"slow", "stall", "leak"}},
		key{name: "from", about: "When it begins; before the end of the scenario.", example: "2m", required: true, most: day},
		key{name: "to", about: "When it ends; after from.", example: "3m", required: true, above: true, most: 2 * day},
		key{name: "factor", about: "How many times longer everything takes.", example: "8", of: changes, needed: changes, least: 1, most: maxFactor},
		key{name: "every", about: "Repeats it at this distance; longer than it lasts, and at least a two-thousandth of the duration. 0 is once.", example: "10s", fallback: "0s", most: day},
	)
}

func runsKeys() *document {
	return entry(reflect.TypeFor[Runs](), "runs", "Batches of items that tenants submit and workers carry out.", "",
		key{name: "quantum_items", about: "The most items that a worker's slot takes at once.", example: "8", fallback: "4", most: 1_000},
		key{name: "quantum_cost", about: "The estimated cost that ends a quantum; 0 is no bound.", example: "100", fallback: "0", most: 1e15},
		key{name: "workers", about: "How many workers there are.", example: "4", required: true, least: 1, most: 10_000},
		key{name: "slots", about: "How many slots each worker has.", example: "2", required: true, least: 1, most: 1_000},
		key{name: "lost", about: "The mean time between losses of a worker's quantum; 0 is never, and the least is 1ms.", example: "1m", fallback: "0s", most: day},
		key{name: "lease", about: "How long the items of a lost quantum are gone; 0 is the default.", example: "30s", fallback: "60s", most: hour},
		key{name: "batches", about: "What tenants submit.", required: true},
	)
}

func batchKeys() *document {
	return entry(reflect.TypeFor[Batch](), "batch", "A run that a tenant submits, perhaps again and again.", "",
		key{name: "tenant", about: "Whose it is; a tenant may have several batches.", example: "acme", required: true, named: true},
		key{name: "at", about: "When it is submitted first; before the end of the scenario.", example: "10s", fallback: "0s", most: day},
		key{name: "every", about: "How long after that it is submitted again; needed if times is above 1, and only then allowed.", example: "20s", fallback: "0s", most: day},
		key{name: "times", about: "How often it is submitted, the last time before the end of the scenario.", example: "12", fallback: "1", most: 100_000},
		key{name: "items", about: "How many items it has.", example: "50", required: true, least: 1, most: 100_000},
		key{name: "cost", about: "The estimated cost of an item.", example: "3", fallback: "1", most: 1_000_000_000},
		key{name: "time", about: "What an item takes.", required: true},
	)
}
