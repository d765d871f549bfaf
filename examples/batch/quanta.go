package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// quantum is a quantum that was worked on, by when the first of its results was
// committed.
type quantum struct {
	tenant string
	at     time.Time
}

// readWorked adds from what a worker has printed which item was done in which quantum.
// The line that a kill cut off says nothing.
func readWorked(path string, worked map[itemOf]string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read worker's output: %w", err)
	}
	for line := range bytes.Lines(data) {
		var l struct {
			Run, Item, Quantum, Result string
		}
		if json.Unmarshal(line, &l) == nil && l.Result == "succeeded" {
			worked[itemOf{l.Run, l.Item}] = l.Quantum
		}
	}
	return nil
}

// quantaOf lists the quanta of the tenants in the order of their first results. The
// events of runs know no quanta: which item was in which, the workers have told. What
// the killed one could not tell any more is told apart by the time of its commit.
func quantaOf(tenants []*tenant, worked map[itemOf]string) []quantum {
	var quanta []quantum
	for _, t := range tenants {
		seen := make(map[string]bool)
		for _, e := range t.events {
			if e.Type != eventSucceeded {
				continue
			}
			id := worked[itemOf{t.run.ID, e.ItemID}]
			if id == "" {
				id = e.At.String()
			}
			if !seen[id] {
				seen[id] = true
				quanta = append(quanta, quantum{t.name, *e.At})
			}
		}
	}
	slices.SortStableFunc(quanta, func(a, b quantum) int { return a.at.Compare(b.at) })
	return quanta
}

// contested are the quanta from the time when all tenants had work to that when the
// first had none any more.
func contested(quanta []quantum, tenants []*tenant) []quantum {
	var from, to time.Time
	for _, t := range tenants {
		if t.run.CreatedAt.After(from) {
			from = t.run.CreatedAt
		}
		if to.IsZero() || t.run.EndedAt.Before(to) {
			to = *t.run.EndedAt
		}
	}
	var both []quantum
	for _, q := range quanta {
		if !q.at.Before(from) && !q.at.After(to) {
			both = append(both, q)
		}
	}
	return both
}

// count counts the quanta of a tenant.
func count(quanta []quantum, tenant string) int {
	n := 0
	for _, q := range quanta {
		if q.tenant == tenant {
			n++
		}
	}
	return n
}

// order writes whose quanta were done one after the other, four and more of the same
// tenant as "A×4".
func order(quanta []quantum) string {
	var words []string
	for i := 0; i < len(quanta); {
		n := 1
		for i+n < len(quanta) && quanta[i+n].tenant == quanta[i].tenant {
			n++
		}
		if n < 4 {
			words = append(words, slices.Repeat([]string{quanta[i].tenant}, n)...)
		} else {
			words = append(words, fmt.Sprintf("%s×%d", quanta[i].tenant, n))
		}
		i += n
	}
	return strings.Join(words, " ")
}
