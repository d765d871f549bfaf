package claims

import (
	"fmt"
	"testing"
)

func TestPacingGrowsWithEmptyClaimsAndIdlePrincipals(t *testing.T) {
	t.Parallel()
	p := newPacing()
	var now int64
	for k, want := range []int64{250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000} {
		now += 10_000
		if got := p.empty("a", []string{"k"}, now); got != want+5 {
			t.Errorf("empty claim %d: got %d, want %d", k+1, got, want+5)
		}
	}
	if got := p.empty("b", []string{"k"}, now); got != 250+10 {
		t.Errorf("second principal: got %d, want 260", got)
	}
	p.granted("b")
	if got := p.empty("a", []string{"k"}, now); got != 30_000+5 {
		t.Errorf("after the other got work: got %d, want 30005", got)
	}
	if got := p.empty("b", []string{"k"}, now+idleWindowMs); got != 250+5 {
		t.Errorf("after the other has rested: got %d, want 255", got)
	}
	if got := p.empty("a", []string{"k"}, now+2*idleWindowMs); got != 30_000+5 {
		t.Errorf("after a rest: got %d, want 30005, the row is not broken", got)
	}
}

func TestPacingStartsAnewWhenWorkCame(t *testing.T) {
	t.Parallel()
	p := newPacing()
	for _, who := range []string{"a", "any"} {
		kinds := []string{"k", "l"}
		if who == "any" {
			kinds = nil
		}
		p = newPacing()
		p.empty(who, kinds, 0)
		if p.ready("other"); who == "a" {
			if got := p.empty(who, kinds, 0); got != 505 {
				t.Errorf("%s, another kind became ready: got %d, want 505", who, got)
			}
		}
		p.ready("l")
		if got := p.empty(who, kinds, 0); got != 255 {
			t.Errorf("%s, a kind asked for became ready: got %d, want 255", who, got)
		}
		p.granted(who)
		if got := p.empty(who, kinds, 0); got != 255 {
			t.Errorf("%s, after a grant: got %d, want 255", who, got)
		}
	}
}

func TestPacingIsBounded(t *testing.T) {
	t.Parallel()
	p := newPacing()
	p.empty("patient", []string{"k"}, 0)
	for i := range 3 * maxPaced {
		p.empty(fmt.Sprint("p", i), nil, int64(i))
		p.ready(fmt.Sprint("k", i))
	}
	if n := len(p.principals); n > maxPaced || p.idle.Len()+p.resting.Len() != n {
		t.Errorf("principals: got %d (%d idle, %d resting), want at most %d", n, p.idle.Len(), p.resting.Len(), maxPaced)
	}
	if len(p.woken) > maxPacedKinds {
		t.Errorf("kinds: got %d, want at most %d", len(p.woken), maxPacedKinds)
	}
}

func TestForgottenKindsCountAsReady(t *testing.T) {
	t.Parallel()
	p := newPacing()
	p.empty("a", []string{"k"}, 0)
	p.ready("k")
	for i := range maxPacedKinds {
		p.ready(fmt.Sprint("other", i))
	}
	if got := p.empty("a", []string{"k"}, 0); got != 255 {
		t.Errorf("got %d, want 255", got)
	}
}
