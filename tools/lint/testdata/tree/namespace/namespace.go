// Package namespace declares variables of every kind.
package namespace

import (
	"embed"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"sync/atomic"
	"time"
)

//go:embed namespace.go
var sources embed.FS

// ErrGone and its kin are compared, not changed.
var ErrGone = errors.New("gone")

var errLate = fmt.Errorf("late: %w", ErrGone)

var _ fmt.Stringer = name("")

type name string

func (n name) String() string { return string(n) }

var namePattern = regexp.MustCompile(`^[a-z]+$`)

var order = []string{"heartbeat", "submit", "claim"}

var rank = map[string]struct {
	first bool
	next  []int
}{"heartbeat": {first: true}}

// Defaults can be changed by whoever imports it.
var Defaults = []time.Duration{time.Second} // want `Defaults is mutable state: every importer can change it`

var errReplaced = errors.New("a") // want `errReplaced is mutable state: it is changed at .*namespace.go:\d+`

var (
	opened  int                   // want `opened is mutable state: it is changed at`
	reached int                   // want `reached is mutable state: it is changed at`
	seen    = map[string]bool{}   // want `seen is mutable state: it is changed at`
	counts  [4]int                // want `counts is mutable state: it is changed at`
	names   = map[string]int{}    // want `names is mutable state: it is changed at`
	shared  = struct{ n int }{}   // want `shared is mutable state: it is changed at`
	mu      sync.Mutex            // want `mu is mutable state: it is changed at`
	total   atomic.Int64          // want `total is mutable state: it is changed at`
	signal  = make(chan struct{}) // want `signal is mutable state: chan struct{} is neither`
	last    *time.Time            // want `last is mutable state: \*time.Time is neither`
	shards  = []*name{new(name)}  // want `shards is mutable state: .* is neither`
	speaker fmt.Stringer          // want `speaker is mutable state: fmt.Stringer is neither`
)

func use(s string) (*struct{ n int }, error) {
	mu.Lock()
	defer mu.Unlock()
	total.Add(1)
	opened++
	for reached = range 3 {
	}
	seen[s] = true
	(counts[1:3])[0] = 1
	delete(names, s)
	errReplaced = errLate
	opened := 3 // another variable
	opened++
	return &shared, nil
}
