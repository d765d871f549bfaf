package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// printReports prints what came of the work and, since nothing is reported that
// did not pass, what was checked.
func printReports(w io.Writer, reports []*report, took time.Duration) error {
	files, receipts, takeovers := 0, 0, 0
	for _, r := range reports {
		files, receipts, takeovers = files+r.files, receipts+r.receipts, takeovers+r.takeovers
	}
	_, err := fmt.Fprintf(w, `
%s
%sWAIT is for admission, as a claim beside those of the workers met it; DONE AFTER is from a verb's creation to its receipt.

Receipts: %d, each with the digest that it bears, and each artifact read back with the digest that its receipt records.
One receipt for each verb, and no fence twice. Leases of the killed worker that others took over: %d.
Files restored from their winners and equal to those on disk: %d. Node and workers stopped cleanly. %.1f s in all.
`, methodTable(reports), spaceTable(reports), receipts, takeovers, files, took.Seconds())
	return err
}

func methodTable(reports []*report) string {
	sum := make(map[method]tally)
	for _, r := range reports {
		for m, t := range r.methods {
			s := sum[m]
			sum[m] = tally{s.attempts + t.attempts, s.wins + t.wins, s.bytesIn + t.bytesIn, s.bytesMade + t.bytesMade}
		}
	}
	best := slices.SortedFunc(maps.Keys(sum), func(a, b method) int {
		return cmp.Or(cmp.Compare(sum[b].wins, sum[a].wins), cmp.Compare(a.String(), b.String()))
	})
	rows := [][]string{{"PROGRAM", "ATTEMPTS", "WINS", "BYTES IN", "BYTES OUT", "RATIO"}}
	for _, m := range best {
		s := sum[m]
		rows = append(rows, []string{
			m.String(), strconv.Itoa(s.attempts), strconv.Itoa(s.wins),
			grouped(s.bytesIn), grouped(s.bytesMade), ratio(s.bytesMade, s.bytesIn),
		})
	}
	return align(rows)
}

func spaceTable(reports []*report) string {
	rows := [][]string{{
		"NAMESPACE", "FILES", "VERBS", "RECEIPTS", "BYTES IN", "BYTES KEPT", "TAKEOVERS", "CLAIMS/S", "DURATION",
		"WAIT p50/max", "DONE AFTER p50/max",
	}}
	for _, r := range reports {
		rows = append(rows, []string{
			r.name, strconv.Itoa(r.files), strconv.Itoa(r.verbs), strconv.Itoa(r.receipts),
			grouped(r.bytesIn), grouped(r.bytesKept), strconv.Itoa(r.takeovers),
			rate(r.grants, r.elapsed), seconds(r.elapsed), spread(r.waits), spread(r.turnaround),
		})
	}
	return align(rows)
}

// align sets columns side by side, the first to the left and figures to the right.
func align(rows [][]string) string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&b, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&b, "  %*s", widths[i+1], cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// grouped writes a number that is not negative with its thousands apart.
func grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// ratio is what of the input was left; of nothing there is none.
func ratio(out, in int64) string {
	if in == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(out)/float64(in))
}

func rate(n int, d time.Duration) string {
	if d <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(n)/d.Seconds())
}

// spread is the median and the maximum.
func spread(all []time.Duration) string {
	if len(all) == 0 {
		return "-"
	}
	sorted := slices.Sorted(slices.Values(all))
	return seconds(sorted[(len(sorted)-1)/2]) + " / " + seconds(sorted[len(sorted)-1])
}

func seconds(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
