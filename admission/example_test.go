package admission_test

import (
	"fmt"
	"time"

	"github.com/skerryhq/skerry/admission"
)

// One request may run. Of those that wait, bo's one is served after the first
// of ann's, although ann asked three times before.
func ExampleController() {
	c, err := admission.New(admission.Config{
		Initial: 1, Max: 1, Pending: 8,
		Target:  int64(500 * time.Millisecond),
		MaxWait: int64(10 * time.Second),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var running admission.ID
	show := func(ds []admission.Decision) {
		for _, d := range ds {
			fmt.Println(d.Kind, d.ID, d.Principal)
			if d.Kind == admission.Start {
				running = d.ID
			}
		}
	}
	now := int64(0)
	for id, principal := range []string{"cy", "ann", "ann", "ann", "bo"} {
		show(c.Arrive(now, admission.ID(id), principal))
	}
	for c.InFlight() > 0 {
		now += int64(5 * time.Millisecond)
		show(c.Finish(now, running))
	}
	// Output:
	// start 0 cy
	// enqueue 1 ann
	// enqueue 2 ann
	// enqueue 3 ann
	// enqueue 4 bo
	// finished 0 cy
	// start 1 ann
	// finished 1 ann
	// start 4 bo
	// finished 4 bo
	// start 2 ann
	// finished 2 ann
	// start 3 ann
	// finished 3 ann
}

// At most two passes in any minute.
func ExampleQuota() {
	q, err := admission.NewQuota(admission.QuotaConfig{Limit: 2, Window: int64(time.Minute)})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, at := range []time.Duration{0, 20 * time.Second, 30 * time.Second, time.Minute} {
		ok, retryAfter := q.Take(int64(at), "ann")
		fmt.Println(at, ok, retryAfter)
	}
	// Output:
	// 0s true 0
	// 20s true 0
	// 30s false 30
	// 1m0s true 0
}
