package runs

import (
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// surveyedMs is for how long handlers of the process are taken to be there once they
// have looked. They are there as long as it is.
const surveyedMs = 24 * 60 * 60_000

// survey finds the pools in which there is work for handlers inside the process. It is
// one look when there may be some; without it a namespace that has none would be
// asked, and so perhaps activated, for each of the pools.
type survey struct {
	handlers map[string]Handler
	kinds    []string
	// pools is what was found.
	pools []string
}

// Apply looks and changes nothing.
func (v *survey) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	c.m.seen.ask(api.PoolDurable, v.kinds, c.now+surveyedMs)
	found := map[string]bool{api.PoolDurable: c.m.schedule.PendingIn(api.PoolDurable, v.kinds)}
	for pool, waiting := range c.m.calls.waiting {
		for e := waiting.Front(); e != nil && !found[pool]; e = e.Next() {
			call := e.Value.(*call)
			found[pool] = v.handlers[call.kind] != nil && !call.caller.Gone()
		}
	}
	v.pools = v.pools[:0]
	for _, pool := range pools() {
		if found[pool] {
			v.pools = append(v.pools, pool)
		}
	}
	return namespace.Answer{NoEffect: true, Body: &struct{}{}}, c.finish()
}

func pools() []string { return []string{api.PoolDefault, api.PoolSlow, api.PoolDurable} }
