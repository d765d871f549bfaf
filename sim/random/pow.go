package random

import "math"

// Pow is x to the power of y, within 1 ulp, for x ≥ 0. That of a negative x is NaN, even
// if y is a whole number; 0 to the power of 0 is 1, as with math.Pow.
func Pow(x, y float64) float64 {
	switch {
	case y == 0 || x == 1:
		return 1
	case x != x || y != y || x < 0:
		return math.NaN()
	case x == 0 || math.IsInf(x, 1):
		if (x == 0) == (y < 0) {
			return math.Inf(1)
		}
		return 0
	}
	// The result's last bits are the logarithm's, of which the exponential multiplies
	// the error by up to 709; hence a logarithm of two numbers.
	hi, lo := logTwice(x)
	product := float64(y * hi)
	switch {
	case product > 710:
		return math.Inf(1)
	case product < -746:
		return 0
	}
	rest := math.FMA(y, hi, -product) + float64(y*lo)
	if math.Abs(product) < 0x1p-28 {
		return 1 + product
	}
	return expOf(product, rest)
}

// logTwice is the logarithm of a positive number as the sum of two, the second of them
// below the last bit of the first: about 64 bits of it are right. math.FMA, which has
// one rounding on every architecture, gives what a product loses to rounding.
func logTwice(x float64) (hi, lo float64) {
	const (
		thirdHi = 1.0 / 3
		thirdLo = 0x1p-54 / 3
	)
	// With s = (m-1)/(m+1), log m is 2·(s + s³/3 + s⁵/5 + …).
	m, k := split(x)
	f := m - 1
	d := m + 1
	s := f / d
	sLo := (math.FMA(-s, d, f) - float64(s*(m-(d-1)))) / d
	z := float64(s * s)
	zLo := math.FMA(s, s, -z) + float64(2*s*sLo)
	// tail is z/3 + z²/5 + …, of which the first must have more bits than a number.
	third := float64(z * thirdHi)
	thirdRest := math.FMA(z, thirdHi, -third) + float64(z*thirdLo) + float64(zLo*thirdHi)
	tail, tailLo := sum(third, float64(z*z*fifths(z)))
	tailLo += thirdRest
	// log m is 2s + 2s·tail.
	p := float64(s * tail)
	pLo := math.FMA(s, tail, -p) + float64(s*tailLo) + float64(sLo*tail)
	hi, lo = sum(s, p)
	lo += sLo + pLo
	kHi := float64(k * ln2Hi)
	hi, rest := sum(kHi, float64(2*hi))
	return sum(hi, rest+(float64(2*lo)+float64(k*ln2Lo)))
}

// fifths is 1/5 + z/7 + z²/9 + … for z up to 0.0295, beyond which no term counts.
func fifths(z float64) float64 {
	total := 1.0 / 27
	for n := 25.0; n >= 5; n -= 2 {
		total = 1/n + float64(z*total)
	}
	return total
}

// sum adds two numbers, the first of them being zero or the greater one, and gives what
// the sum loses to rounding: the fast two-sum of Dekker (1971).
func sum(a, b float64) (hi, lo float64) {
	if a == 0 {
		return b, 0
	}
	hi = a + b
	return hi, b - (hi - a)
}
