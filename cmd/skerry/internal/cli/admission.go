package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/skerryhq/skerry/api"
)

// clearScreen moves home and clears a terminal.
const clearScreen = "\x1b[H\x1b[2J"

func newAdmissionCommand(e *env) *cobra.Command {
	var watch bool
	var every time.Duration
	cmd := &cobra.Command{
		Use: "admission", Short: "Show how claims are admitted at this moment", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if every < 100*time.Millisecond {
				return usage("--every is below 100ms")
			}
			cl, err := e.client(e.options())
			if err != nil {
				return err
			}
			defer cl.Close()
			for shown := false; ; shown = true {
				status, err := cl.Admission(cmd.Context())
				if shown && cmd.Context().Err() != nil {
					return nil
				}
				if err != nil {
					return err
				}
				if watch && e.outTerminal && !e.json {
					fmt.Fprint(e.out, clearScreen)
				}
				if err := e.printAdmission(status); err != nil || !watch {
					return err
				}
				if !pause(cmd.Context(), every) {
					return nil
				}
			}
		},
	}
	cmd.Flags().BoolVarP(&watch, "watch", "w", false, "show it again and again until interrupted")
	cmd.Flags().DurationVar(&every, "every", 2*time.Second, "how often, with --watch")
	return cmd
}

// pause waits, and is false if the context ended before that.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (e *env) printAdmission(s *api.AdmissionStatus) error {
	average := "no sample yet"
	if s.AverageMs != nil {
		average = strconv.FormatFloat(*s.AverageMs, 'f', 1, 64) + "ms"
	}
	err := e.document(s,
		[2]string{"mode", s.Mode},
		[2]string{"limit", fmt.Sprintf("%d (%.2f)", s.Concurrency, s.Limit)},
		[2]string{"in flight", strconv.Itoa(s.InFlight)},
		[2]string{"pending", fmt.Sprintf("%d, the oldest for %s", s.Pending, millis(s.OldestWaitMs))},
		[2]string{"parked", strconv.Itoa(s.Parked)},
		[2]string{"service time", average + ", target " + millis(s.TargetMs)},
		[2]string{"admitted", strconv.FormatInt(s.Admitted, 10)},
		[2]string{"refused", counts(s.Refused)},
		[2]string{"would wait", positive(s.WouldWait)},
		[2]string{"would refuse", counts(s.WouldRefuse)},
	)
	if err != nil || e.json || len(s.Principals) == 0 {
		return err
	}
	t := newTable(e.out)
	fmt.Fprintln(t)
	t.row("PRINCIPAL", "IN FLIGHT", "PENDING", "PARKED", "OLDEST WAIT")
	for _, p := range s.Principals {
		t.row(p.Principal, strconv.Itoa(p.InFlight), strconv.Itoa(p.Pending), strconv.Itoa(p.Parked), millis(p.OldestWaitMs))
	}
	return t.Flush()
}

// counts is "3 wait deadline, 1 paused", empty for none.
func counts(by map[string]int64) string {
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(by)) {
		if by[reason] > 0 {
			parts = append(parts, strconv.FormatInt(by[reason], 10)+" "+reason)
		}
	}
	return strings.Join(parts, ", ")
}

func positive(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
