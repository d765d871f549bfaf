package scenario

import "time"

// Defaults of what a file leaves out.
const (
	defaultInitial   = 32
	defaultMax       = 1024
	defaultPending   = 2048
	defaultMaxWaitMs = 10_000
	defaultTargetMs  = 500

	defaultAttempts     = 10
	defaultJitter       = 0.2
	defaultBase         = Span(100 * time.Millisecond)
	defaultCap          = Span(30 * time.Second)
	defaultLease        = Span(time.Minute)
	defaultQuantumItems = 4

	samples = 200
)

// complete puts the defaults where the file says nothing.
func (s *Scenario) complete() {
	fill(&s.Sample, max(s.Duration/samples, 1))
	for i := range s.Namespaces {
		s.Namespaces[i].complete(s.Duration)
	}
}

func (n *Namespace) complete(duration Span) {
	n.Settings.complete()
	if m := n.Service.Model; m == "servers" || m == "sharing" {
		fill(&n.Service.Servers, 1)
	}
	for i := range n.Principals {
		p := &n.Principals[i]
		fill(&p.Count, 1)
		fill(&p.Cost, 1)
		if p.Arrivals.Kind != "trace" {
			fill(&p.Arrivals.To, duration)
		}
		p.Client.complete()
	}
	if n.Runs != nil {
		n.Runs.complete()
	}
}

func (s *Settings) complete() {
	fill(&s.InitialConcurrency, defaultInitial)
	fill(&s.MaxConcurrency, defaultMax)
	fill(&s.MaxWaitMs, defaultMaxWaitMs)
	fill(&s.TargetMs, defaultTargetMs)
	fill(&s.Fixed, s.InitialConcurrency)
	if s.MaxPending == nil {
		s.MaxPending = new(defaultPending)
	}
}

func (c *Client) complete() {
	fill(&c.Retry, "after")
	if c.Retry != "never" {
		fill(&c.Attempts, defaultAttempts)
	}
	switch c.Retry {
	case "after":
		if c.Jitter == nil {
			c.Jitter = new(defaultJitter)
		}
	case "backoff":
		fill(&c.Base, defaultBase)
		fill(&c.Cap, max(defaultCap, c.Base))
	}
}

func (r *Runs) complete() {
	fill(&r.QuantumItems, defaultQuantumItems)
	fill(&r.Lease, defaultLease)
	for i := range r.Batches {
		fill(&r.Batches[i].Times, 1)
		fill(&r.Batches[i].Cost, 1)
	}
}

// fill sets what is zero.
func fill[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}
