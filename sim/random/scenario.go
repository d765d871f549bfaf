package random

import (
	"errors"
	"fmt"

	"github.com/skerryhq/skerry/sim/scenario"
)

// FromScenario makes the distribution that a scenario describes. The zero value, which a
// scenario has where it says nothing, takes no time at all. An error says which key is
// wrong and what it may be.
func FromScenario(d scenario.Distribution) (Distribution, error) {
	if d == (scenario.Distribution{}) {
		return Constant(0), nil
	}
	switch d.Kind {
	case "constant", "exponential", "lognormal", "hyperexponential":
		return byMean(d)
	case "uniform", "pareto":
		return byBounds(d)
	}
	return nil, fmt.Errorf("kind: %q is none of constant, exponential, lognormal, pareto, hyperexponential and uniform", d.Kind)
}

func byMean(d scenario.Distribution) (Distribution, error) {
	if d.Mean < 0 || d.Mean > Longest {
		return nil, errors.New("mean: must be from 0 to 312h")
	}
	mean := float64(d.Mean)
	switch d.Kind {
	case "constant":
		return Constant(mean), nil
	case "exponential":
		return Exponential(mean), nil
	case "lognormal":
		if !(d.Sigma >= 0 && d.Sigma <= maxSigma) {
			return nil, fmt.Errorf("sigma: must be from 0 to %d", maxSigma)
		}
		return LogNormal(mean, d.Sigma), nil
	}
	return hyperexponential(d)
}

// maxSigma is beyond what is measured anywhere: with 5, even the 99th percentile of a
// log-normal distribution is below its mean.
const maxSigma = 5

func hyperexponential(d scenario.Distribution) (Distribution, error) {
	if !(d.Share >= 0 && d.Share <= 1) {
		return nil, errors.New("share: must be from 0 to 1")
	}
	if d.Slow < 0 || d.Slow > Longest {
		return nil, errors.New("slow: must be from 0 to 312h")
	}
	return Hyper(float64(d.Mean), float64(d.Slow), d.Share), nil
}

func byBounds(d scenario.Distribution) (Distribution, error) {
	if d.Max < d.Min || d.Max > Longest {
		return nil, errors.New("max: must be from min to 312h")
	}
	least, greatest := float64(d.Min), float64(d.Max)
	if d.Kind == "uniform" {
		if d.Min < 0 {
			return nil, errors.New("min: must not be below 0")
		}
		return Uniform(least, greatest), nil
	}
	if d.Min <= 0 {
		return nil, errors.New("min: must be above 0")
	}
	if !(d.Shape >= minShape && d.Shape <= maxShape) {
		return nil, fmt.Errorf("shape: must be from %v to %d", minShape, maxShape)
	}
	return Pareto(d.Shape, least, greatest), nil
}

// Between these bounds of a shape no draw loses more than some of its last digits.
const (
	minShape = 1e-6
	maxShape = 100
)
