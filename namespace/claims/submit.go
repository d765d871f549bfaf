package claims

import (
	"fmt"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// submit ends a verb with its artifact.
type submit struct {
	claim    string
	fence    int64
	output   content
	metadata map[string]string
	next     *claim
}

func newSubmit(claimID, base string, spec api.SubmitSpec) (*submit, error) {
	s := &submit{claim: claimID, fence: spec.Fence, metadata: spec.Metadata}
	var err error
	if s.output, err = checkContent("output.", spec.Output); err != nil {
		return nil, err
	}
	if _, err := checkMetadata(spec.Metadata); err != nil {
		return nil, err
	}
	s.next, err = newClaimNext(base, spec.ClaimNext)
	return s, err
}

// newClaimNext checks the claim that a command carries, if it does.
func newClaimNext(base string, spec *api.ClaimSpec) (*claim, error) {
	if spec == nil {
		return nil, nil
	}
	return newClaim("claim_next.", base, *spec)
}

// Lane puts submissions after heartbeats and before everything else.
func (*submit) Lane() namespace.Lane { return namespace.LaneFinish }

// Recorded finds the receipt of an earlier submission of this claim with the
// same idempotency key. The claim's id is bound to the caller and names the verb
// and the fence, which the receipt must bear.
func (s *submit) Recorded(t *namespace.Turn) (namespace.Record, bool, error) {
	claim, err := openClaimID(&t.View, s.claim)
	if err != nil {
		return namespace.Record{}, false, err
	}
	sequence, err := receiptOf(&t.View, claim.verb)
	if err != nil || sequence == 0 {
		return namespace.Record{}, false, err
	}
	var fence, submittedAt int64
	var key string
	var sum []byte
	record := namespace.Record{Status: 201}
	_, err = t.QueryRow(sqlReadRecord, []any{sequence}, &fence, &submittedAt, &key, &sum, &record.Body)
	if err != nil {
		return record, false, fmt.Errorf("read record of submission: %w", err)
	}
	copy(record.BodySHA256[:], sum)
	record.Expires = moment(submittedAt + t.Settings().RetentionMs)
	return record, fence == claim.fence && key == t.Idempotency().Key, nil
}

// receiptOf is the number of a verb's receipt, 0 if it has none.
func receiptOf(v *namespace.View, verb int64) (int64, error) {
	var sequence int64
	found, err := v.QueryRow(sqlReceiptOf, []any{verb}, &sequence)
	if err == nil && !found {
		_, err = v.QueryRow(sqlSweptReceiptOf, []any{verb}, &sequence)
	}
	if err != nil {
		return 0, fmt.Errorf("find receipt of verb: %w", err)
	}
	return sequence, nil
}

// Apply stores the artifact and the receipt, ends the verb, and lets go on what
// waited for it. A lease that is over does no harm as long as nobody else was
// granted the verb; its attempt was counted when it expired.
func (s *submit) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := begin(t)
	b, standing, err := c.hold(s.claim, s.fence)
	if err != nil {
		return namespace.Answer{}, err
	}
	switch standing {
	case standLive:
		b.attempts++
	case standExpired:
	default:
		return namespace.Answer{}, refuse(b, standing)
	}
	b.over = overSubmitted
	supplies, err := newReader(&t.View).supplies(b)
	if err != nil {
		return namespace.Answer{}, err
	}
	artifact, err := c.addNoun(b.artifact, s.output)
	if err != nil {
		return namespace.Answer{}, err
	}
	if b.group != 0 {
		if _, err := c.Exec(sqlInsertAlternative, b.group, b.attempt, artifact.id); err != nil {
			return namespace.Answer{}, fmt.Errorf("store alternative: %w", err)
		}
	}
	receipt := s.receipt(b, supplies, &artifact)
	receipt.Late, receipt.SubmittedAt = standing == standExpired, moment(c.now)
	if err := c.addReceipt(b, &receipt); err != nil {
		return namespace.Answer{}, err
	}
	if err := c.end(b, api.VerbSucceeded, nil); err != nil {
		return namespace.Answer{}, err
	}
	return namespace.Answer{Status: 201, Body: api.Submitted{Receipt: receipt}}, c.finish()
}

// receipt says what was submitted. Its number and digest are not known yet.
func (s *submit) receipt(b *verb, supplies []supplied, artifact *noun) api.Receipt {
	inputs := make([]api.NounRef, len(supplies))
	for i := range supplies {
		inputs[i] = supplies[i].nounRef()
	}
	return api.Receipt{
		Verb: formatID(verbPrefix, b.id), Claim: s.claim, Principal: b.principal, Fence: b.fence,
		BriefVersion: b.briefVersion, Inputs: inputs, Output: artifact.nounRef(), Metadata: s.metadata,
	}
}

// Next is the claim that follows the submission.
func (s *submit) Next() namespace.Admitted { return admitted(s.next) }

// Join adds to the receipt what the claim brought.
func (s *submit) Join(own, next namespace.Answer, err *api.Error) namespace.Answer {
	doc := own.Body.(api.Submitted)
	doc.Next = nextDocument(next, err)
	own.Body = doc
	return own
}

// admitted is the claim as the runtime takes it, nil for none.
func admitted(c *claim) namespace.Admitted {
	if c == nil {
		return nil
	}
	return c
}

// nextDocument says what a carried claim brought.
func nextDocument(answer namespace.Answer, err *api.Error) *api.Next {
	if err != nil {
		detail := err.Detail()
		return &api.Next{Error: &detail}
	}
	claims := answer.Body.(api.Claims)
	return &api.Next{Claims: claims.Claims, Idle: claims.Idle}
}
