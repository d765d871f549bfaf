package namespace

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"github.com/skerryhq/skerry/admission"
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/storage"
)

// busiest is how many principals an admin is shown.
const busiest = 1000

// Admission tells how claims are admitted at this moment. An admin sees the
// busiest principals, anybody else its own row.
func (n Namespace) Admission(ctx context.Context, caller Caller) (api.AdmissionStatus, error) {
	var doc api.AdmissionStatus
	err := n.inspect(ctx, func(i *instance) { doc = i.status(caller) })
	return doc, err
}

func (i *instance) status(caller Caller) api.AdmissionStatus {
	now := i.now().UnixNano()
	c := i.gate.Counters()
	doc := api.AdmissionStatus{
		Mode: i.gate.Mode().String(), Limit: i.gate.Limit(), Concurrency: i.gate.Concurrency(),
		InFlight: i.gate.InFlight(), Pending: i.gate.Pending(), Parked: i.lot.size,
		OldestWaitMs: milliseconds(i.gate.OldestWait(now)), TargetMs: i.settings.Load().ClaimTargetMs,
		Admitted: int64(c.Decisions[admission.Start]), Refused: i.refusals(),
		WouldWait: int64(c.WouldWait), WouldRefuse: map[string]int64{}, Principals: []api.PrincipalStatus{},
	}
	if average, ok := i.gate.Average(); ok {
		ms := average / float64(time.Millisecond)
		doc.AverageMs = &ms
	}
	for r, n := range c.WouldRefuse {
		if n > 0 {
			doc.WouldRefuse[admission.Reason(r).String()] = int64(n)
		}
	}
	if !caller.Has(api.RoleAdmin) {
		doc.Principals = append(doc.Principals, i.standing(i.gate.Standing(now, caller.Principal)))
		return doc
	}
	doc.Principals = i.standings(now)
	return doc
}

// refusals counts the refused by reason: what the gate refused, and the quotas
// before it.
func (i *instance) refusals() map[string]int64 {
	all := map[string]int64{}
	for r, n := range i.gate.Counters().Refused {
		if n > 0 {
			all[admission.Reason(r).String()] = int64(n)
		}
	}
	for r, n := range i.tally.refused {
		all[r] += n
	}
	return all
}

func (i *instance) standing(s admission.Standing) api.PrincipalStatus {
	return api.PrincipalStatus{
		Principal: s.Principal, InFlight: s.InFlight, Pending: s.Pending, Parked: i.lot.of(s.Principal),
		OldestWaitMs: milliseconds(s.OldestWait),
	}
}

// standings are the principals with most requests first.
func (i *instance) standings(now int64) []api.PrincipalStatus {
	rows := []api.PrincipalStatus{}
	seen := map[string]bool{}
	for s := range i.gate.Principals(now) {
		seen[s.Principal] = true
		rows = append(rows, i.standing(s))
	}
	for name := range i.lot.principals {
		if !seen[name] {
			rows = append(rows, i.standing(admission.Standing{Principal: name}))
		}
	}
	slices.SortFunc(rows, func(a, b api.PrincipalStatus) int {
		return cmp.Or(cmp.Compare(b.InFlight+b.Pending+b.Parked, a.InFlight+a.Pending+a.Parked), cmp.Compare(a.Principal, b.Principal))
	})
	return rows[:min(len(rows), busiest)]
}

// Stats are the figures of one active namespace, as of its last turn; those of
// Storage are of this moment. They must not be changed.
type Stats struct {
	Namespace string
	Mode      string
	Limit     float64
	InFlight  int
	Pending   int
	Parked    int
	// Admitted counts what admission let in, Refused what it or a quota did not,
	// by reason, and WouldWait and WouldRefuse what shadow mode let in all the
	// same.
	Admitted, WouldWait  int64
	Refused, WouldRefuse map[string]int64
	// Service is the measured service time of admitted commands.
	Service Histogram
	Storage storage.Stats
}

// Histogram counts durations. Counts[i] are those of at most Bounds()[i], the
// last those above all bounds; it is not cumulative.
type Histogram struct {
	Counts []uint64
	Sum    time.Duration
}

// Bounds are the upper bounds of a [Histogram]'s buckets.
func (Histogram) Bounds() []time.Duration { return serviceBounds[:] }

// serviceBounds spans from a fast commit to a store in distress.
var serviceBounds = [...]time.Duration{
	time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2500 * time.Millisecond, 5 * time.Second, 10 * time.Second,
}

// tally is what the actor counts beside the gate.
type tally struct {
	refused map[string]int64
	service observations
}

type observations struct {
	counts [len(serviceBounds) + 1]uint64
	sum    time.Duration
}

func newTally() tally { return tally{refused: map[string]int64{}} }

func (o *observations) observe(d time.Duration) {
	at, _ := slices.BinarySearch(serviceBounds[:], d)
	o.counts[at]++
	o.sum += d
}

// publish makes the turn's figures visible to whoever collects metrics.
func (i *instance) publish() {
	i.changed = false
	c := i.gate.Counters()
	s := &Stats{
		Namespace: i.name, Mode: i.gate.Mode().String(), Limit: i.gate.Limit(), InFlight: i.gate.InFlight(),
		Pending: i.gate.Pending(), Parked: i.lot.size, Admitted: int64(c.Decisions[admission.Start]),
		WouldWait: int64(c.WouldWait), Refused: i.refusals(), WouldRefuse: map[string]int64{},
		Service: Histogram{Counts: slices.Clone(i.tally.service.counts[:]), Sum: i.tally.service.sum},
	}
	for r, n := range c.WouldRefuse {
		if n > 0 {
			s.WouldRefuse[admission.Reason(r).String()] = int64(n)
		}
	}
	i.stats.Store(s)
}

// Stats yields the figures of the active namespaces.
func (r *Runtime) Stats() iter.Seq[Stats] {
	return func(yield func(Stats) bool) {
		for _, i := range r.directory.Active() {
			s := i.stats.Load()
			if s == nil {
				continue
			}
			with := *s
			with.Storage = i.file.Stats()
			if !yield(with) {
				return
			}
		}
	}
}

// NodeStats are the figures of the node.
type NodeStats struct {
	Namespaces   int
	Active       int
	MaxActive    int
	Activations  int64
	Passivations int64
	Descriptors  int64
	// Stuck names namespaces whose actor has been busy with one message for
	// longer than ten seconds.
	Stuck []string
}

// stuckAfter is how long a turn may take before its namespace counts as stuck.
const stuckAfter = 10 * time.Second

// NodeStats gives the node's figures.
func (r *Runtime) NodeStats() NodeStats {
	return NodeStats{
		Namespaces: r.names.len(), Active: r.directory.Len(), MaxActive: r.maxActive,
		Activations: r.activations.Load(), Passivations: r.passivations.Load(),
		Descriptors: r.store.Descriptors(), Stuck: r.directory.Stuck(stuckAfter),
	}
}

// Ready reports whether the node can do its work: it is not draining, no actor
// is stuck, and the data directory takes a synced write and gives it back.
func (r *Runtime) Ready(ctx context.Context) error {
	if r.Draining() {
		return errShuttingDown(nil)
	}
	if stuck := r.directory.Stuck(stuckAfter); len(stuck) > 0 {
		return unavailable("a namespace does not come to an end with a message").With("stuck", stuck)
	}
	if err := r.store.Probe(ctx); err != nil {
		return publicError(err)
	}
	return nil
}
