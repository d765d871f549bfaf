package namespacetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// shelf is a class of these tests: books, numbered by a counter in memory. Its
// fault, if any, is what a check has to find.
type shelf struct{ fault string }

// counter is the class's memory.
type counter struct {
	fault string
	last  int64
}

func (c *counter) Activate(t *namespace.Turn) error {
	if c.fault == "activation leaves a row" {
		if _, err := t.Exec(`INSERT INTO shelf_book (id, title) SELECT -1 - count(*), 'x' FROM shelf_book`); err != nil {
			return err
		}
	}
	return c.RolledBack(&t.View)
}

func (c *counter) RolledBack(v *namespace.View) error {
	if c.fault == "memory is not read again" && c.last > 0 {
		return nil
	}
	_, err := v.QueryRow(`SELECT coalesce(max(id), 0) FROM shelf_book WHERE id > 0`, nil, &c.last)
	return err
}

func (c *counter) Alarm(*namespace.Turn) error { return nil }

// book is the document of a book.
type book struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
}

// add is the command that puts a book on the shelf.
type add struct {
	fault string
	title string
}

func (a add) Apply(t *namespace.Turn) (namespace.Answer, error) {
	c := t.State().(*counter)
	c.last++
	if _, err := t.Exec(`INSERT INTO shelf_book (id, title) VALUES (?, ?)`, c.last, a.title); err != nil {
		return namespace.Answer{}, err
	}
	if _, err := t.Append("books", "added", a.title); err != nil {
		return namespace.Answer{}, err
	}
	t.AlarmBy(t.Now().Add(time.Hour))
	answer := namespace.Answer{Status: 201, Body: book{c.last, a.title}}
	switch a.fault {
	case "status is not the route's":
		answer.Status = 200
	case "answer does not encode":
		answer.Body = make(chan int)
	case "answer is no document":
		answer.Body = c.last
	}
	return answer, nil
}

func (a add) ApplyAll(turns []*namespace.Turn) error {
	for n, t := range turns {
		if a.fault == "batch loses one" && n > 0 {
			t.Answer(namespace.Answer{Status: 201, Body: book{Title: "lost"}})
			continue
		}
		answer, err := t.Command().(add).Apply(t)
		if err != nil {
			return err
		}
		t.Answer(answer)
	}
	return nil
}

// forgetful claims to keep its idempotency records, and does not.
type forgetful struct{ add }

func (forgetful) Recorded(*namespace.Turn) (namespace.Record, bool, error) {
	return namespace.Record{}, false, nil
}

// list is the query that lists the books.
type list struct{ fault string }

func (l list) Read(_ context.Context, v *namespace.View) (namespace.Answer, error) {
	sql := `SELECT title FROM shelf_book ORDER BY id`
	if l.fault == "query writes" {
		sql = `INSERT INTO shelf_book (title) VALUES ('x') RETURNING title`
	}
	titles, err := column(v, sql)
	return namespace.Answer{Body: map[string]any{"titles": titles}}, err
}

// additions is the query that tells of the books as they come, one at a time.
type additions struct {
	list
	after int64
}

func (a *additions) Topics() []string {
	if a.fault == "stream without topics" {
		return nil
	}
	return []string{namespace.EventTopic("books")}
}

func (a *additions) Next(_ context.Context, v *namespace.View) (frames []namespace.Frame, end bool, err error) {
	events, err := v.Events("books", a.after, 1)
	for _, e := range events {
		a.after = e.Sequence
		f := namespace.Frame{ID: strconv.FormatInt(e.Sequence, 10), Event: e.Type, Data: e.Body}
		switch a.fault {
		case "frames of one id":
			f.ID = "1"
		case "frame of two lines":
			f.Event = "added\ndata: more"
		case "frame that does not encode":
			f.Data = make(chan int)
		}
		frames = append(frames, f)
	}
	return frames, false, err
}

func (s shelf) follow(r *namespace.Request) (namespace.Query, error) {
	if s.fault == "stream that cannot be followed" {
		return list(s), nil
	}
	q := &additions{list: list(s)}
	if r.LastEventID != "" && s.fault != "stream that begins anew" {
		after, err := strconv.ParseInt(r.LastEventID, 10, 64)
		if err != nil {
			return nil, api.Errorf(api.BadRequest, "the last event's id is not a number")
		}
		q.after = after
	}
	return q, nil
}

func (s shelf) class() namespace.Class {
	sql := `CREATE TABLE shelf_book (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT; CREATE INDEX shelf_title ON shelf_book (title);`
	switch s.fault {
	case "table without the prefix":
		sql += `CREATE TABLE book (id INTEGER) STRICT;`
	case "index without the prefix":
		sql += `CREATE INDEX titles ON shelf_book (title);`
	case "deferred constraint":
		sql += `CREATE TABLE shelf_page (book INTEGER REFERENCES shelf_book (id) DEFERRABLE INITIALLY  DEFERRED) STRICT;`
	}
	c := namespace.Class{
		Name:       "shelf",
		Migrations: fstest.MapFS{"001_shelf.sql": {Data: []byte(sql)}, "002_more.sql": {Data: []byte(`CREATE TABLE shelf_more (x INTEGER) STRICT;`)}},
		New:        func() any { return &counter{fault: s.fault} },
		Routes: []namespace.Route{{
			Method: "POST", Path: "/books", Summary: "Put a book on the shelf", Roles: []api.Role{api.RoleProducer},
			In: book{}, Out: book{}, Status: 201, Command: s.add,
		}, {
			Method: "GET", Path: "/books", Summary: "List the books", Roles: []api.Role{api.RoleWorker}, Out: map[string]any{},
			Query: func(*namespace.Request) (namespace.Query, error) { return list(s), nil },
		}, {
			Method: "GET", Path: "/books/additions", Summary: "Follow what is put on the shelf", Roles: []api.Role{api.RoleWorker},
			Out: map[string]any{}, Streams: true, Query: s.follow,
		}},
	}
	s.spoilRoutes(&c)
	return c
}

// spoilRoutes gives the routes those faults that are theirs.
func (s shelf) spoilRoutes(c *namespace.Class) {
	post, get := &c.Routes[0], &c.Routes[1]
	switch s.fault {
	case "route without an example":
		other := *get
		other.Path = "/others"
		c.Routes = append(c.Routes, other)
	case "two routes of one shape":
		one, two := *get, *get
		one.Path, two.Path = "/books/{id}", "/books/{title}"
		c.Routes = append(c.Routes, one, two)
	case "command and query":
		post.Query = get.Query
	case "neither command nor query":
		post.Command = nil
	case "command by GET":
		post.Method = "GET"
	case "no answer said":
		get.Out = nil
	case "no summary":
		get.Summary = ""
	case "unknown role":
		get.Roles = []api.Role{"reader"}
	case "no role":
		get.Roles = nil
	case "query with a key":
		get.RequireIdempotencyKey = true
	case "command that streams":
		post.Streams = true
	case "status of failure":
		post.Status = 404
	case "path without a slash":
		post.Path = "books"
	case "parameter behind the rest":
		get.Path = "/books/{key...}/x"
	}
}

func (s shelf) add(r *namespace.Request) (namespace.Command, error) {
	var b book
	if err := r.Decode(&b); err != nil {
		return nil, err
	}
	if s.fault == "command has its effect twice" {
		return forgetful{add{s.fault, b.Title}}, nil
	}
	return add{s.fault, b.Title}, nil
}

func (s shelf) suite() Suite {
	adding := func(name string) Example {
		return Example{Name: name, Route: "POST /books", Request: func(done Answers) (namespace.Request, error) {
			title := name
			if first, ok := done["first"]; ok {
				b, err := namespace.Document[book](first)
				if err != nil {
					return namespace.Request{}, err
				}
				title = fmt.Sprintf("%s, after %d", name, b.ID)
			}
			body, err := namespace.Encode(map[string]string{"title": title})
			return namespace.Request{Body: body}, err
		}}
	}
	return Suite{
		Class:      s.class,
		Commands:   []Example{adding("first"), adding("second")},
		Concurrent: []Example{adding("third"), adding("fourth"), adding("fifth")},
		Queries:    []Example{{Name: "list", Route: "GET /books"}, {Name: "additions", Route: "GET /books/additions"}},
		Volatile:   []string{"shelf_book.id", "ns_event.sequence"},
	}
}

func TestGoodClassPasses(t *testing.T) {
	t.Parallel()
	Run(t, shelf{}.suite())
}

func TestClassWithAFaultFailsTheCheckForIt(t *testing.T) {
	t.Parallel()
	for fault, name := range map[string]string{
		"route without an example":     "routes",
		"two routes of one shape":      "routes",
		"command and query":            "routes",
		"neither command nor query":    "routes",
		"command by GET":               "routes",
		"no answer said":               "routes",
		"no summary":                   "routes",
		"unknown role":                 "routes",
		"no role":                      "routes",
		"query with a key":             "routes",
		"status of failure":            "routes",
		"path without a slash":         "routes",
		"parameter behind the rest":    "routes",
		"table without the prefix":     "schema",
		"index without the prefix":     "schema",
		"deferred constraint":          "schema",
		"status is not the route's":    "answers",
		"answer does not encode":       "answers",
		"answer is no document":        "answers",
		"memory is not read again":     "rollback",
		"command has its effect twice": "idempotency",
		"batch loses one":              "concurrency",
		"activation leaves a row":      "restart",
		"query writes":                 "restart",

		"command that streams":           "routes",
		"stream that cannot be followed": "streams",
		"stream without topics":          "streams",
		"stream that begins anew":        "streams",
		"frames of one id":               "streams",
		"frame of two lines":             "streams",
		"frame that does not encode":     "streams",
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			s := shelf{fault}.suite()
			if fault == "memory is not read again" { // it is told by the numbers
				s.Volatile = nil
			}
			for _, c := range checks() {
				if c.name == name {
					if wrong := c.run(t, s); len(wrong) == 0 {
						t.Errorf("the check of the %s finds nothing", name)
					}
				}
			}
		})
	}
}

func TestExampleWithoutAnythingToSendIsReported(t *testing.T) {
	t.Parallel()
	for name, e := range map[string]Example{
		"nothing":          {Name: "x"},
		"unknown route":    {Name: "x", Route: "POST /nowhere"},
		"a name twice":     {Name: "first", Route: "POST /books"},
		"failing request":  {Name: "x", Route: "POST /books", Request: func(Answers) (namespace.Request, error) { return namespace.Request{}, errSpoiled }},
		"refused request":  {Name: "x", Route: "POST /books", Request: func(Answers) (namespace.Request, error) { return namespace.Request{Body: []byte(`{"no": 1}`)}, nil }},
		"failing commands": {Name: "x", Command: func(Answers) (namespace.Command, error) { return nil, errSpoiled }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shelf{}.suite()
			s.Commands = append(s.Commands, e)
			wrong := append(checkRoutes(t, s), checkAnswers(t, s)...)
			if len(wrong) == 0 || !strings.Contains(fmt.Sprint(wrong), e.Name) {
				t.Errorf("got %v, want an error that names the example", wrong)
			}
		})
	}
}

func TestDifferenceShowsWhatIsOnlyOnOneSide(t *testing.T) {
	t.Parallel()
	got := differ("rows", []string{"a", "b", "b"}, []string{"a", "b", "c"})
	if want := "rows (-want +got):\n+ b\n- c"; got == nil || got.Error() != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if err := differ("rows", []string{"a"}, []string{"a"}); err != nil {
		t.Errorf("got %v for equal rows", err)
	}
}
