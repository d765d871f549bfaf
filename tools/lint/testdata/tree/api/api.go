package api

// Noun is documented.
type Noun struct{ Key string }

// Ref returns what the comment says.
func (n Noun) Ref() string { return n.Key }

func (n *Noun) Grow() {} // want `exported method Noun.Grow has no doc comment`

type Verb[T any] struct{ of T } // want `exported type Verb has no doc comment`

func (v Verb[T]) Of() T { return v.of } // want `exported method Verb.Of has no doc comment`

func (v Verb[T]) inner() {}

type hidden struct{}

func (hidden) Shown() {}

func Open() {} // want `exported function Open has no doc comment`

const Limit = 1 // the comment behind it counts

var Bound, inner = func() (int, int) { // the comment is inside // want `exported var Bound has no doc comment`
	return 2, 3
}()

// States share a comment.
const (
	Ready = iota
	Leased
)

// A group of types needs one for each.
type (
	// Lease has its own.
	Lease struct{}
	Claim struct{} // want `exported type Claim has no doc comment`
)
