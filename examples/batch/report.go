package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"
)

// report tells what each tenant got.
func report(out io.Writer, tenants []*tenant, quanta []quantum, orphans map[itemOf]int) error {
	both := contested(quanta, tenants)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TENANT\tITEMS\tQUANTA\tFIRST RESULT AFTER\tALL AFTER\tQUANTA WHILE BOTH HAD WORK\tITEMS TAKEN OVER")
	for _, t := range tenants {
		n := count(both, t.name)
		_, returns, _ := t.itemEvents()
		fmt.Fprintf(table, "%s\t%d\t%d\t%v\t%v\t%s\t%d\n", t.name, len(t.rows), count(quanta, t.name),
			t.first().Round(time.Millisecond), t.run.EndedAt.Sub(t.run.CreatedAt).Round(time.Millisecond), share(n, len(both)), len(returns))
	}
	if err := table.Flush(); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	results := 0
	for _, t := range tenants {
		results += len(t.items)
	}
	_, err := fmt.Fprintf(out, `
Order of the quanta: %s
Items that the killed worker held, all granted again: %d
Results: %d, each once, right and in the order of the input. Events without a gap.
`, order(quanta), len(orphans), results)
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

// first is how long the run waited for its first result.
func (t *tenant) first() time.Duration {
	for _, e := range t.events {
		if e.Type == eventSucceeded {
			return e.At.Sub(t.run.CreatedAt)
		}
	}
	return 0
}

func share(n, of int) string {
	if of == 0 {
		return "none"
	}
	return fmt.Sprintf("%d of %d (%d %%)", n, of, (100*n+of/2)/of)
}
