package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// screen is what skerry work shows: one line per finished job, the standard error
// of the jobs, and on a terminal a status line below. It is safe for concurrent
// use.
type screen struct {
	env *env

	mu      sync.Mutex
	status  bar
	running int
	count   map[string]int
	// delay is why claiming is held up, as last shown.
	delay string
}

func newScreen(e *env) *screen {
	s := &screen{env: e, count: make(map[string]int)}
	s.status = e.newBar(-1, s.summary())
	return s
}

// finished shows what became of a job: the line for people, or the document for
// programs. The status line counts the results.
func (s *screen) finished(result, line string, document any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[result]++
	s.delay = ""
	if s.env.json {
		_ = s.env.line(document)
		return
	}
	s.status.Describe(s.summary())
	s.print(oneLine(line) + "\n")
}

// run counts a command that starts, or with -1 one that has ended.
func (s *screen) run(change int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += change
	s.status.Describe(s.summary())
}

// delayed tells why no work comes, once until some does or the reason changes.
func (s *screen) delayed(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.delay != why {
		s.delay = why
		s.print("still trying: " + why + "\n")
	}
}

// stopping tells that the worker has begun to stop.
func (s *screen) stopping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.env.json {
		s.print("stopping when the running commands have finished; interrupt again to end them at once\n")
	}
}

// summary counts the commands that run and the jobs that are finished.
func (s *screen) summary() string {
	parts := []string{"waiting for work"}
	if s.running > 0 {
		parts[0] = fmt.Sprintf("%d running", s.running)
	}
	for _, result := range []string{"submitted", "succeeded", "retry", "failed", "ignored", "released", "lost"} {
		if n := s.count[result]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, result))
		}
	}
	return strings.Join(parts, ", ")
}

// print writes above the status line.
func (s *screen) print(text string) {
	_ = s.status.Clear()
	_, _ = io.WriteString(s.env.errs, text)
	_ = s.status.RenderBlank()
}

func (s *screen) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.done()
}

// tail is the standard error of one job: whole lines go to the screen behind the
// job's name, and the last part is kept for a failure's message.
type tail struct {
	screen *screen
	prefix string

	line []byte
	kept []byte
}

const (
	maxTail = 4 << 10
	// maxPending bounds a line without an end.
	maxPending = 8 << 10
)

// Write never fails: what a job says must not stop it.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if over := len(t.kept) - maxTail; over > 0 {
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
	t.line = append(t.line, p...)
	end := bytes.LastIndexByte(t.line, '\n') + 1
	if end == 0 && len(t.line) > maxPending {
		end = len(t.line)
	}
	t.show(t.line[:end])
	t.line = append(t.line[:0], t.line[end:]...)
	return len(p), nil
}

// end shows a last line that had no end.
func (t *tail) end() { t.show(t.line) }

func (t *tail) show(text []byte) {
	if len(text) == 0 {
		return
	}
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		out.WriteString(t.prefix + strings.TrimSuffix(line, "\n") + "\n")
	}
	t.screen.mu.Lock()
	defer t.screen.mu.Unlock()
	t.screen.print(out.String())
}

// message is the end of what the job said.
func (t *tail) message() string { return strings.TrimSpace(strings.ToValidUTF8(string(t.kept), "")) }
