package figure

import "math"

// Series is how one namespace stood under one policy, sampled at a fixed distance.
type Series struct {
	// Step is the distance of points in nanoseconds; point i is at i times Step.
	Step   int64
	Points []Point
}

// PolicySeries is the series of one namespace under one policy, with one seed.
type PolicySeries struct {
	Seed              uint64
	Policy, Namespace string
	Series
}

// Point is one sample.
type Point struct {
	// Limit is how many requests the policy lets run at once; negative for no limit.
	Limit float64
	// InFlight and Pending count the requests that run and wait.
	InFlight, Pending int64
	// Started, Completed and Refused count those since the point before.
	Started, Completed, Refused int64
	// AverageMs is the moving average of the policy in milliseconds, 0 if it has none.
	AverageMs float64
}

// Line is one value of a series over time: value i is at i times Step, in nanoseconds.
type Line struct {
	Step   int64
	Values []float64
}

// Line takes one value out of every point.
func (s Series) Line(of func(Point) float64) Line {
	values := make([]float64, len(s.Points))
	for i, p := range s.Points {
		values[i] = of(p)
	}
	return Line{Step: s.Step, Values: values}
}

// Smooth replaces each value by the mean of the last n up to it, so that chance does not
// hide what Recovery looks for.
func (l Line) Smooth(n int) Line {
	values := make([]float64, len(l.Values))
	for i := range values {
		values[i] = mean(l.Values[max(i-n+1, 0) : i+1])
	}
	return Line{Step: l.Step, Values: values}
}

// Recovery gives how long after an episode, which lasts from one time to another, a
// value is back where it was before, and stays there up to the line's end: within a
// tolerance that is a share of its mean before from, or of 1 if that is greater. If it
// does not come back, ok is false and the time is that up to the line's end. Of episodes
// that repeat, a line must end before the next. Without a point before the episode
// there is nothing to come back to, and the time is 0.
func Recovery(l Line, from, to int64, tolerance float64) (took int64, ok bool) {
	before := min(int((from+l.Step-1)/l.Step), len(l.Values))
	if before <= 0 {
		return 0, false
	}
	usual := mean(l.Values[:before])
	bound := tolerance * max(math.Abs(usual), 1)
	i := len(l.Values)
	for i > before && math.Abs(l.Values[i-1]-usual) <= bound {
		i--
	}
	if i == len(l.Values) {
		return max(int64(i-1)*l.Step-to, 0), false
	}
	return max(int64(i)*l.Step-to, 0), true
}

func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
