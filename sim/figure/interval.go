package figure

import "math"

// quantileT is the two-sided 95 % quantile of Student's t. Between the lines of the
// table the value of fewer degrees of freedom stands for more: the interval is rather
// too wide than too narrow.
func quantileT(freedom int) float64 {
	upTo30 := [...]float64{
		12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
		2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
		2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
	}
	switch {
	case freedom < 40:
		return upTo30[min(freedom, len(upTo30))-1]
	case freedom < 60:
		return 2.021
	case freedom < 120:
		return 2.000
	}
	return 1.980
}

// Interval gives the mean of values that were drawn independently, and half the width of
// its 95 % confidence interval, by Student's t. Of one value nothing is known but itself,
// and half is +Inf; of none, mean is NaN.
func Interval(values []float64) (mean, half float64) {
	n := len(values)
	if n == 0 {
		return math.NaN(), math.Inf(1)
	}
	var sum float64
	for _, v := range values {
		sum += v
	}
	mean = sum / float64(n)
	if n == 1 {
		return mean, math.Inf(1)
	}
	var squares float64
	for _, v := range values {
		d := v - mean
		squares += float64(d * d)
	}
	return mean, float64(quantileT(n-1) * math.Sqrt(squares/float64(n-1)/float64(n)))
}

// Paired is the interval of the differences a[i] − b[i]: of two policies that saw the
// same arrivals by the same seeds, it is much narrower than what their own intervals
// allow to say. It panics if there are not as many of both.
func Paired(a, b []float64) (mean, half float64) {
	if len(a) != len(b) {
		panic("figure: pairs that are not complete")
	}
	differences := make([]float64, len(a))
	for i := range a {
		differences[i] = a[i] - b[i]
	}
	return Interval(differences)
}
