package namespace

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/skerryhq/skerry/api"
)

// draw is a command of the core that draws tokens and then fails or not.
type draw struct {
	n     int
	spend bool // first use up the counter
	err   error
	drawn []int64
}

func (d *draw) Apply(t *Turn) (Answer, error) {
	f := &t.host.writer.fences
	if d.spend {
		f.counter = 1<<counterBits - 2
	}
	d.drawn = nil
	for range d.n {
		token, err := t.Fence()
		if err != nil {
			return Answer{}, err
		}
		d.drawn = append(d.drawn, token)
	}
	if d.err != nil {
		t.wrote = true
	}
	return Answer{}, d.err
}

func openOne(t *testing.T) (*Runtime, Namespace, string) {
	t.Helper()
	dir := t.TempDir()
	r, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := r.Create(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	return r, r.Namespace("a"), dir
}

// 4,194,303 grants of one epoch are more than a test can draw.
func TestCounterThatIsUsedUpRaisesTheEpoch(t *testing.T) {
	t.Parallel()
	r, n, dir := openOne(t)
	var all []int64
	do := func(d *draw) error {
		_, err := n.core(context.Background(), d)
		if err == nil {
			all = append(all, d.drawn...)
		}
		return err
	}
	epoch := func() (epoch int64) {
		t.Helper()
		if err := n.inspect(t.Context(), func(i *instance) { epoch = i.writer.fences.epoch }); err != nil {
			t.Fatal(err)
		}
		return epoch
	}
	if err := do(&draw{n: 1}); err != nil {
		t.Fatal(err)
	}
	// A raise that is rolled back is raised again.
	refused := errors.Join(errors.New("no"), api.Errorf(api.Conflict, "no"))
	if err := do(&draw{n: 3, spend: true, err: refused}); !api.IsCode(err, api.Conflict) {
		t.Fatalf("got error %v, want conflict", err)
	}
	for range 2 {
		before := epoch()
		if err := do(&draw{n: 3, spend: true}); err != nil {
			t.Fatal(err)
		}
		if got := epoch(); got != before+1 {
			t.Errorf("got epoch %d, want %d", got, before+1)
		}
	}
	if err := do(&draw{n: 2}); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n = r.Namespace("a")
	if err := do(&draw{n: 2}); err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(all) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("the tokens do not rise strictly: %v", all)
	}
	// The epochs of the first activation, the two raises, and the second one.
	if first, last := all[0]>>counterBits, all[len(all)-1]>>counterBits; first != 1 || last != 4 {
		t.Errorf("got epochs from %d to %d, want 1 to 4", first, last)
	}
}
