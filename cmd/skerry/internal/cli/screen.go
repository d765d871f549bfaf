package cli

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/skerryhq/skerry/client"
)

// screen is what skerry work shows: one line per finished job, the standard error
// of the jobs, and on a terminal a status line below. It is safe for concurrent
// use.
type screen struct {
	env *env

	mu      sync.Mutex
	status  bar
	running int
	count   map[client.Disposition]int
	// delay is why claiming is held up, as last shown.
	delay string
}

func newScreen(e *env) *screen {
	s := &screen{env: e, count: make(map[client.Disposition]int)}
	s.status = e.newBar(-1, s.summary())
	return s
}

// finished shows what became of a claim.
func (s *screen) finished(o client.Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count[o.Disposition]++
	s.delay = ""
	if s.env.json {
		_ = s.env.line(finishedJob(o))
		return
	}
	line := fmt.Sprintf("%s %s %s", o.Claim.Verb.ID, o.Disposition, o.Elapsed.Round(time.Millisecond))
	if o.Receipt != nil {
		line += " " + o.Receipt.Output.Ref + " " + o.Receipt.ID
	}
	if o.Err != nil {
		line += ": " + o.Err.Error()
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

// jobLine is a finished job for programs.
type jobLine struct {
	Verb      string `json:"verb"`
	Claim     string `json:"claim"`
	Kind      string `json:"kind"`
	Result    string `json:"result"`
	Receipt   string `json:"receipt,omitempty"`
	Output    string `json:"output,omitempty"`
	Error     string `json:"error,omitempty"`
	ElapsedMs int64  `json:"elapsed_ms"`
}

func finishedJob(o client.Outcome) jobLine {
	line := jobLine{
		Verb: o.Claim.Verb.ID, Claim: o.Claim.ID, Kind: o.Claim.Verb.Kind,
		Result: string(o.Disposition), ElapsedMs: o.Elapsed.Milliseconds(),
	}
	if o.Receipt != nil {
		line.Receipt, line.Output = o.Receipt.ID, o.Receipt.Output.Ref
	}
	if o.Err != nil {
		line.Error = o.Err.Error()
	}
	return line
}

// summary counts the commands that run and the jobs that are finished.
func (s *screen) summary() string {
	parts := []string{"waiting for work"}
	if s.running > 0 {
		parts[0] = fmt.Sprintf("%d running", s.running)
	}
	for _, d := range []client.Disposition{client.DoneSubmitted, client.DoneRetry, client.DoneFailed, client.DoneReleased, client.DoneLost} {
		if n := s.count[d]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, d))
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
