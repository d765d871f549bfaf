package main_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/skerryhq/skerry/api"
)

const stormPath = "/ns/storm/api/v2"

// ledger is what the node has acknowledged. It is safe for concurrent use.
type ledger struct {
	auditor string // key

	mu        sync.Mutex
	nouns     map[string]string       // ref → digest
	verbs     map[string]*entry       // by id
	order     []*entry                // the same, as they were acknowledged
	then      map[string]string       // verb that waits → the one that makes its input
	fences    map[int64]string        // → claim
	held      map[string]*holding     // live claims by id
	receipts  map[string]*api.Receipt // by verb
	fresh     []acknowledgement       // since the last audit
	top       int64                   // highest fence of an answer that has arrived
	recovered int                     // lost answers whose request had been carried out
}

type entry struct {
	id    string
	ended api.VerbState // "" as long as nothing final was acknowledged
}

type holding struct {
	owner *actor
	claim *api.Claim
}

type acknowledgement struct {
	request *request
	status  int
	answer  []byte
}

func newLedger(auditor string) *ledger {
	return &ledger{
		auditor: auditor,
		nouns:   map[string]string{}, verbs: map[string]*entry{}, then: map[string]string{},
		fences: map[int64]string{}, held: map[string]*holding{}, receipts: map[string]*api.Receipt{},
	}
}

func (l *ledger) note(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

func (l *ledger) highest() (top int64) {
	l.note(func() { top = l.top })
	return top
}

func (l *ledger) summary() (s string) {
	l.note(func() {
		s = fmt.Sprintf("%d nouns, %d verbs, %d grants, %d receipts, %d held; %d lost answers recovered",
			len(l.nouns), len(l.verbs), len(l.fences), len(l.receipts), len(l.held), l.recovered)
	})
	return s
}

// take notes an answer to a request.
func (l *ledger) take(r *request, status int, answer []byte) error {
	if status >= 300 {
		code, err := problem(status, answer)
		if err == nil && (code != r.overtaken || code == "") {
			err = fmt.Errorf("POST %s: %d %s", r.path, status, answer)
		}
		return err
	}
	if err := r.accept(answer); err != nil {
		return fmt.Errorf("POST %s: %w", r.path, err)
	}
	l.note(func() { l.fresh = append(l.fresh, acknowledgement{r, status, answer}) })
	return nil
}

func (l *ledger) noun(answer []byte) error {
	var n api.Noun
	if err := json.Unmarshal(answer, &n); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, twice := l.nouns[n.Ref]; twice {
		return fmt.Errorf("%s was made twice", n.Ref)
	}
	l.nouns[n.Ref] = n.Digest
	return nil
}

// batch notes the verbs that [actor.produce] makes together.
func (l *ledger) batch(answer []byte) error {
	var b struct {
		Verbs []struct {
			ID    string
			Verbs []api.Verb
		}
	}
	if err := json.Unmarshal(answer, &b); err != nil {
		return err
	}
	if len(b.Verbs) != 3 || len(b.Verbs[1].Verbs) != 2 {
		return fmt.Errorf("batch answered with %s", answer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range []string{b.Verbs[0].ID, b.Verbs[1].Verbs[0].ID, b.Verbs[1].Verbs[1].ID, b.Verbs[2].ID} {
		if l.verbs[id] != nil {
			return fmt.Errorf("%s was made twice", id)
		}
		l.verbs[id] = &entry{id: id}
		l.order = append(l.order, l.verbs[id])
	}
	l.then[b.Verbs[2].ID] = b.Verbs[0].ID
	return nil
}

// anyOpen picks a verb of which no end is known.
func (l *ledger) anyOpen(rng *rand.Rand) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for range 20 {
		if len(l.order) == 0 {
			break
		}
		if e := l.order[rng.IntN(len(l.order))]; e.ended == "" {
			return e.id, true
		}
	}
	return "", false
}

func (l *ledger) cancelled(answer []byte) error {
	var v api.Verb
	if err := json.Unmarshal(answer, &v); err != nil {
		return err
	}
	return l.end(v.ID, api.VerbCancelled)
}

// end notes that a verb has ended.
func (l *ledger) end(id string, how api.VerbState) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.verbs[id]
	if e == nil {
		// Its creation's answer is still under way, or was lost.
		e = &entry{id: id}
		l.verbs[id] = e
	}
	if e.ended != "" && e.ended != how {
		return fmt.Errorf("%s ended %s, and was %s before", id, how, e.ended)
	}
	e.ended = how
	return nil
}

// granted notes the claim in an answer, if there is one.
func (l *ledger) granted(a *actor, floor int64, answer []byte) (*api.Claim, error) {
	var got api.Claims
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Claims) == 0 {
		return nil, err
	}
	c := &got.Claims[0]
	l.mu.Lock()
	defer l.mu.Unlock()
	if other, twice := l.fences[c.Fence]; twice {
		return nil, fmt.Errorf("fence %d of %s is that of %s", c.Fence, c.ID, other)
	}
	if c.Fence <= floor {
		return nil, fmt.Errorf("fence %d of %s is not above %d, which was granted before", c.Fence, c.ID, floor)
	}
	l.fences[c.Fence] = c.ID
	l.top = max(l.top, c.Fence)
	l.held[c.ID] = &holding{a, c}
	return c, nil
}

func (l *ledger) submitted(c *api.Claim, answer []byte) error {
	var r api.Receipt
	if err := json.Unmarshal(answer, &r); err != nil {
		return err
	}
	l.mu.Lock()
	other := l.receipts[r.Verb]
	l.receipts[r.Verb] = &r
	l.mu.Unlock()
	if other != nil {
		return fmt.Errorf("%s has the receipts %s and %s", r.Verb, other.ID, r.ID)
	}
	if r.Verb != c.Verb.ID || r.Claim != c.ID || r.Fence != c.Fence || r.Late {
		return fmt.Errorf("receipt %+v is not that of claim %s", r, c.ID)
	}
	return l.over(c, api.VerbSucceeded)
}

// over notes the end of a claim, and of its verb if how is not empty.
func (l *ledger) over(c *api.Claim, how api.VerbState) error {
	l.note(func() { delete(l.held, c.ID) })
	if how == "" {
		return nil
	}
	return l.end(c.Verb.ID, how)
}

// takeFresh hands over what was acknowledged since the last call, but not the
// claims that found nothing: they leave no record.
func (l *ledger) takeFresh() (fresh []acknowledgement) {
	l.note(func() { fresh, l.fresh = l.fresh, nil })
	return slices.DeleteFunc(fresh, func(a acknowledgement) bool {
		var c api.Claims
		return a.request.path == "/claims" && json.Unmarshal(a.answer, &c) == nil && len(c.Claims) == 0
	})
}
