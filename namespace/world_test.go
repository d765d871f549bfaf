package namespace_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/skerryhq/skerry/api"
	"github.com/skerryhq/skerry/namespace"
)

// act is a command that does what a test says.
type act func(t *namespace.Turn) (namespace.Answer, error)

func (a act) Apply(t *namespace.Turn) (namespace.Answer, error) { return a(t) }

// admitted is a command that passes admission and may be parked.
type admitted struct {
	wait time.Duration
	act
}

func (a admitted) Wait() time.Duration { return a.wait }

// laned is a command with a lane of its own.
type laned struct {
	lane namespace.Lane
	act
}

func (l laned) Lane() namespace.Lane { return l.lane }

// ask is a query that does what a test says.
type ask func(ctx context.Context, v *namespace.View) (namespace.Answer, error)

func (a ask) Read(ctx context.Context, v *namespace.View) (namespace.Answer, error) { return a(ctx, v) }

// memory is the memory of the class depot, with the powers that a test gives it.
type memory struct{ powers *powers }

type powers struct {
	activate, alarm func(*namespace.Turn) error
	rolledBack      func(*namespace.View) error
}

func (m *memory) Activate(t *namespace.Turn) error {
	if m.powers.activate == nil {
		return nil
	}
	return m.powers.activate(t)
}

func (m *memory) Alarm(t *namespace.Turn) error {
	if m.powers.alarm == nil {
		return nil
	}
	return m.powers.alarm(t)
}

func (m *memory) RolledBack(v *namespace.View) error {
	if m.powers.rolledBack == nil {
		return nil
	}
	return m.powers.rolledBack(v)
}

// depot is the class of these tests: items of some kind, which are put in and
// taken out, oldest first.
func depot(p *powers) namespace.Class {
	if p == nil {
		p = &powers{}
	}
	return namespace.Class{
		Name: "depot",
		Migrations: fstest.MapFS{"001_depot.sql": {Data: []byte(`CREATE TABLE depot_item (
			id INTEGER PRIMARY KEY, kind TEXT NOT NULL, holder TEXT, fence INTEGER) STRICT;`)}},
		New:    func() any { return &memory{p} },
		Limits: map[string]int64{"items": 7},
	}
}

// put stores n items, tells of them, and answers with the number of the last.
func put(kind string, n int) act {
	return func(t *namespace.Turn) (namespace.Answer, error) {
		var id int64
		for range n {
			if _, err := t.QueryRow(`INSERT INTO depot_item (kind) VALUES (?) RETURNING id`, []any{kind}, &id); err != nil {
				return namespace.Answer{}, err
			}
		}
		t.Signal(kind, n)
		return namespace.Answer{Status: 201, Body: id}, nil
	}
}

// nothing is what take answers if there was nothing.
const nothing = int64(-1)

// take takes the oldest item of a kind and answers with its number, or waits
// for one.
func take(kind string, wait time.Duration) admitted {
	return admitted{wait, func(t *namespace.Turn) (namespace.Answer, error) {
		var id int64
		found, err := t.QueryRow(`SELECT id FROM depot_item WHERE kind = ? AND holder IS NULL ORDER BY id LIMIT 1`, []any{kind}, &id)
		if err != nil {
			return namespace.Answer{}, err
		}
		if !found {
			t.Park(kind)
			return namespace.Answer{Body: nothing, NoEffect: true}, nil
		}
		fence, err := t.Fence()
		if err != nil {
			return namespace.Answer{}, err
		}
		_, err = t.Exec(`UPDATE depot_item SET holder = ?, fence = ? WHERE id = ?`, t.Caller().Principal, fence, id)
		return namespace.Answer{Body: id}, err
	}}
}

// item is a row of the depot.
type item struct {
	ID     int64
	Kind   string
	Holder string
	Fence  int64
}

func items(v *namespace.View) ([]item, error) {
	rows, err := v.Query(`SELECT id, kind, coalesce(holder, ''), coalesce(fence, 0) FROM depot_item ORDER BY id`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := []item{}
	for rows.Next() {
		var i item
		if err := rows.Scan(&i.ID, &i.Kind, &i.Holder, &i.Fence); err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, rows.Err()
}

// world is a runtime with one namespace on real files.
type world struct {
	t       testing.TB
	dir     string
	options namespace.Options
	runtime *namespace.Runtime
	namespace.Namespace
}

// newWorld opens a runtime with the class depot and makes the namespace "a".
func newWorld(t testing.TB, edit ...func(*namespace.Options)) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), options: namespace.Options{Classes: []namespace.Class{depot(nil)}}}
	for _, e := range edit {
		e(&w.options)
	}
	w.open()
	t.Cleanup(func() { w.runtime.Close() })
	w.create("a")
	w.Namespace = w.runtime.Namespace("a")
	return w
}

func withPowers(p *powers) func(*namespace.Options) {
	return func(o *namespace.Options) { o.Classes = []namespace.Class{depot(p)} }
}

func withSettings(edit func(*namespace.Settings)) func(*namespace.Options) {
	return func(o *namespace.Options) {
		s := namespace.DefaultSettings()
		edit(&s)
		o.Defaults = &s
	}
}

func (w *world) open() {
	w.t.Helper()
	r, err := namespace.Open(w.t.Context(), w.dir, w.options)
	if err != nil {
		w.t.Fatalf("open runtime: %v", err)
	}
	w.runtime, w.Namespace = r, r.Namespace("a")
}

func (w *world) create(name string) {
	w.t.Helper()
	if created, err := w.runtime.Create(w.t.Context(), name); err != nil || !created {
		w.t.Fatalf("create %s: %v %v", name, created, err)
	}
}

// restart ends the runtime, properly or not, and opens another one.
func (w *world) restart(properly bool) {
	w.t.Helper()
	end := w.runtime.Close
	if properly {
		end = func() error { return w.runtime.Shutdown(w.t.Context()) }
	}
	if err := end(); err != nil {
		w.t.Fatalf("end runtime: %v", err)
	}
	w.open()
}

// crashCopy is the data directory as a process that dies now leaves it. No
// checkpoint may be in course.
func (w *world) crashCopy() string {
	w.t.Helper()
	dir := w.t.TempDir()
	err := filepath.WalkDir(w.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(w.dir, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.MkdirAll(filepath.Join(dir, rel), 0o700)
		}
		if filepath.Ext(path) == ".sqlite-shm" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), content, 0o600)
	})
	if err != nil {
		w.t.Fatalf("copy data directory: %v", err)
	}
	return dir
}

// me is who asks where it does not matter.
var me = namespace.Caller{Principal: "me"}

func as(principal string) namespace.Caller { return namespace.Caller{Principal: principal} }

// call is a command of the depot.
func call(c namespace.Command) namespace.Call {
	return namespace.Call{Class: "depot", Caller: me, Command: c}
}

func callAs(principal string, c namespace.Command) namespace.Call {
	return namespace.Call{Class: "depot", Caller: as(principal), Command: c}
}

// keyed is a command of the depot with an idempotency key and a body.
func keyed(key, body string, c namespace.Command) namespace.Call {
	k := call(c)
	k.Idempotency = namespace.Idempotency{Key: key, Scope: "POST /x"}
	copy(k.Idempotency.BodySHA256[:], body)
	return k
}

// must carries out a command that has to succeed.
func (w *world) must(c namespace.Call) namespace.Outcome {
	w.t.Helper()
	out, err := w.try(c)
	if err != nil {
		w.t.Fatalf("command: %v", err)
	}
	return out
}

// try carries out a command, which has to be answered within a minute.
func (w *world) try(c namespace.Call) (namespace.Outcome, error) {
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	return w.Do(ctx, c)
}

// fails carries out a command that has to fail with the code.
func (w *world) fails(c namespace.Call, code api.Code) *api.Error {
	w.t.Helper()
	_, err := w.try(c)
	return wantCode(w.t, err, code)
}

func wantCode(t testing.TB, err error, code api.Code) *api.Error {
	t.Helper()
	var e *api.Error
	if !errors.As(err, &e) || e.Code != code {
		t.Fatalf("got error %v, want %s", err, code)
	}
	return e
}

// items are the rows of the depot.
func (w *world) items() []item {
	w.t.Helper()
	var all []item
	_, err := w.Read(w.t.Context(), "depot", me, ask(func(_ context.Context, v *namespace.View) (a namespace.Answer, err error) {
		all, err = items(v)
		return namespace.Answer{}, err
	}))
	if err != nil {
		w.t.Fatalf("read items: %v", err)
	}
	return all
}

// status is the state of admission as an admin sees it.
func (w *world) status() api.AdmissionStatus {
	w.t.Helper()
	s, err := w.Admission(w.t.Context(), namespace.Caller{Principal: "admin", Roles: []api.Role{api.RoleAdmin}})
	if err != nil {
		w.t.Fatalf("admission: %v", err)
	}
	return s
}

// pending is a command under way.
type pending struct {
	t      testing.TB
	done   chan struct{}
	cancel context.CancelFunc
	out    namespace.Outcome
	err    error
	took   time.Duration
}

// start carries out a command in a goroutine of its own.
func (w *world) start(c namespace.Call) *pending {
	ctx, cancel := context.WithCancel(context.Background())
	w.t.Cleanup(cancel)
	p := &pending{t: w.t, done: make(chan struct{}), cancel: cancel}
	n, begin := w.Namespace, time.Now()
	go func() {
		defer close(p.done)
		p.out, p.err = n.Do(ctx, c)
		p.took = time.Since(begin)
		cancel()
	}()
	return p
}

// outcome waits for the command.
func (p *pending) outcome() (namespace.Outcome, error) {
	<-p.done
	return p.out, p.err
}

// body waits for the number that the command answers.
func (p *pending) body() int64 {
	p.t.Helper()
	<-p.done
	if p.err != nil {
		p.t.Fatalf("command: %v", p.err)
	}
	n, err := namespace.Document[int64](p.out.Answer)
	if err != nil {
		p.t.Fatal(err)
	}
	return n
}

// over reports whether the command has been answered.
func (p *pending) over() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// barrier holds the namespace's writer, so that a test decides what is queued
// behind it and goes into one commit.
type barrier struct {
	reached, open chan struct{}
	enter, leave  sync.Once
}

// hold stops the writer until the barrier is lifted.
func (w *world) hold() *barrier {
	b := &barrier{reached: make(chan struct{}), open: make(chan struct{})}
	w.start(call(laned{namespace.LaneUrgent, func(*namespace.Turn) (namespace.Answer, error) {
		b.enter.Do(func() { close(b.reached) })
		<-b.open
		return namespace.Answer{}, nil
	}}))
	<-b.reached
	w.t.Cleanup(b.lift)
	return b
}

// lift lets the writer go on.
func (b *barrier) lift() { b.leave.Do(func() { close(b.open) }) }

// bubble runs a test in virtual time: it passes when everybody waits.
func bubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// count reads one number.
func (w *world) count(sql string) int64 {
	w.t.Helper()
	var n int64
	_, err := w.Read(w.t.Context(), "depot", me, ask(func(_ context.Context, v *namespace.View) (namespace.Answer, error) {
		_, err := v.QueryRow(sql, nil, &n)
		return namespace.Answer{}, err
	}))
	if err != nil {
		w.t.Fatalf("count: %v", err)
	}
	return n
}

// patch changes settings.
func (w *world) patch(document string) api.Namespace {
	w.t.Helper()
	var patch map[string]json.RawMessage
	if err := json.Unmarshal([]byte(document), &patch); err != nil {
		w.t.Fatal(err)
	}
	doc, err := w.PatchSettings(w.t.Context(), patch)
	if err != nil {
		w.t.Fatalf("patch settings: %v", err)
	}
	return doc
}

// stats are the figures of namespace a.
func (w *world) stats() namespace.Stats {
	w.t.Helper()
	for s := range w.runtime.Stats() {
		if s.Namespace == "a" {
			return s
		}
	}
	w.t.Fatal("namespace a is not active")
	return namespace.Stats{}
}

// describe is what the operator sees of the namespace.
func (w *world) describe() api.Namespace {
	w.t.Helper()
	doc, err := w.Describe(w.t.Context())
	if err != nil {
		w.t.Fatalf("describe: %v", err)
	}
	return doc
}

// crowd starts so many commands that those of the lane of the admitted, of those
// that wait for the writer, do not go into the next commit.
func (w *world) crowd() {
	for range 128 {
		w.start(call(act(func(*namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, nil })))
	}
}

// active reports whether a namespace is listed, and whether it is active.
func (w *world) active(name string) (listed, active bool) {
	w.t.Helper()
	refs, _, err := w.runtime.List(w.t.Context(), "", false, 1000)
	if err != nil {
		w.t.Fatalf("list: %v", err)
	}
	for _, r := range refs {
		if r.Name == name {
			return true, r.Active
		}
	}
	return false, false
}

// lines is a log that a test reads.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// have reports whether some line holds all of the words.
func (l *lines) have(words ...string) bool {
	for line := range strings.Lines(l.String()) {
		if !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			return true
		}
	}
	return false
}

// key makes an API key.
func (w *world) key(principal string, roles ...api.Role) api.Key {
	w.t.Helper()
	if len(roles) == 0 {
		roles = []api.Role{api.RoleWorker}
	}
	k, err := w.CreateKey(w.t.Context(), api.KeySpec{Principal: principal, Roles: roles})
	if err != nil {
		w.t.Fatalf("create key: %v", err)
	}
	return k
}

// recovered waits until a namespace that has failed is open again: requests that
// come before that are told to try again.
func (w *world) recovered() {
	w.t.Helper()
	for {
		_, err := w.try(call(act(func(*namespace.Turn) (namespace.Answer, error) { return namespace.Answer{}, nil })))
		if err == nil {
			return
		}
		if e := api.AsError(err); e.Code.Status() != 503 {
			w.t.Fatalf("recover: %v", err)
		}
	}
}
