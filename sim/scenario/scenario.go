// Package scenario holds the files that say what to simulate: namespaces, who asks for
// what and when, how long work takes, and what goes wrong. Files are YAML; an error
// names the file, the line and the key.
package scenario

import "time"

// Scenario is one file.
type Scenario struct {
	// Name is that of the file without its ending, and Title a line about it.
	Name  string `yaml:"-"`
	Title string `yaml:"title,omitempty"`
	// About says what the scenario shows and what to look for.
	About string `yaml:"about,omitempty"`
	// Duration is how long arrivals go on; then the simulation runs on until every
	// request has ended. Warmup is what the figures leave out at the beginning.
	Duration Span `yaml:"duration,omitempty"`
	Warmup   Span `yaml:"warmup,omitempty"`
	// Sample is the distance of the points of series; 0 is a two-hundredth of Duration.
	Sample Span `yaml:"sample,omitempty"`
	// Namespaces are simulated side by side; they share nothing.
	Namespaces []Namespace `yaml:"namespaces,omitempty"`
}

// Span is a duration in YAML, written as in Go: 1.5s, 200ms.
type Span time.Duration

// Namespace is one namespace with its settings, its server and those who use it.
type Namespace struct {
	Name string `yaml:"name,omitempty"`
	// Settings are claim_… settings of the namespace; absent ones have their defaults.
	Settings Settings `yaml:"settings,omitempty"`
	// Service is what carries out what was admitted.
	Service Service `yaml:"service,omitempty"`
	// Principals ask; each has a workload.
	Principals []Principal `yaml:"principals,omitempty"`
	// Episodes are what goes wrong with the service, and when.
	Episodes []Episode `yaml:"episodes,omitempty"`
	// Runs are batches for the run scheduler; a namespace has these, or principals, or
	// both.
	Runs *Runs `yaml:"runs,omitempty"`
}

// Settings are those of the admission controller, under the names that operators know.
type Settings struct {
	InitialConcurrency int  `yaml:"claim_initial_concurrency,omitempty"`
	MaxConcurrency     int  `yaml:"claim_max_concurrency,omitempty"`
	MaxPending         *int `yaml:"claim_max_pending,omitempty"` // 0 is no queue
	MaxWaitMs          int  `yaml:"claim_max_wait_ms,omitempty"`
	TargetMs           int  `yaml:"claim_target_ms,omitempty"`
	// Fixed is the limit of the policy fixed; 0 is InitialConcurrency.
	Fixed int `yaml:"fixed,omitempty"`
}

// Service says how requests that were admitted are carried out.
type Service struct {
	// Model is one of "delay" (each takes its time, whatever else runs), "servers" (so
	// many at once, the rest in order), "sharing" (so many servers shared by all that
	// run) and "writer" (one writer that commits in groups).
	Model string `yaml:"model,omitempty"`
	// Servers of the models servers and sharing; 0 is 1.
	Servers int `yaml:"servers,omitempty"`
	// Time is what a request takes by itself; of the model writer, what it takes of
	// the writer before the commit.
	Time Distribution `yaml:"time,omitempty"`
	// Sync is what the commit of a group takes, of the model writer.
	Sync Distribution `yaml:"sync,omitempty"`
	// MaxGroup bounds a group; 0 is no bound.
	MaxGroup int `yaml:"max_group,omitempty"`
	// Failures is the share of requests that fail, 0 to 1.
	Failures float64 `yaml:"failures,omitempty"`
}

// Distribution is a random span of time.
type Distribution struct {
	// Kind is one of constant, exponential, lognormal, pareto, hyperexponential (two
	// phases) and uniform.
	Kind string `yaml:"kind,omitempty"`
	// Mean is the mean of all kinds but pareto and uniform.
	Mean Span `yaml:"mean,omitempty"`
	// Sigma is the standard deviation of the logarithm, of lognormal.
	Sigma float64 `yaml:"sigma,omitempty"`
	// Shape, Min and Max are those of the bounded Pareto; Min and Max of uniform.
	Shape float64 `yaml:"shape,omitempty"`
	Min   Span    `yaml:"min,omitempty"`
	Max   Span    `yaml:"max,omitempty"`
	// Slow is the mean of the second phase of hyperexponential, and Share how many
	// requests are in it, 0 to 1.
	Slow  Span    `yaml:"slow,omitempty"`
	Share float64 `yaml:"share,omitempty"`
}

// Principal is one principal, or Count alike ones called NAME-1, NAME-2, ….
type Principal struct {
	Name  string `yaml:"name,omitempty"`
	Count int    `yaml:"count,omitempty"`
	// Arrivals say when it asks.
	Arrivals Arrivals `yaml:"arrivals,omitempty"`
	// Client says what it does when it is refused.
	Client Client `yaml:"client,omitempty"`
	// Cost multiplies the service time of its requests; 0 is 1.
	Cost float64 `yaml:"cost,omitempty"`
	// Patience is how long it waits before it gives a request up; 0 is for ever.
	Patience Span `yaml:"patience,omitempty"`
}

// Arrivals say when a principal asks.
type Arrivals struct {
	// Kind is one of poisson, bursty (two states), closed (each of Clients asks, waits
	// for the answer, thinks), ramp, onoff, flash (a crowd at one time), even (regular)
	// and trace (a CSV file of times).
	Kind string `yaml:"kind,omitempty"`
	// Rate is the mean number of requests a second: of bursty in the quiet state, of
	// ramp at the beginning.
	Rate float64 `yaml:"rate,omitempty"`
	// Peak is the rate of bursty in the other state, of ramp at the end, of onoff
	// when on and of flash in the crowd.
	Peak float64 `yaml:"peak,omitempty"`
	// Quiet and Burst are the mean time in the states of bursty; On and Off the times
	// of onoff.
	Quiet Span `yaml:"quiet,omitempty"`
	Burst Span `yaml:"burst,omitempty"`
	On    Span `yaml:"on,omitempty"`
	Off   Span `yaml:"off,omitempty"`
	// From and To bound the time in which the principal asks; To 0 is the end. Of
	// flash they bound the crowd.
	From Span `yaml:"from,omitempty"`
	To   Span `yaml:"to,omitempty"`
	// Clients and Think are those of closed.
	Clients int          `yaml:"clients,omitempty"`
	Think   Distribution `yaml:"think,omitempty"`
	// Zipf, if above 0, spreads the requests over Count principals by that exponent.
	Zipf float64 `yaml:"zipf,omitempty"`
	// File is the CSV file of trace: a column at, in seconds, perhaps cost.
	File string `yaml:"file,omitempty"`
	// Trace is what the file holds.
	Trace []TracePoint `yaml:"-"`
}

// TracePoint is one arrival of a recorded trace.
type TracePoint struct {
	At   time.Duration
	Cost float64
}

// Client says what a client does when it is refused.
type Client struct {
	// Retry is one of "after" (as Retry-After says, with jitter), "immediate",
	// "backoff" (exponential, full jitter, without a look at Retry-After) and "never".
	Retry string `yaml:"retry,omitempty"`
	// Jitter is added to Retry-After, as a share of it; 0.2 if absent.
	Jitter *float64 `yaml:"jitter,omitempty"`
	// Attempts bounds how often a request is sent; 0 is 10.
	Attempts int `yaml:"attempts,omitempty"`
	// Base and Cap are those of backoff; 0 is 100ms and 30s. Base is the pause of
	// immediate.
	Base Span `yaml:"base,omitempty"`
	Cap  Span `yaml:"cap,omitempty"`
}

// Episode is something that goes wrong with the service for a time.
type Episode struct {
	// Kind is one of slow (all times are multiplied by Factor), stall (nothing goes
	// on) and leak (times grow evenly up to Factor, and stay so until To).
	Kind   string  `yaml:"kind,omitempty"`
	From   Span    `yaml:"from,omitempty"`
	To     Span    `yaml:"to,omitempty"`
	Factor float64 `yaml:"factor,omitempty"`
	// Every repeats the episode; 0 is once.
	Every Span `yaml:"every,omitempty"`
}

// Runs are batches of items that tenants submit and workers carry out.
type Runs struct {
	QuantumItems int   `yaml:"quantum_items,omitempty"` // 0 is 4
	QuantumCost  int64 `yaml:"quantum_cost,omitempty"`
	// Workers and Slots are how many workers there are, and how many slots each has.
	Workers int `yaml:"workers,omitempty"`
	Slots   int `yaml:"slots,omitempty"`
	// Lost is the mean time between losses of a worker's quantum; 0 is never. Lease is
	// how long the items of a lost quantum are gone; 0 is 60s.
	Lost  Span `yaml:"lost,omitempty"`
	Lease Span `yaml:"lease,omitempty"`
	// Batches are what tenants submit.
	Batches []Batch `yaml:"batches,omitempty"`
}

// Batch is a run that a tenant submits, perhaps again and again.
type Batch struct {
	Tenant string `yaml:"tenant,omitempty"`
	// At is when it is submitted first, Every how often after that, up to Times.
	At    Span `yaml:"at,omitempty"`
	Every Span `yaml:"every,omitempty"`
	Times int  `yaml:"times,omitempty"` // 0 is 1
	Items int  `yaml:"items,omitempty"`
	// Cost is the estimated cost of an item, and Time what it takes.
	Cost int64        `yaml:"cost,omitempty"`
	Time Distribution `yaml:"time,omitempty"`
}
