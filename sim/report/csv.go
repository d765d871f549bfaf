package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/skerryhq/skerry/sim/figure"
)

// WriteSummary writes summary.json.
func WriteSummary(w io.Writer, s figure.Summary) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// seconds writes a time to the nanosecond. It divides integers, so that nothing is
// rounded.
func seconds(ns int64) string {
	const perSecond = 1_000_000_000
	if ns < 0 {
		return ""
	}
	s := strconv.FormatInt(ns/perSecond, 10)
	rest := ns % perSecond
	if rest == 0 {
		return s
	}
	digits := strconv.FormatInt(perSecond+rest, 10)[1:]
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return s + "." + digits
}

// csvDecimals are kept of numbers that are no counts.
const csvDecimals = 6

// WriteSeries writes series.csv. A limit that does not exist is empty.
func WriteSeries(w io.Writer, series []figure.PolicySeries) error {
	c := csv.NewWriter(w)
	rows := func() error {
		if err := c.Write([]string{
			"seed", "policy", "namespace", "t_s",
			"limit", "in_flight", "pending", "started", "completed", "refused", "average_ms",
		}); err != nil {
			return err
		}
		for _, s := range series {
			for i, p := range s.Points {
				if err := c.Write(seriesRow(s, i, p)); err != nil {
					return err
				}
			}
		}
		c.Flush()
		return c.Error()
	}
	if err := rows(); err != nil {
		return fmt.Errorf("write series: %w", err)
	}
	return nil
}

func seriesRow(s figure.PolicySeries, i int, p figure.Point) []string {
	limit := ""
	if p.Limit >= 0 {
		limit = figure.Format(p.Limit, csvDecimals)
	}
	return []string{
		strconv.FormatUint(s.Seed, 10), s.Policy, s.Namespace, seconds(int64(i) * s.Step),
		limit, count(p.InFlight), count(p.Pending),
		count(p.Started), count(p.Completed), count(p.Refused),
		figure.Format(p.AverageMs, csvDecimals),
	}
}

// WriteRequests writes requests.csv as the requests come. Times that do not exist are
// empty.
func WriteRequests(w io.Writer, requests iter.Seq[Request]) error {
	c := csv.NewWriter(w)
	rows := func() error {
		if err := c.Write([]string{
			"seed", "policy", "namespace", "principal", "request", "attempt",
			"arrived_s", "started_s", "ended_s", "outcome", "reason",
		}); err != nil {
			return err
		}
		for r := range requests {
			if err := c.Write([]string{
				strconv.FormatUint(r.Seed, 10), r.Policy, r.Namespace, r.Principal,
				strconv.FormatUint(r.ID, 10), strconv.Itoa(r.Attempt),
				seconds(r.Arrived), seconds(r.Started), seconds(r.Ended), r.Outcome, r.Reason,
			}); err != nil {
				return err
			}
		}
		c.Flush()
		return c.Error()
	}
	if err := rows(); err != nil {
		return fmt.Errorf("write requests: %w", err)
	}
	return nil
}

func count(n int64) string { return strconv.FormatInt(n, 10) }
