package admission

import (
	"fmt"

	"pgregory.net/rapid"
)

// An event is one call of a controller or a gate, as data.
type event struct {
	do        string // "arrive", "finish", "finish in", "discard", "cancel", "tick", "reconfigure", "mode"
	now       int64
	id        ID
	principal string
	service   int64
	config    Config
	mode      Mode
}

// stepper is what controllers, gates and the model of a controller share.
type stepper interface {
	Arrive(now int64, id ID, principal string) []Decision
	Finish(now int64, id ID) []Decision
	FinishIn(now int64, id ID, service int64) []Decision
	Discard(now int64, id ID) []Decision
	Cancel(now int64, id ID) []Decision
	Tick(now int64) []Decision
	Reconfigure(now int64, cfg Config) ([]Decision, error)
}

func (e event) apply(s stepper) []Decision {
	switch e.do {
	case "arrive":
		return s.Arrive(e.now, e.id, e.principal)
	case "finish":
		return s.Finish(e.now, e.id)
	case "finish in":
		return s.FinishIn(e.now, e.id, e.service)
	case "discard":
		return s.Discard(e.now, e.id)
	case "cancel":
		return s.Cancel(e.now, e.id)
	case "tick":
		return s.Tick(e.now)
	case "reconfigure":
		ds, err := s.Reconfigure(e.now, e.config)
		if err != nil {
			panic(fmt.Sprintf("%+v: %v", e.config, err))
		}
		return ds
	case "mode":
		return s.(*Gate).SetMode(e.now, e.mode)
	}
	panic("unknown event " + e.do)
}

// drawnIDs is the number of ids that drawEvent draws from.
const drawnIDs = 60

// drawConfig draws settings so small that a short run reaches every bound.
func drawConfig(t *rapid.T) Config {
	c := Config{
		Max:        rapid.IntRange(1, 6).Draw(t, "max"),
		Pending:    rapid.IntRange(0, 8).Draw(t, "pending"),
		Target:     rapid.Int64Range(1, 30).Draw(t, "target"),
		Interval:   rapid.Int64Range(0, 40).Draw(t, "interval"),
		MaxWait:    rapid.Int64Range(1, 60).Draw(t, "max wait"),
		StaleAfter: rapid.Int64Range(0, 80).Draw(t, "stale after"),
		Second:     10,
		Increase:   rapid.SampledFrom([]float64{0, 0.4, 2}).Draw(t, "increase"),
	}
	c.Initial = rapid.IntRange(1, c.Max).Draw(t, "initial")
	c.Min = rapid.IntRange(0, c.Initial).Draw(t, "min")
	return c
}

// drawEvent draws what happens at now, to one of a few ids: most arrivals are
// new, and some duplicates. Most ends are of the live ones, and some of unknown.
func drawEvent(t *rapid.T, now int64, live []ID) event {
	e := event{
		// An arrival is twice as likely as each end, so that queues fill.
		do: rapid.SampledFrom([]string{
			"arrive", "arrive", "arrive", "arrive", "finish", "finish in", "discard", "cancel", "tick",
		}).Draw(t, "do"),
		now:       now,
		id:        ID(rapid.IntRange(0, drawnIDs-1).Draw(t, "id")),
		principal: rapid.SampledFrom([]string{"A", "B", "C", "D", "E"}).Draw(t, "principal"),
		service:   rapid.Int64Range(-2, 50).Draw(t, "service"),
	}
	if e.do != "arrive" && len(live) > 0 && rapid.IntRange(0, 3).Draw(t, "unknown") > 0 {
		e.id = rapid.SampledFrom(live).Draw(t, "live")
	}
	return e
}

func drawAdvance(t *rapid.T) int64 {
	return rapid.SampledFrom([]int64{0, 0, 1, 2, 7, 20, 61}).Draw(t, "advance")
}
