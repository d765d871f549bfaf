package admission

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected output in testdata/scripts")

// TestScripts runs every file of testdata/scripts against a Gate. A line is a
// command, a comment (#), or what the command above it printed (>):
//
//	gate MODE SETTING=VALUE …          begin with a new gate
//	arrive T ID PRINCIPAL              finish, discard, cancel T ID
//	finishin T ID SERVICE              tick T
//	mode T MODE                        reconfigure T SETTING=VALUE …
//	status T                           standing T                     counters
//
// Settings that reconfigure does not name stay. Times count in milliseconds.
func TestScripts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/scripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no scripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := new(script).run(t, string(text))
			if *rewrite {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(got, string(text)); diff != "" {
				t.Errorf("(-got +want)\n%s", diff)
			}
		})
	}
}

type script struct {
	gate *Gate
	cfg  Config
}

// run executes the commands of text, and returns it with what they print now.
func (s *script) run(t *testing.T, text string) string {
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		fmt.Fprintln(&out, line)
		words := strings.Fields(line)
		if len(words) == 0 || words[0] == "#" {
			continue
		}
		printed, err := s.command(words)
		if err != nil {
			t.Fatalf("line %d, %q: %v", i+1, line, err)
		}
		for _, p := range printed {
			fmt.Fprintln(&out, ">", p)
		}
	}
	return out.String()
}

func (s *script) command(words []string) ([]string, error) {
	switch words[0] {
	case "gate":
		return nil, s.begin(words[1], words[2:])
	case "counters":
		return s.counters(), nil
	}
	now, err := strconv.ParseInt(words[1], 10, 64)
	if err != nil {
		return nil, err
	}
	switch words[0] {
	case "status":
		return []string{s.status(now)}, nil
	case "standing":
		var rows []string
		for r := range s.gate.Principals(now) {
			rows = append(rows, fmt.Sprintf("%s pending=%d inflight=%d oldest=%d", r.Principal, r.Pending, r.InFlight, r.OldestWait))
		}
		return rows, nil
	case "mode":
		mode, err := ParseMode(words[2])
		if err != nil {
			return nil, err
		}
		return printed(s.gate.SetMode(now, mode)), nil
	case "reconfigure":
		return s.reconfigure(now, words[2:])
	}
	return s.event(now, words)
}

func (s *script) event(now int64, words []string) ([]string, error) {
	if words[0] == "tick" {
		return printed(s.gate.Tick(now)), nil
	}
	n, err := strconv.ParseUint(words[2], 10, 64)
	if err != nil {
		return nil, err
	}
	id := ID(n)
	switch words[0] {
	case "arrive":
		return printed(s.gate.Arrive(now, id, words[3])), nil
	case "finish":
		return printed(s.gate.Finish(now, id)), nil
	case "finishin":
		service, err := strconv.ParseInt(words[3], 10, 64)
		if err != nil {
			return nil, err
		}
		return printed(s.gate.FinishIn(now, id, service)), nil
	case "discard":
		return printed(s.gate.Discard(now, id)), nil
	case "cancel":
		return printed(s.gate.Cancel(now, id)), nil
	}
	return nil, fmt.Errorf("unknown command %q", words[0])
}

func (s *script) begin(mode string, settings []string) error {
	m, err := ParseMode(mode)
	if err != nil {
		return err
	}
	s.cfg = Config{Second: 1000}
	if err := set(&s.cfg, settings); err != nil {
		return err
	}
	s.gate, err = NewGate(s.cfg, m)
	return err
}

func (s *script) reconfigure(now int64, settings []string) ([]string, error) {
	cfg := s.cfg
	if err := set(&cfg, settings); err != nil {
		return nil, err
	}
	ds, err := s.gate.Reconfigure(now, cfg)
	if err != nil {
		return []string{"error: " + err.Error()}, nil
	}
	s.cfg = cfg
	return printed(ds), nil
}

func set(c *Config, settings []string) error {
	for _, setting := range settings {
		name, text, _ := strings.Cut(setting, "=")
		value, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		switch name {
		case "initial":
			c.Initial = value
		case "min":
			c.Min = value
		case "max":
			c.Max = value
		case "pending":
			c.Pending = value
		case "target":
			c.Target = int64(value)
		case "wait":
			c.MaxWait = int64(value)
		default:
			return fmt.Errorf("unknown setting %q", name)
		}
	}
	return nil
}

func printed(ds []Decision) []string {
	var lines []string
	for _, d := range ds {
		line := fmt.Sprintf("%s %d %s", d.Kind, d.ID, d.Principal)
		if d.Waited > 0 {
			line += fmt.Sprintf(" waited=%d", d.Waited)
		}
		if d.Kind == Refuse {
			line += fmt.Sprintf(" retry=%d (%s)", d.RetryAfter, d.Reason)
		}
		lines = append(lines, line)
	}
	return lines
}

func (s *script) status(now int64) string {
	g := s.gate
	line := fmt.Sprintf("%s limit=%.4g/%d running=%d inflight=%d pending=%d oldest=%d",
		g.Mode(), g.Limit(), g.Concurrency(), g.Running(), g.InFlight(), g.Pending(), g.OldestWait(now))
	if average, ok := g.Average(); ok {
		line += fmt.Sprintf(" average=%.4g", average)
	}
	if deadline, ok := g.NextDeadline(); ok {
		line += fmt.Sprintf(" deadline=%d", deadline)
	}
	return line
}

func (s *script) counters() []string {
	c := s.gate.Counters()
	var lines []string
	add := func(name string, n uint64) {
		if n > 0 {
			lines = append(lines, fmt.Sprintf("%s %d", name, n))
		}
	}
	for k, n := range c.Decisions {
		add(Kind(k).String(), n)
	}
	for r, n := range c.Refused {
		add("refused: "+Reason(r).String(), n)
	}
	add("would wait", c.WouldWait)
	for r, n := range c.WouldRefuse {
		add("would refuse: "+Reason(r).String(), n)
	}
	return lines
}
