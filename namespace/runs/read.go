package runs

import (
	"context"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// findRun reads a run of which it is known that it was once admitted. One that is
// gone, or whose time is over, has expired.
func findRun(v *namespace.View, number int64) (r *run, metadata string, err error) {
	rows, err := v.Query(sqlRunByID, number)
	if err != nil {
		return nil, "", fmt.Errorf("read run: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return nil, "", fmt.Errorf("read run: %w", err)
		}
		return nil, "", errExpired()
	}
	if r, err = scanRun(rows, &metadata); err != nil {
		return nil, "", err
	}
	if r.expired(v) {
		return nil, "", errExpired()
	}
	return r, metadata, nil
}

func errExpired() error {
	return api.Errorf(api.RunExpired, "the run's retention is over")
}

// expired reports whether all that is known of the run counts as gone.
func (r *run) expired(v *namespace.View) bool {
	return r.status.Ended() && r.expiresAt <= millis(v.Now())
}

// openRun reads a run by the id that its tenant knows.
func openRun(v *namespace.View, id string) (r *run, metadata string, err error) {
	number, err := openRunID(v, id)
	if err != nil {
		return nil, "", err
	}
	return findRun(v, number)
}

// getRun reads one run.
type getRun struct {
	base string
	run  string
}

// Read gives the run's document.
func (g *getRun) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	r, metadata, err := openRun(v, g.run)
	if err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Body: r.document(v, g.base, metadata)}, nil
}
