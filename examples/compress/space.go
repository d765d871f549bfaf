package main

import (
	"context"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/client"
)

// The kinds of verbs.
const (
	kindCompress = "compress"
	kindCompare  = "compare"
	// kindProbe is the kind of no verb; see [space.probe].
	kindProbe = "probe"
)

// space is a namespace with the work in it and those who do it.
type space struct {
	name  string
	files []*source
	base  string
	// producer makes the work and reads what came of it.
	producer *client.Client
	prober   *client.Client
	crew     []*worker
	// victim is the worker that is to be killed, nil where none is or once it is
	// dead, and orphans are the claims that it left.
	victim  *worker
	orphans []api.Claim

	// seen is the sequence of the last receipt that was seen, and waits what each
	// probe waited for admission.
	seen  int64
	waits []time.Duration
}

// newSpace creates a namespace and its keys, but starts nobody.
func newSpace(ctx context.Context, n *node, name string, files []*source) (*space, error) {
	if _, err := n.operator.CreateNamespace(ctx, name); err != nil {
		return nil, err
	}
	s := &space{name: name, files: files, base: n.base + "/ns/" + name}
	var err error
	if _, s.producer, err = s.newKey(ctx, n, "producer", api.RoleProducer); err != nil {
		return nil, err
	}
	if _, s.prober, err = s.newKey(ctx, n, "prober", api.RoleWorker); err != nil {
		return nil, err
	}
	return s, nil
}

// newKey makes a key for a principal of the namespace, and a client that uses it.
func (s *space) newKey(ctx context.Context, n *node, principal string, role api.Role) (string, *client.Client, error) {
	key, err := n.operator.CreateKey(ctx, s.name, api.KeySpec{Principal: principal, Roles: []api.Role{role}})
	if err != nil {
		return "", nil, fmt.Errorf("make key of %s in %s: %w", principal, s.name, err)
	}
	c, err := client.New(s.base, key.Secret, nil)
	return key.Secret, c, err
}

// close closes the connections of the demo's own clients.
func (s *space) close() {
	s.producer.Close()
	s.prober.Close()
}

// expected is how many verbs there are, and receipts there will be.
func (s *space) expected() int { return len(s.files) * (attemptsPerFile + 1) }

// done reports whether a receipt was seen for every verb.
func (s *space) done() bool { return s.seen >= int64(s.expected()) }

// small reports whether the work is over before anyone can step in midway.
func (s *space) small() bool { return len(s.files) < 8 }

// strikeAt is the number of receipts at which the victim is to be killed.
func (s *space) strikeAt() int64 {
	if s.small() {
		return 0
	}
	return int64(s.expected()) * strikePercent / 100
}

// poll looks for new receipts and returns how many there are.
func (s *space) poll(ctx context.Context) (int, error) {
	before := s.seen
	for r, err := range s.producer.Receipts(ctx, &client.ReceiptOptions{After: s.seen}) {
		if err != nil {
			return 0, fmt.Errorf("watch %s: %w", s.name, err)
		}
		s.seen = r.Sequence
	}
	return int(s.seen - before), nil
}

// probe measures what a claim waits for admission in the namespace at this
// moment. It claims a kind of which there is nothing: the claim stands in the
// same queue as those of the workers, and takes no work from them.
func (s *space) probe(ctx context.Context) error {
	claimed, err := s.prober.Claim(ctx, api.ClaimSpec{Kinds: []string{kindProbe}})
	if err != nil {
		return fmt.Errorf("probe admission of %s: %w", s.name, err)
	}
	s.waits = append(s.waits, claimed.AdmissionWait)
	return nil
}

// failed returns an error if a verb has failed, since its receipt will not come.
func (s *space) failed(ctx context.Context) error {
	for v, err := range s.producer.Verbs(ctx, client.VerbFilter{State: api.VerbFailed}, nil) {
		if err != nil {
			return fmt.Errorf("watch %s: %w", s.name, err)
		}
		return fmt.Errorf("verb %s of %s failed: %s: %s", v.ID, s.name, v.Error.Code, v.Error.Message)
	}
	return nil
}
