package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"text/tabwriter"

	"github.com/skerryhq/skerry/sim/figure"
)

// column is one figure of a table on the terminal.
type column struct{ figure, head string }

// tableColumns are those of namespaces, and partyColumns those of who uses them.
func tableColumns() []column {
	return []column{
		{"goodput_per_s", "goodput/s"},
		{"refused_total", "refused"},
		{"failed", "failed"},
		{"wait.p50_ms", "wait p50"},
		{"wait.p99_ms", "p99"},
		{"wait.p999_ms", "p99.9"},
		{"wait.max_ms", "max ms"},
		{"jain", "Jain"},
		{"largest_share", "largest"},
		{"longest_starvation_ms", "starved ms"},
		{"recovery_ms", "recovery ms"},
		{"limit.mean", "limit"},
	}
}

func partyColumns() []column {
	return []column{
		{"goodput_per_s", "goodput/s"},
		{"refused_total", "refused"},
		{"wait.p50_ms", "wait p50"},
		{"wait.p99_ms", "p99"},
		{"wait.max_ms", "max ms"},
		{"share", "share"},
		{"fair_share", "fair"},
		{"longest_starvation_ms", "starved ms"},
	}
}

// tableParties bounds the principals, and the tenants, that a table lists.
const tableParties = 8

// Table writes the figures for the terminal: a table for each namespace with a line for
// each policy, and below it those of principals and tenants. What is absent is a dash;
// of more than one seed, ± is half the 95 % confidence interval.
func Table(w io.Writer, s figure.Summary) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n", s.Scenario, s.Title)
	for _, space := range namespaces(s) {
		fmt.Fprintf(&b, "\nnamespace %s, over %s\n", space.name, seedCount(len(s.Seeds)))
		spaceTable(&b, space)
		partyTable(&b, "principal", space, principals)
		partyTable(&b, "tenant", space, tenants)
	}
	if _, err := w.Write(b.Bytes()); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	return nil
}

func seedCount(n int) string {
	if n == 1 {
		return "1 seed"
	}
	return fmt.Sprintf("%d seeds", n)
}

// tabs lines columns up. What it writes goes to a buffer and cannot fail.
func tabs(b *bytes.Buffer, head string, columns []column, rows func(row func(name string, f *figure.Figures))) {
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, head)
	for _, c := range columns {
		fmt.Fprint(w, "\t", c.head)
	}
	fmt.Fprintln(w)
	rows(func(name string, f *figure.Figures) {
		fmt.Fprint(w, name)
		for _, c := range columns {
			m, _ := measure(c.figure)
			fmt.Fprint(w, "\t", text(m.Of(f)))
		}
		fmt.Fprintln(w)
	})
	_ = w.Flush()
}

func spaceTable(b *bytes.Buffer, space space) {
	tabs(b, "policy", tableColumns(), func(row func(string, *figure.Figures)) {
		for i := range space.policies {
			row(space.policies[i].policy, &space.policies[i].Figures)
		}
	})
}

func partyTable(b *bytes.Buffer, head string, space space, of parties) {
	all := partyNames(space, of)
	if len(all) == 0 {
		return
	}
	shown := all[:min(len(all), tableParties)]
	fmt.Fprintln(b)
	tabs(b, head+"\tpolicy", partyColumns(), func(row func(string, *figure.Figures)) {
		for _, name := range shown {
			for i := range space.policies {
				if f := party(of(&space.policies[i].Namespace), name); f != nil {
					row(name+"\t"+space.policies[i].policy, f)
				}
			}
		}
	})
	if more := len(all) - len(shown); more > 0 {
		fmt.Fprintf(b, "and %d more, in summary.json\n", more)
	}
}

// text writes a figure with its interval.
func text(v figure.Value) string {
	switch v.Seeds {
	case 0:
		return "-"
	case 1:
		return number(v.Mean)
	}
	return number(v.Mean) + " ±" + number((v.High-v.Low)/2)
}

// number writes about three digits that count, so that columns can be read.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 100:
		return figure.Format(v, 0)
	case a >= 10:
		return figure.Format(v, 1)
	case a >= 1:
		return figure.Format(v, 2)
	}
	return figure.Format(v, 3)
}
