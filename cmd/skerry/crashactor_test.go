package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/skerryhq/skerry/api"
)

// actor is one client of the storm. It has at most one request under way.
type actor struct {
	ledger    *ledger
	name, key string
	rng       *rand.Rand
	step      func(url string) bool // false once the node is gone, or err is set
	made      int
	lost      *request // sent, but its answer did not arrive
	err       error    // an answer that should not be
}

// request is one POST and what to do about its answer.
type request struct {
	key, idem string
	path      string
	body      []byte
	// accept notes a 2xx answer. It is called once.
	accept func(answer []byte) error
	// overtaken tells which error is right because somebody else was faster.
	overtaken api.Code
}

func (r *request) send(url string) (status int, replayed bool, answer []byte, err error) {
	req, err := http.NewRequest(http.MethodPost, url+stormPath+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, false, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.key)
	req.Header.Set(api.HeaderIdempotencyKey, r.idem)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, false, nil, err
	}
	defer res.Body.Close()
	answer, err = io.ReadAll(res.Body)
	return res.StatusCode, res.Header.Get(api.HeaderIdempotentReplayed) == "true", answer, err
}

// post sends a request of the actor's and reports whether it may go on.
func (a *actor) post(url, path string, body any, overtaken api.Code, accept func([]byte) error) bool {
	a.made++
	encoded, err := json.Marshal(body)
	if err != nil {
		a.err = err
		return false
	}
	r := &request{
		key: a.key, idem: fmt.Sprintf("%s-%d", a.name, a.made), path: path, body: encoded,
		accept: accept, overtaken: overtaken,
	}
	status, replayed, answer, err := r.send(url)
	if err != nil {
		a.lost = r
		return false
	}
	if replayed {
		a.err = fmt.Errorf("%s under a new key was answered as a replay", path)
		return false
	}
	a.err = a.ledger.take(r, status, answer)
	return a.err == nil
}

// sendAgain sends the request whose answer was lost once more. Whether it had
// been carried out or not, the answer is now the one that was missed.
func (a *actor) sendAgain(t *testing.T, url string) {
	t.Helper()
	r := a.lost
	if r == nil {
		return
	}
	a.lost = nil
	status, replayed, answer, err := r.send(url)
	if err == nil {
		err = a.ledger.take(r, status, answer)
	}
	if err != nil {
		t.Errorf("%s after the crash: %v", r.path, err)
	}
	a.ledger.note(func() {
		if replayed {
			a.ledger.recovered++
		}
	})
}

// produce makes a noun, a verb with a dependant, a group, or cancels a verb.
func (a *actor) produce(url string) bool {
	id := fmt.Sprintf("%s/%d", a.name, a.made)
	switch p := a.rng.IntN(10); {
	case p < 2:
		key, text := fmt.Sprintf("in/%s/%d", a.name, a.rng.IntN(5)), "text "+id
		return a.post(url, "/nouns", api.NounSpec{Key: key, Content: api.Content{Body: &text}}, "", a.ledger.noun)
	case p < 8:
		attempts := 2
		batch := api.VerbBatchSpec{Verbs: []api.VerbSpec{
			{Kind: "plain", Artifact: "out/" + id},
			{Kind: "plain", Artifact: "both/" + id, Attempts: &attempts},
			{Kind: "plain", Artifact: "then/" + id, Inputs: []api.Input{{Key: "out/" + id}}},
		}}
		return a.post(url, "/verbs:batch", batch, "", a.ledger.batch)
	default:
		verb, ok := a.ledger.anyOpen(a.rng)
		if !ok {
			return true
		}
		return a.post(url, "/verbs/"+verb+":cancel", struct{}{}, api.VerbTerminal, a.ledger.cancelled)
	}
}

// work claims a verb and ends the claim in one way or another, or keeps it.
func (a *actor) work(url string) bool {
	floor := a.ledger.highest()
	lease := int64(600_000)
	var got *api.Claim
	if !a.post(url, "/claims", api.ClaimSpec{Kinds: []string{"plain"}, LeaseMs: &lease}, "", func(answer []byte) (err error) {
		got, err = a.ledger.granted(a, floor, answer)
		return err
	}) {
		return false
	}
	if got == nil {
		return true
	}
	path := "/claims/" + got.ID
	switch p := a.rng.IntN(20); {
	case p < 12:
		text := "result of " + got.ID
		return a.post(url, path+":submit", api.SubmitSpec{Fence: got.Fence, Output: api.Content{Body: &text}}, api.VerbTerminal,
			func(answer []byte) error { return a.ledger.submitted(got, answer) })
	case p < 15:
		again := int64(0)
		return a.post(url, path+":fail", api.FailSpec{Fence: got.Fence, Error: api.Failure{Message: "not today"}, RetryAfterMs: &again}, api.VerbTerminal,
			func([]byte) error { return a.ledger.over(got, "") })
	case p < 16:
		return a.post(url, path+":fail", api.FailSpec{Fence: got.Fence, Error: api.Failure{Message: "never"}, Final: true}, api.VerbTerminal,
			func([]byte) error { return a.ledger.over(got, api.VerbFailed) })
	case p < 19:
		return a.post(url, path+":release", api.ReleaseSpec{Fence: got.Fence}, "",
			func([]byte) error { return a.ledger.over(got, "") })
	}
	return true // held until the audit
}

// problem is the error in an answer.
func problem(status int, answer []byte) (api.Code, error) {
	var e struct {
		Error api.ErrorDetail `json:"error"`
	}
	if err := json.Unmarshal(answer, &e); err != nil || e.Error.Code == "" {
		return "", errors.Join(fmt.Errorf("answer %d is no error document: %s", status, answer), err)
	}
	return e.Error.Code, nil
}
