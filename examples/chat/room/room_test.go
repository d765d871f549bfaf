package room_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/examples/chat/room"
	"github.com/skerryhq/skerry/namespace"
	"github.com/skerryhq/skerry/namespace/namespacetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func alice() namespace.Caller { return namespace.Caller{Principal: "alice"} }

// open opens a runtime with the class, in a bubble of virtual time.
func open(t *testing.T, dir string) *namespace.Runtime {
	t.Helper()
	r, err := namespace.Open(t.Context(), dir, namespace.Options{Classes: []namespace.Class{room.Class(time.Hour)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := r.Create(t.Context(), "club"); err != nil {
		t.Fatal(err)
	}
	return r
}

func post(t *testing.T, r room.Room, text string) int64 {
	t.Helper()
	posted, err := r.Post(t.Context(), alice(), text)
	if err != nil {
		t.Fatalf("post: %v", err)
	}
	return posted.Number
}

func listen(t *testing.T, r room.Room, q room.Listen) []room.Message {
	t.Helper()
	heard, err := r.Listen(t.Context(), alice(), q)
	if err != nil {
		t.Errorf("listen: %v", err)
	}
	return heard
}

func TestListenerHearsWhatIsSaidNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lobby := room.In(open(t, t.TempDir()).Namespace("club"), "lobby")
		first := post(t, lobby, "hello")
		begin := time.Now()
		heard := make(chan []room.Message, 1)
		go func() { heard <- listen(t, lobby, room.Listen{After: first, For: 30 * time.Second}) }()
		time.Sleep(10 * time.Second)
		post(t, lobby, "anybody?")
		want := []room.Message{{Number: 2, By: "alice", Text: "anybody?", At: begin.Add(10 * time.Second).UTC()}}
		if diff := cmp.Diff(<-heard, want); diff != "" {
			t.Errorf("messages (-got +want):\n%s", diff)
		}
		if got := listen(t, lobby, room.Listen{After: 2, For: time.Second}); len(got) != 0 {
			t.Errorf("got %v at the end of the wait, want nothing", got)
		}
	})
}

func TestQuietRoomIsClosedAlsoIfTheProcessDied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		r := open(t, dir)
		post(t, room.In(r.Namespace("club"), "quiet"), "hello")
		time.Sleep(40 * time.Minute)
		post(t, room.In(r.Namespace("club"), "lively"), "hello")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = open(t, dir) // and nobody asks for anything
		time.Sleep(30 * time.Minute)
		for name, want := range map[string]int{"quiet": 0, "lively": 1} {
			if got := listen(t, room.In(r.Namespace("club"), name), room.Listen{}); len(got) != want {
				t.Errorf("%s: got %d messages, want %d", name, len(got), want)
			}
		}
		if got := post(t, room.In(r.Namespace("club"), "quiet"), "again"); got != 1 {
			t.Errorf("got number %d in a room that was closed, want 1", got)
		}
	})
}

func TestManyQuietRoomsAreClosedInSteps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := open(t, t.TempDir())
		for n := range 250 {
			post(t, room.In(r.Namespace("club"), strings.Repeat("r", n%50+1)+string(rune('a'+n/50))), "hello")
		}
		time.Sleep(time.Hour + time.Second)
		for n := range 250 {
			if got := listen(t, room.In(r.Namespace("club"), strings.Repeat("r", n%50+1)+string(rune('a'+n/50))), room.Listen{}); len(got) != 0 {
				t.Errorf("room %d is still open", n)
			}
		}
	})
}

func TestBadMessageNamesTheField(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ room, text, field string }{
		{"", "hello", "room"},
		{strings.Repeat("r", 65), "hello", "room"},
		{"lobby", " \n", "text"},
		{"lobby", strings.Repeat("x", 4097), "text"},
	} {
		_, err := room.NewPost(tt.room, tt.text)
		if e := api.AsError(err); e == nil || e.Code != api.InvalidField || e.Field != tt.field {
			t.Errorf("%.10q, %.10q: got error %v, want one of field %s", tt.room, tt.text, err, tt.field)
		}
	}
}

func posting(name, to string) namespacetest.Example {
	return namespacetest.Example{
		Name: name, Route: "POST /rooms/{room}/messages",
		Request: func(namespacetest.Answers) (namespace.Request, error) {
			return namespace.Request{Path: map[string]string{"room": to}, Body: []byte(`{"text": "` + name + `"}`)}, nil
		},
	}
}

// Any class is held to the contract like this.
func TestConformance(t *testing.T) {
	t.Parallel()
	namespacetest.Run(t, namespacetest.Suite{
		Class:      func() namespace.Class { return room.Class(time.Hour) },
		Commands:   []namespacetest.Example{posting("one", "lobby"), posting("two", "lobby"), posting("three", "cellar")},
		Concurrent: []namespacetest.Example{posting("four", "lobby"), posting("five", "lobby"), posting("six", "attic")},
		Queries: []namespacetest.Example{{
			Name: "lobby", Route: "GET /rooms/{room}/messages",
			Request: func(namespacetest.Answers) (namespace.Request, error) {
				return namespace.Request{Path: map[string]string{"room": "lobby"}}, nil
			},
		}},
		// Which of several at once is which number.
		Volatile: []string{"ns_event.sequence"},
	})
}
