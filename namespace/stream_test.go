package namespace_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// tail follows a stream of events, up to two at a time, until one says "end".
type tail struct {
	stream string
	after  int64
	// fails, if not nil, is what Next fails with when it meets the event "bad".
	fails error
}

func (f *tail) Topics() []string { return []string{namespace.EventTopic(f.stream)} }

func (f *tail) Read(context.Context, *namespace.View) (namespace.Answer, error) {
	return namespace.Answer{}, errors.New("a stream is not read")
}

func (f *tail) Next(_ context.Context, v *namespace.View) (frames []namespace.Frame, end bool, err error) {
	events, err := v.Events(f.stream, f.after, 2)
	if err != nil {
		return nil, false, err
	}
	for _, e := range events {
		var body string
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return nil, false, err
		}
		if body == "bad" {
			return nil, false, f.fails
		}
		f.after = e.Sequence
		end = end || body == "end"
		frames = append(frames, namespace.Frame{ID: fmt.Sprint(e.Sequence), Event: e.Type, Data: body})
	}
	return frames, end, nil
}

// follower is a stream that is followed in a goroutine of its own.
type follower struct {
	seen   []string // frames, "-" for a keepalive, with the seconds at which they came
	err    error
	took   time.Duration
	done   chan struct{}
	cancel context.CancelCauseFunc
	emit   func(ctx context.Context) error // if not nil, called for every emit
}

const keepalive = 5 * time.Second

// follow follows a query of the depot.
func (w *world) follow(caller namespace.Caller, q namespace.Streaming, emit func(ctx context.Context) error) *follower {
	ctx, cancel := context.WithCancelCause(context.Background())
	f := &follower{done: make(chan struct{}), cancel: cancel, emit: emit}
	w.t.Cleanup(func() { cancel(nil); <-f.done })
	n, begin := w.Namespace, time.Now()
	go func() {
		defer close(f.done)
		f.err = n.Stream(ctx, "depot", caller, q, keepalive, func(ctx context.Context, frames []namespace.Frame) error {
			at := int(time.Since(begin).Seconds())
			if len(frames) == 0 {
				f.seen = append(f.seen, fmt.Sprintf("%d -", at))
			}
			for _, frame := range frames {
				f.seen = append(f.seen, fmt.Sprintf("%d %s %s %v", at, frame.ID, frame.Event, frame.Data))
			}
			if f.emit != nil {
				return f.emit(ctx)
			}
			return nil
		})
		f.took = time.Since(begin)
	}()
	synctest.Wait()
	return f
}

// over waits for the end of the stream.
func (f *follower) over() error {
	<-f.done
	return f.err
}

// open reports that the stream has not ended.
func (f *follower) open() bool {
	synctest.Wait()
	select {
	case <-f.done:
		return false
	default:
		return true
	}
}

func wantSeen(t *testing.T, f *follower, want ...string) {
	t.Helper()
	if diff := cmp.Diff(f.seen, want); diff != "" {
		t.Errorf("seen (-got +want):\n%s", diff)
	}
}

// note appends to the stream "s".
func (w *world) note(body string) {
	w.t.Helper()
	w.must(call(appendTo("s", body)))
}

func TestStreamTellsWhatThereIsAndWhatComesInOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		for _, body := range []string{"a", "b", "c"} { // more than it reads at once
			w.note(body)
		}
		f := w.follow(me, &tail{stream: "s"}, nil)
		time.Sleep(time.Second)
		w.note("d")
		w.must(call(appendTo("other", "x")))
		w.fails(call(act(func(t *namespace.Turn) (namespace.Answer, error) { // rolled back: nobody may see it
			_, err := appendTo("s", "spoilt")(t)
			return namespace.Answer{}, errors.Join(err, api.Errorf(api.Conflict, "no"))
		})), api.Conflict)
		time.Sleep(time.Second)
		w.must(call(act(func(t *namespace.Turn) (namespace.Answer, error) {
			for _, body := range []string{"e", "f", "g", "end", "after the end"} {
				if _, err := t.Append("s", "noted", body); err != nil {
					return namespace.Answer{}, err
				}
			}
			return namespace.Answer{}, nil
		})))
		if err := f.over(); err != nil {
			t.Errorf("got error %v, want none at the end", err)
		}
		wantSeen(t, f, "0 1 noted a", "0 2 noted b", "0 3 noted c", "1 4 noted d",
			"2 5 noted e", "2 6 noted f", "2 7 noted g", "2 8 noted end")
		// Who follows again begins where it ended.
		f = w.follow(me, &tail{stream: "s", after: 6}, nil)
		if err := f.over(); err != nil {
			t.Error(err)
		}
		wantSeen(t, f, "0 7 noted g", "0 8 noted end")
	})
}

func TestQuietStreamIsKeptAlive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, withIdleTimeout(time.Second))
		f := w.follow(me, &tail{stream: "s"}, nil)
		time.Sleep(12 * time.Second)
		w.note("a") // the quiet begins anew
		time.Sleep(6 * time.Second)
		w.note("end")
		if err := f.over(); err != nil {
			t.Error(err)
		}
		wantSeen(t, f, "0 -", "5 -", "10 -", "12 1 noted a", "17 -", "18 2 noted end")
		if got := w.runtime.NodeStats().Activations; got != 1 {
			t.Errorf("got %d activations, want 1: a stream keeps its namespace active", got)
		}
	})
}

func TestStreamEndsWithItsCaller(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		why := errors.New("gone")
		f := w.follow(me, &tail{stream: "s"}, nil)
		time.Sleep(time.Second)
		f.cancel(why)
		if err := f.over(); !errors.Is(err, why) || f.took != time.Second {
			t.Errorf("got error %v after %v, want the cause %v after 1s", err, f.took, why)
		}
		wantSeen(t, f, "0 -")
	})
}

func TestStreamEndsWhenItCannotTell(t *testing.T) {
	t.Parallel()
	why := errors.New("broken pipe")
	for emits, took := range []time.Duration{0, time.Second, time.Second + keepalive} {
		t.Run(fmt.Sprint(emits), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				n := 0
				f := w.follow(me, &tail{stream: "s"}, func(context.Context) error {
					if n++; n <= emits {
						return nil
					}
					return why
				})
				time.Sleep(time.Second)
				w.note("a")
				if err := f.over(); !errors.Is(err, why) || f.took != took {
					t.Errorf("got error %v after %v, want %v after %v", err, f.took, why, took)
				}
			})
		})
	}
}

// Who writes to a slow reader is told when it keeps the namespace from making room.
func TestEmitIsToldOfTheEndOfTheActivation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
		w.create("b")
		w.note("a")
		f := w.follow(me, &tail{stream: "s"}, func(ctx context.Context) error { <-ctx.Done(); return nil })
		time.Sleep(time.Second)
		if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
			t.Fatal(err)
		}
		if err := f.over(); err != nil || f.took != time.Second {
			t.Errorf("got error %v after %v, want none after 1s", err, f.took)
		}
		synctest.Wait()
		if _, active := w.active("a"); active {
			t.Error("the namespace is still active")
		}
	})
}

func TestStreamEndsWithTheErrorOfItsQuery(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := newWorld(t)
		f := w.follow(me, &tail{stream: "s", fails: api.Errorf(api.NotFound, "it is gone")}, nil)
		w.note("a")
		synctest.Wait()
		w.note("bad")
		wantCode(t, f.over(), api.NotFound)
		wantSeen(t, f, "0 -", "0 1 noted a")
	})
}

// The end of an activation is nothing that a stream's reader must know: it comes
// back, and goes on in the next one.
func TestStreamEndsWithItsActivation(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, w *world){
		"eviction": func(t *testing.T, w *world) {
			if _, err := w.runtime.Namespace("b").Do(t.Context(), call(put("k", 1))); err != nil {
				t.Error(err)
			}
		},
		"shutdown": func(t *testing.T, w *world) {
			if err := w.runtime.Shutdown(t.Context()); err != nil {
				t.Error(err)
			}
		},
		"close": func(t *testing.T, w *world) {
			if err := w.runtime.Close(); err != nil {
				t.Error(err)
			}
		},
		"deletion": func(t *testing.T, w *world) {
			if err := w.runtime.Delete(t.Context(), "a"); err != nil {
				t.Error(err)
			}
		},
		"failure": func(_ *testing.T, w *world) {
			w.fails(call(act(func(*namespace.Turn) (namespace.Answer, error) { panic("boom") })), api.Internal)
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t, func(o *namespace.Options) { o.MaxActive = 1 })
				w.create("b")
				w.note("a")
				f := w.follow(me, &tail{stream: "s"}, nil)
				time.Sleep(time.Second)
				if !f.open() {
					t.Fatal("the stream ended by itself")
				}
				end(t, w)
				if err := f.over(); err != nil || f.took != time.Second {
					t.Errorf("got error %v after %v, want none after 1s", err, f.took)
				}
				wantSeen(t, f, "0 1 noted a")
			})
		})
	}
}

func TestRevokedKeySeesNothingMoreOfAStream(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		more string
		took time.Duration
	}{"something comes": {"b", time.Second}, "nothing comes": {"", keepalive}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := newWorld(t)
				key := w.key("worker")
				caller, err := w.Authenticate(t.Context(), key.Secret)
				if err != nil {
					t.Fatal(err)
				}
				w.note("a")
				f := w.follow(caller, &tail{stream: "s"}, nil)
				time.Sleep(time.Second)
				if err := w.RevokeKey(t.Context(), key.ID); err != nil {
					t.Fatal(err)
				}
				if tt.more != "" {
					w.note(tt.more)
				}
				wantCode(t, f.over(), api.Unauthorized)
				if f.took != tt.took {
					t.Errorf("it ended after %v, want %v", f.took, tt.took)
				}
				wantSeen(t, f, "0 1 noted a")
			})
		})
	}
}

func TestStreamOfWhatIsNotThereFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	stream := func(n namespace.Namespace, class string, caller namespace.Caller) error {
		return n.Stream(t.Context(), class, caller, &tail{stream: "s"}, keepalive, func(context.Context, []namespace.Frame) error {
			t.Error("something was emitted")
			return nil
		})
	}
	wantCode(t, stream(w.runtime.Namespace("absent"), "depot", me), api.NotFound)
	wantCode(t, stream(w.Namespace, "nobody", me), api.NotFound)
	key := w.key("worker")
	caller, err := w.Authenticate(t.Context(), key.Secret)
	if err != nil {
		t.Fatal(err)
	}
	w.create("b")
	wantCode(t, stream(w.runtime.Namespace("b"), "depot", caller), api.Unauthorized)
}
