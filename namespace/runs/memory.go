package runs

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/runs/schedule"
)

// agingMs is the wait after which a run cannot lose every decision.
const agingMs = 5_000

// memory mirrors what has not ended: the scheduler, the runs, the quanta that are
// held and the tenants' reservations, and besides them the singular calls, which are
// nowhere else. It belongs to the namespace's writer.
type memory struct {
	crew     *crew
	schedule *schedule.Scheduler
	runs     map[int64]*run
	quanta   map[int64]*quantum // by fence
	tenants  map[string]*tenant
	calls    calls
	seen     *seen
	polls    polls
	// due is when a lease has to be looked at; 0 is never.
	due int64
}

// run is one run: what it is, and how it stands. That of a run that has not ended
// is the one in memory.
type run struct {
	id          int64
	tenant      string
	kind        string
	timeoutMs   int64
	maxAttempts int
	cells       int64
	bytes       int64
	createdAt   int64
	sharedSHA   [32]byte

	status     api.RunStatus
	cancelling bool
	progress   api.Progress
	events     int64
	startedAt  int64
	endedAt    int64
	expiresAt  int64
	// attained and waitingSince are those of the file; while the run is in memory
	// the scheduler's are newer.
	attained     int64
	waitingSince int64
}

// quantum is a lease on a few items of a run, or on one singular call.
type quantum struct {
	id        quantumID
	principal string
	pool      string
	// asked are the kinds that the request named; none for any.
	asked    []string
	leaseMs  int64
	until    int64 // of the lease
	deadline int64
	// node is the process whose handlers hold it, "" for others.
	node string
	// items are the indexes that were granted.
	items []int
	// call is set for a singular one.
	call *call
}

// tenant is a row of runs_tenant, but for what the scheduler knows.
type tenant struct {
	id   int64
	name string
	used api.Budgets
}

func newMemory(c *crew) *memory {
	m := &memory{crew: c, seen: newSeen(), calls: newCalls()}
	m.clear()
	return m
}

// clear forgets what is in the file.
func (m *memory) clear() {
	m.schedule = schedule.New(agingMs)
	m.runs = map[int64]*run{}
	m.quanta = map[int64]*quantum{}
	m.tenants = map[string]*tenant{}
	m.due = 0
}

// Shared lets queries see who has asked for work.
func (m *memory) Shared() any { return m.seen }

// Activate fills the memory, and takes back what handlers of the node held when it
// ended.
func (m *memory) Activate(t *namespace.Turn) error {
	if err := m.load(&t.View); err != nil {
		return err
	}
	c := begin(t)
	if err := c.resume(); err != nil {
		return err
	}
	if err := c.cutLeases(); err != nil {
		return err
	}
	if err := c.setAlarm(); err != nil {
		return err
	}
	return c.finish()
}

// RolledBack brings the memory back in line with the file. Singular calls cannot be
// told apart by whether their grant was rolled back, so all of them end.
func (m *memory) RolledBack(v *namespace.View) error {
	m.calls.abandonAll()
	m.clear()
	if err := m.load(v); err != nil {
		return err
	}
	for _, q := range m.quanta {
		if m.due == 0 || q.until < m.due {
			m.due = q.until
		}
	}
	return nil
}

// load fills an empty memory from the file.
func (m *memory) load(v *namespace.View) error {
	if err := m.loadTenants(v); err != nil {
		return fmt.Errorf("load tenants: %w", err)
	}
	if err := m.loadRuns(v); err != nil {
		return fmt.Errorf("load runs: %w", err)
	}
	if err := m.loadQuanta(v); err != nil {
		return fmt.Errorf("load quanta: %w", err)
	}
	return nil
}

func milliseconds(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

func millis(t time.Time) int64 { return t.UnixMilli() }

// moment is the time of a stored number, which is not 0.
func moment(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// optionalMoment is nil for 0.
func optionalMoment(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := moment(ms)
	return &t
}
