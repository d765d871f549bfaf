package claims

import (
	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Bounds of what an answer with claims carries inline.
const (
	maxInlineInput = 64 << 10
	maxInlineBytes = 1 << 20
)

// delivery makes the documents of the claims of one answer. Bodies of inputs are
// inline as far as the answer may carry them; the rest are links.
type delivery struct {
	*reader
	base string
	// room is how many bytes may still be inline.
	room int64
}

// newDelivery begins an answer whose links lie below base, by default the path
// of the namespace's own routes.
func newDelivery(v *namespace.View, base string) *delivery {
	if base == "" {
		base = "/ns/" + v.Namespace() + "/api/v2"
	}
	return &delivery{newReader(v), base, maxInlineBytes}
}

// claim is the document of a leased verb's claim. The verb must have been read
// whole.
func (d *delivery) claim(b *verb) (api.Claim, error) {
	doc, err := d.verb(b)
	if err != nil {
		return api.Claim{}, err
	}
	inputs, err := d.inputs(b)
	return api.Claim{
		ID: claimID{b.fence, b.id}.format(d.view, b.principal), Verb: doc, Inputs: inputs, Fence: b.fence,
		GrantedAt: moment(b.grantedAt), ExpiresAt: moment(b.leaseUntil), TTLMs: b.leaseUntil - millis(d.view.Now()),
	}, err
}

// inputs delivers what a verb's inputs stand for.
func (d *delivery) inputs(b *verb) ([]api.ClaimInput, error) {
	supplies, err := d.supplies(b)
	if err != nil {
		return nil, err
	}
	docs := make([]api.ClaimInput, len(supplies))
	for i := range supplies {
		if docs[i], err = d.input(&supplies[i]); err != nil {
			return nil, err
		}
	}
	return docs, nil
}

func (d *delivery) input(s *supplied) (api.ClaimInput, error) {
	doc := api.ClaimInput{
		Ref: s.ref.String(), Digest: formatDigest(s.digest), MediaType: s.mediaType, Size: s.size,
		URI: s.uri, Attempt: int(s.attempt),
	}
	if s.group != 0 {
		doc.Group = formatID(groupPrefix, s.group)
	}
	if s.uri != "" {
		return doc, nil
	}
	if s.size > maxInlineInput || s.size > d.room {
		doc.Href = s.ref.href(d.base)
		return doc, nil
	}
	d.room -= s.size
	body, err := s.readBody(d.view)
	doc.Body, doc.BodyBase64 = inline(body)
	return doc, err
}
