package claims

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// Service is the claims service of one namespace in process, for one caller. It
// is a small value, safe for concurrent use. Its errors are those of the HTTP
// routes, as *[api.Error].
//
// Roles are not examined: who holds a Service may use all of it. Claims pass the
// same admission as over HTTP.
type Service struct {
	ns     namespace.Namespace
	caller namespace.Caller
}

// Of is the claims service of ns for the caller, whose Principal must be set.
// The namespace's runtime must have been opened with [Class].
func Of(ns namespace.Namespace, caller namespace.Caller) Service { return Service{ns, caller} }

// Page is the part of a list to read. The zero value is the first hundred
// entries.
type Page struct {
	// Cursor is the NextCursor of the page before, in the same order.
	Cursor string
	// Limit is 1 to 1,000 entries; 0 means 100.
	Limit int
	// Desc reverses the order of creation.
	Desc bool
}

// request is the page as the queries take it.
func (p Page) request(list string) (namespace.PageRequest, error) {
	limit := p.Limit
	if limit == 0 {
		limit = 100
	}
	r := namespace.PageRequest{Limit: limit, Desc: p.Desc, First: true, From: namespace.Cursor{List: list, Desc: p.Desc}}
	if err := within("limit", limit, 1, 1000); err != nil {
		return r, err
	}
	if p.Cursor == "" {
		return r, nil
	}
	from, err := namespace.DecodeCursor(list, p.Cursor)
	if err == nil && from.Desc != p.Desc {
		err = api.Errorf(api.BadRequest, "the cursor belongs to a page in the other order")
	}
	r.From, r.First = from, false
	return r, err
}

// CreateNoun makes the next version of a noun.
func (s Service) CreateNoun(ctx context.Context, spec api.NounSpec) (api.Noun, error) {
	c, err := command(newCreateNoun(spec))
	return do[api.Noun](ctx, s, c, err)
}

// Noun reads a noun by "key", which is its newest version, or "key@version". A
// body of at most 64 KiB is in the document.
func (s Service) Noun(ctx context.Context, ref string) (api.Noun, error) {
	q, err := query(newGetNoun(ref, false))
	return read[api.Noun](ctx, s, q, err)
}

// NounBody reads the bytes of a noun with their media type and digest. It is a
// conflict for a noun that is a URI.
func (s Service) NounBody(ctx context.Context, ref string) (namespace.Raw, error) {
	q, err := newGetNoun(ref, true)
	if err != nil {
		return namespace.Raw{}, err
	}
	answer, err := s.ns.Read(ctx, className, s.caller, q)
	if err != nil {
		return namespace.Raw{}, err
	}
	return *answer.Raw, nil
}

// Nouns lists all versions of the nouns whose keys begin with prefix.
func (s Service) Nouns(ctx context.Context, prefix string, page Page) (api.Page[api.Noun], error) {
	p, err := page.request(nounList)
	return read[api.Page[api.Noun]](ctx, s, &listNouns{p, prefix}, err)
}

// NounVersions lists the versions of one noun.
func (s Service) NounVersions(ctx context.Context, key string, page Page) (api.Page[api.Noun], error) {
	p, err := page.request(versionList)
	if err != nil {
		return api.Page[api.Noun]{}, err
	}
	q, err := query(newListVersions(key, p))
	return read[api.Page[api.Noun]](ctx, s, q, err)
}

// CreateVerb makes a verb. The spec must not ask for attempts.
func (s Service) CreateVerb(ctx context.Context, spec api.VerbSpec) (api.Verb, error) {
	if spec.Attempts != nil {
		return api.Verb{}, api.Invalid("attempts", "attempts make a group")
	}
	c, err := command(newCreateVerb(spec))
	return do[api.Verb](ctx, s, c, err)
}

// CreateGroup makes a group of as many verbs as the spec asks attempts for.
func (s Service) CreateGroup(ctx context.Context, spec api.VerbSpec) (api.VerbGroup, error) {
	if spec.Attempts == nil {
		return api.VerbGroup{}, api.Invalid("attempts", "a group needs attempts")
	}
	c, err := command(newCreateVerb(spec))
	return do[api.VerbGroup](ctx, s, c, err)
}

// CreateVerbs makes many verbs and groups, all or none: at most 1,000 verbs. An
// error names each bad entry in its details.
func (s Service) CreateVerbs(ctx context.Context, specs []api.VerbSpec) (api.VerbBatch, error) {
	c, err := command(newCreateVerbs(api.VerbBatchSpec{Verbs: specs}))
	return do[api.VerbBatch](ctx, s, c, err)
}

// Verb reads a verb.
func (s Service) Verb(ctx context.Context, id string) (api.Verb, error) {
	return s.WaitVerb(ctx, id, 0)
}

// WaitVerb reads a verb when it changes, or when the wait is over. One that has
// ended is not waited for.
func (s Service) WaitVerb(ctx context.Context, id string, wait time.Duration) (api.Verb, error) {
	return read[api.Verb](ctx, s, newGetVerb(id, wait), nil)
}

// VerbFilter says which verbs to list. The zero value is all of them.
type VerbFilter struct {
	State api.VerbState
	Kind  string
	Group string
}

// Verbs lists verbs.
func (s Service) Verbs(ctx context.Context, filter VerbFilter, page Page) (api.Page[api.Verb], error) {
	p, err := page.request(verbList)
	if err != nil {
		return api.Page[api.Verb]{}, err
	}
	q, err := query(newListVerbs(p, string(filter.State), filter.Kind, filter.Group))
	return read[api.Page[api.Verb]](ctx, s, q, err)
}

// Cancel ends a verb at once.
func (s Service) Cancel(ctx context.Context, verb string) (api.Verb, error) {
	return do[api.Verb](ctx, s, &cancel{verb}, nil)
}

// Requeue gives a failed verb another chance.
func (s Service) Requeue(ctx context.Context, verb string) (api.Verb, error) {
	return do[api.Verb](ctx, s, &requeue{verb}, nil)
}

// Claim asks for ready verbs. With WaitMs it waits for some until ctx ends at the
// latest.
func (s Service) Claim(ctx context.Context, spec api.ClaimSpec) (api.Claims, error) {
	c, err := command(newClaim("", "", spec))
	return do[api.Claims](ctx, s, c, err)
}

// Claims lists the caller's live claims.
func (s Service) Claims(ctx context.Context, page Page) (api.Page[api.Claim], error) {
	p, err := page.request(claimList)
	return read[api.Page[api.Claim]](ctx, s, &listClaims{page: p}, err)
}

// Heartbeat renews the lease of a claim.
func (s Service) Heartbeat(ctx context.Context, claim string, spec api.HeartbeatSpec) (api.Heartbeat, error) {
	c, err := command(newHeartbeat(claim, spec))
	return do[api.Heartbeat](ctx, s, c, err)
}

// Submit ends the verb of a claim with its artifact. The same submission under
// the same idempotency key gives the same receipt again; an empty key stands for
// one made from the claim's id.
func (s Service) Submit(ctx context.Context, claim string, spec api.SubmitSpec, key string) (api.Submitted, error) {
	c, err := newSubmit(claim, "", spec)
	if err != nil {
		return api.Submitted{}, err
	}
	body, err := namespace.Encode(spec)
	if err != nil {
		return api.Submitted{}, fmt.Errorf("encode submission: %w", err)
	}
	if key == "" {
		key = claim
	}
	return call[api.Submitted](ctx, s, c, namespace.Idempotency{
		Key: key, Scope: "POST /claims/" + claim + ":submit", BodySHA256: sha256.Sum256(body),
	})
}

// Fail reports that the work of a claim has failed.
func (s Service) Fail(ctx context.Context, claim string, spec api.FailSpec) (api.Failed, error) {
	c, err := command(newFail(claim, "", spec))
	return do[api.Failed](ctx, s, c, err)
}

// Release hands a claim back unharmed.
func (s Service) Release(ctx context.Context, claim string, spec api.ReleaseSpec) (api.Released, error) {
	c, err := command(newRelease(claim, spec))
	return do[api.Released](ctx, s, c, err)
}

// Receipt reads a receipt.
func (s Service) Receipt(ctx context.Context, id string) (api.Receipt, error) {
	return read[api.Receipt](ctx, s, &getReceipt{id}, nil)
}

// Receipts lists the receipts behind the sequence number after. With a wait it
// waits for one if there is none.
func (s Service) Receipts(ctx context.Context, after int64, wait time.Duration, page Page) (api.Page[api.Receipt], error) {
	p, err := page.request(receiptList)
	return read[api.Page[api.Receipt]](ctx, s, &listReceipts{p, after, wait}, err)
}

// do carries out a command, unless it could not be made.
func do[D any](ctx context.Context, s Service, c namespace.Command, err error) (D, error) {
	if err != nil {
		var none D
		return none, err
	}
	return call[D](ctx, s, c, namespace.Idempotency{})
}

func call[D any](ctx context.Context, s Service, c namespace.Command, idem namespace.Idempotency) (doc D, err error) {
	outcome, err := s.ns.Do(ctx, namespace.Call{Class: className, Caller: s.caller, Command: c, Idempotency: idem})
	if err != nil {
		return doc, err
	}
	if stored, ok := outcome.Answer.Encoded(); ok && outcome.Replayed {
		err = namespace.Decode(stored, &doc)
		return doc, err
	}
	return outcome.Answer.Body.(D), nil
}

// read answers a query, unless it could not be made.
func read[D any](ctx context.Context, s Service, q namespace.Query, err error) (doc D, _ error) {
	if err != nil {
		return doc, err
	}
	answer, err := s.ns.Read(ctx, className, s.caller, q)
	if err != nil {
		return doc, err
	}
	return answer.Body.(D), nil
}
