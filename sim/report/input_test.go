package report

import (
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/skerryhq/skerry/sim/figure"
)

// size says how much a made-up input holds.
type size struct{ policies, namespaces, principals, seeds, points int }

func small() size { return size{policies: 3, namespaces: 1, principals: 3, seeds: 3, points: 24} }

// input makes up, on every machine the same, what simulations might have given: enough to fill every part of a page.
func input(n size) Input {
	r := rand.New(rand.NewPCG(1, 2))
	in := Input{Summary: figure.Summary{
		Scenario: "noisy", Title: `One "noisy" principal & <others>`,
		About:      "What happens to others.\n\nLook at the waits.",
		DurationMs: 60_000, WarmupMs: 5_000,
	}}
	for i := range n.seeds {
		in.Summary.Seeds = append(in.Summary.Seeds, uint64(i+1))
	}
	samples := map[string][]figure.Sample{}
	for p := range n.policies {
		policy := figure.Policy{Name: "policy-" + strconv.Itoa(p)}
		if p == 0 {
			policy.Name = "ours"
		}
		for s := range n.namespaces {
			space := "space-" + strconv.Itoa(s)
			of := made(r, n, p)
			samples[policy.Name+space] = of
			ns := figure.Namespace{Name: space, Figures: figure.Over(of)}
			for k := range n.principals {
				ns.Principals = append(ns.Principals, figure.Party{Name: "principal-" + strconv.Itoa(k), Figures: figure.Over(made(r, n, p))})
			}
			policy.Namespaces = append(policy.Namespaces, ns)
			for seed := range min(n.seeds, 2) {
				in.Series = append(in.Series, figure.PolicySeries{
					Seed: uint64(seed + 1), Policy: policy.Name, Namespace: space, Series: madeSeries(r, n.points, p),
				})
			}
			in.Waits = append(in.Waits, Waits{Policy: policy.Name, Namespace: space, Histogram: madeWaits(r, p)})
			if p > 0 && n.seeds > 1 {
				in.Summary.Comparisons = append(in.Summary.Comparisons,
					figure.Compare(space, "ours", policy.Name, samples["ours"+space], of)...)
			}
		}
		in.Summary.Policies = append(in.Summary.Policies, policy)
	}
	in.Episodes = []Episode{{Namespace: "space-0", Kind: "slow", From: 20e9, To: 30e9}}
	return in
}

func made(r *rand.Rand, n size, p int) []figure.Sample {
	samples := make([]figure.Sample, n.seeds)
	for i := range samples {
		s := figure.NewSample()
		s.Offered = float64(1000 + r.IntN(100))
		s.RefusedTotal = float64(r.IntN(100) * p)
		s.Started = s.Offered - s.RefusedTotal
		s.Completed = s.Started
		s.GoodputPerS = s.Completed / 60
		s.Wait.P50, s.Wait.P99, s.Wait.Max = r.Float64()*10, 10+float64(r.Float64()*float64(100*p)), 1000+r.Float64()
		s.Share, s.FairShare = r.Float64(), 1/float64(max(n.principals, 1))
		s.Jain = 1 - r.Float64()*float64(p)/10
		s.Starvation = r.Float64() * 1000
		if p != 1 {
			s.Recovery = r.Float64() * 1000
			s.Limit.Mean = 8 + r.Float64()
		}
		if p > 0 {
			s.Refused = []figure.Reason[float64]{{Reason: "queue_full", Count: s.RefusedTotal}}
		}
		samples[i] = s
	}
	return samples
}

func madeSeries(r *rand.Rand, points, p int) figure.Series {
	s := figure.Series{Step: int64(60*time.Second) / int64(points)}
	for range points {
		limit := 5 + float64(10*r.Float64())
		if p == 1 {
			limit = -1
		}
		s.Points = append(s.Points, figure.Point{
			Limit: limit, InFlight: int64(r.IntN(8)), Pending: int64(r.IntN(20)),
			Started: 9, Completed: 8, Refused: int64(p), AverageMs: 40 * r.Float64(),
		})
	}
	return s
}

func madeWaits(r *rand.Rand, p int) *figure.Histogram {
	h := new(figure.Histogram)
	for range 400 {
		h.Record(int64(r.Float64() * r.Float64() * float64(p+1) * 1e9))
	}
	h.Record(0)
	return h
}
