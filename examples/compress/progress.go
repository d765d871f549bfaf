package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a step is: as a bar on a terminal, else as a line at
// every tenth.
type progress struct {
	w     io.Writer
	what  string
	total int
	done  int
	// bar is nil where w is no terminal.
	bar *progressbar.ProgressBar
}

// newProgress begins a step of so many parts.
func newProgress(w io.Writer, what string, total int) *progress {
	p := &progress{w: w, what: what, total: total}
	if file, ok := w.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(w),
			progressbar.OptionSetDescription(fmt.Sprintf("%-9s", what)),
			progressbar.OptionShowCount(),
			progressbar.OptionShowIts(),
			progressbar.OptionSetWidth(30),
			progressbar.OptionThrottle(50*time.Millisecond),
			progressbar.OptionSetRenderBlankState(true),
			progressbar.OptionOnCompletion(func() { fmt.Fprintln(w) }),
		)
	}
	return p
}

// add counts n more parts as done.
func (p *progress) add(n int) {
	before := p.done
	p.done += n
	switch {
	case p.bar != nil:
		_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
	case before*10/p.total < p.done*10/p.total:
		fmt.Fprintf(p.w, "%s: %d of %d\n", p.what, p.done, p.total)
	}
}

// say writes a line above the bar.
func (p *progress) say(format string, args ...any) {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.w, format+"\n", args...)
	if p.bar != nil {
		_ = p.bar.RenderBlank()
	}
}
