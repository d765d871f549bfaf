package sim

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/skerryhq/skerry/sim/report"
)

// Request is what became of one attempt of a request.
type Request = report.Request

// Table writes the figures for a terminal.
func (r *Result) Table(w io.Writer) error { return report.Table(w, r.Summary) }

// WriteFiles writes summary.json, series.csv and report.html into a folder, which is
// made if it is absent, and requests.csv if there are any. None holds a wall time or a
// path.
func (r *Result) WriteFiles(dir string, requests []Request) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make folder of results: %w", err)
	}
	files := []struct {
		name  string
		write func(io.Writer) error
	}{
		{"summary.json", func(w io.Writer) error { return report.WriteSummary(w, r.Summary) }},
		{"series.csv", func(w io.Writer) error { return report.WriteSeries(w, r.Series) }},
		{"report.html", func(w io.Writer) error { return report.WriteHTML(w, r.Input) }},
		{"requests.csv", func(w io.Writer) error { return report.WriteRequests(w, slices.Values(requests)) }},
	}
	if len(requests) == 0 {
		files = files[:3]
	}
	for _, f := range files {
		var content bytes.Buffer
		err := f.write(&content)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.name), content.Bytes(), 0o644)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
	}
	return nil
}
