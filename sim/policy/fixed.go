package policy

// constant is a limit that nothing moves.
type constant int

func (c constant) limit() float64     { return float64(c) }
func (c constant) observe(int64, int) {}

// newFixed returns the policy fixed: as many requests as the settings say run at once,
// whatever happens, and the rest wait in one queue, first come first served. It is
// the M/M/c queue of the textbooks (Erlang, "Solution of some problems in the theory of
// probabilities of significance in automatic telephone exchanges", 1917), but with the
// production controller's bounds on length and wait.
func newFixed(b bounds) Policy { return newDesk(b, constant(b.fixed), newFIFO(b)) }
