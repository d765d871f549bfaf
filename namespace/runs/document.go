package runs

import (
	"encoding/json"
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// document is the run as its tenant sees it. base is the path below which the
// namespace's routes lie.
func (r *run) document(v *namespace.View, base, metadata string) *api.Run {
	id := runID(v, r.id, r.tenant)
	path := base + "/runs/" + id
	doc := &api.Run{
		ID: id, Object: "run", Kind: r.kind, Status: r.status, Progress: r.progress, LastEventSequence: r.events,
		Links: map[string]string{
			"self": path, "items": path + "/items", "results": path + "/results", "events": path + "/events", "cancel": path + ":cancel",
		},
		Metadata: json.RawMessage(metadata), CancelRequested: r.cancelling && !r.status.Ended(),
		CreatedAt: moment(r.createdAt), StartedAt: optionalMoment(r.startedAt), EndedAt: optionalMoment(r.endedAt),
		ExpiresAt: moment(r.expires(v)),
	}
	if !r.status.Ended() && r.progress.Running == 0 {
		doc.WaitingFor = v.Shared().(*seen).waiting(r.kind, r.waitingSince, millis(v.Now()))
	}
	return doc
}

// expires is when all that is known of the run is gone. A run that has not ended
// moves that on: it is always what it would be if the run ended now.
func (r *run) expires(v *namespace.View) int64 {
	if r.status.Ended() {
		return r.expiresAt
	}
	return millis(v.Now()) + v.Settings().RetentionMs
}

// documentOf is the document of a run as the turn has left it.
func (c *change) documentOf(r *run, base string) (*api.Run, error) {
	var metadata string
	if _, err := c.QueryRow(sqlReadMetadata, []any{r.id}, &metadata); err != nil {
		return nil, fmt.Errorf("read metadata: %w", err)
	}
	return r.document(&c.View, base, metadata), nil
}

// runOf finds the run of a quantum, which may have ended. Nothing is open of one that
// is gone.
func (c *change) runOf(number int64) (*run, error) {
	if r := c.m.runs[number]; r != nil {
		return r, nil
	}
	r, _, err := findRun(&c.View, number)
	if api.IsCode(err, api.RunExpired) {
		return nil, errStale()
	}
	return r, err
}
