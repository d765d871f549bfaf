package runs

import (
	"embed"
	"io/fs"
	"log/slog"
	"slices"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// className is the prefix of the tables, and the name by which calls are addressed
// to the class.
const className = "runs"

//go:embed migrations/*.sql
var migrations embed.FS

// Options configure the class. The zero value has no handlers: all work is done by
// workers over HTTP.
type Options struct {
	// Handlers work on items inside the process, by kind. What the kinds are must be
	// in the settings.
	Handlers map[string]Handler
	// Slots is how many quanta of runs handlers work on at once, in all namespaces
	// together; 0 means 1. Singular calls have one slot each in the pools default and
	// slow, whatever runs do.
	Slots int
	// Logger gets the panics of handlers; nil discards them.
	Logger *slog.Logger
}

// Class is the service of durable runs as a class of namespaces. With handlers it
// serves one runtime.
func Class(o Options) namespace.Class {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		panic(err) // the name is constant and valid
	}
	crew := newCrew(o)
	c := namespace.Class{
		Name:       className,
		Migrations: files,
		New:        func() any { return newMemory(crew) },
		Routes:     slices.Concat(producerRoutes(), workerRoutes()),
		Describe:   crew.describe,
		Limits: map[string]int64{
			"run_items":         maxItems,
			"run_body_bytes":    maxBodyBytes,
			"run_result_cells":  maxCells,
			"run_item_id_chars": maxItemName,
			"run_metadata":      maxMetadataBytes,
			"item_result_bytes": maxResultBytes,
			"item_timeout_ms":   maxTimeoutMs,
			"quantum_wait_ms":   maxWaitMs,
			"invoke_pending":    maxCallsWaiting,
		},
	}
	if crew.works() {
		c.Topics, c.Attend, c.Stop = crew.topics(), crew.attend, crew.stop
	}
	return c
}

// Bounds that settings cannot move.
const (
	maxItems         = 1_000
	maxBodyBytes     = 5 << 20
	maxCells         = 100_000
	maxItemName      = 200
	maxMetadataBytes = 16 << 10
	maxResultBytes   = 1 << 20
	maxTimeoutMs     = 60_000
	maxWaitMs        = 30_000
	maxCallsWaiting  = 1_000
)

// Values of a kind where it does not say.
const (
	defaultTimeoutMs = 60_000
	defaultAttempts  = 3
)

// graceMs is what a quantum has beyond the time limits of its items, for its
// worker to report.
const graceMs = 5_000

// timeoutOf is the time limit of an item of a kind.
func timeoutOf(k api.Kind) int64 {
	if k.TimeoutMs != nil {
		return *k.TimeoutMs
	}
	return defaultTimeoutMs
}

// attemptsOf is how often an item of a kind is granted at most.
func attemptsOf(k api.Kind) int {
	if k.MaxAttempts != nil {
		return *k.MaxAttempts
	}
	return defaultAttempts
}
