package cli

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// bar is a progress bar on standard error, or nothing where nobody looks.
type bar struct{ *progressbar.ProgressBar }

// bars reports whether progress is shown: on a terminal, and not beside JSON.
func (e *env) bars() bool { return e.errTerminal && !e.json }

func (e *env) byteBar(size int64, what string) bar {
	return e.newBar(size, what, progressbar.OptionShowBytes(true))
}

func (e *env) countBar(total int64, what string) bar {
	return e.newBar(total, what, progressbar.OptionShowCount())
}

// newBar makes a bar; a negative total is a spinner.
func (e *env) newBar(total int64, what string, o ...progressbar.Option) bar {
	o = append(o,
		progressbar.OptionSetWriter(e.errs),
		progressbar.OptionSetVisibility(e.bars()),
		progressbar.OptionSetDescription(what),
		progressbar.OptionThrottle(65*time.Millisecond),
		progressbar.OptionSetWidth(20),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetRenderBlankState(true),
	)
	return bar{progressbar.NewOptions64(total, o...)}
}

// done takes the bar off the screen.
func (b bar) done() { _ = b.Exit(); _ = b.Clear() }
