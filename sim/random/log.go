package random

import "math"

// Log and Exp are those of FreeBSD's msun, e_log.c and e_exp.c, with their constants.
// They came with this notice:
//
//	Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//
//	Developed at SunPro, a Sun Microsystems, Inc. business.
//	Permission to use, copy, modify, and distribute this
//	software is freely granted, provided that this notice
//	is preserved.

const (
	// ln2Hi has 33 bits, so that its product with an exponent is exact.
	ln2Hi = 6.93147180369123816490e-01 // 3fe62e42 fee00000
	ln2Lo = 1.90821492927058770002e-10 // 3dea39ef 35793c76

	fraction = 1<<52 - 1
	bias     = 1023
	// sqrtHalf holds the bits of √½.
	sqrtHalf = 0x3fe6a09e667f3bcd
)

// Log is the natural logarithm, within 1 ulp. As with math.Log, that of 0 is -Inf and
// that of a negative number NaN.
func Log(x float64) float64 {
	const (
		l1 = 6.666666666666735130e-01 // 3fe55555 55555593
		l2 = 3.999999999940941908e-01 // 3fd99999 9997fa04
		l3 = 2.857142874366239149e-01 // 3fd24924 94229359
		l4 = 2.222219843214978396e-01 // 3fcc71c5 1d8e78af
		l5 = 1.818357216161805012e-01 // 3fc74664 96cb03de
		l6 = 1.531383769920937332e-01 // 3fc39a09 d078c69f
		l7 = 1.479819860511658591e-01 // 3fc2f112 df3e5244
	)
	switch {
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	case !(x <= math.MaxFloat64): // NaN, +Inf
		return x
	}
	m, k := split(x)
	f := m - 1
	s := f / (2 + f)
	s2 := float64(s * s)
	s4 := float64(s2 * s2)
	t1 := float64(s2 * (l1 + float64(s4*(l3+float64(s4*(l5+float64(s4*l7)))))))
	t2 := float64(s4 * (l2 + float64(s4*(l4+float64(s4*l6)))))
	r := t1 + t2
	half := float64(float64(0.5*f) * f)
	return float64(k*ln2Hi) - ((half - (float64(s*(half+r)) + float64(k*ln2Lo))) - f)
}

// split gives a positive number as m·2ᵏ with m in [√½, √2).
func split(x float64) (m, k float64) {
	if x < 0x1p-1022 {
		x *= 0x1p54
		k = -54
	}
	b := math.Float64bits(x) + (bias<<52 - sqrtHalf)
	k += float64(int(b>>52) - bias)
	return math.Float64frombits(b&fraction + sqrtHalf), k
}

// Exp is e to the power of x, within 1 ulp.
func Exp(x float64) float64 {
	const (
		overflow  = 7.09782712893383973096e+02
		underflow = -7.45133219101941108420e+02
	)
	switch {
	case x != x:
		return x
	case x > overflow:
		return math.Inf(1)
	case x < underflow:
		return 0
	case -0x1p-28 < x && x < 0x1p-28:
		return 1 + x
	}
	return expOf(x, 0)
}

// expOf is e to the power of x + rest, where rest is below the last bits of x, for
// results that neither overflow nor vanish.
func expOf(x, rest float64) float64 {
	const (
		log2e = 1.44269504088896338700e+00
		p1    = 1.66666666666666657415e-01  // 3fc55555 55555555
		p2    = -2.77777777770155933842e-03 // bf66c16c 16bebd93
		p3    = 6.61375632143793436117e-05  // 3f11566a af25de2c
		p4    = -1.65339022054652515390e-06 // bebbbd41 c5d26bf1
		p5    = 4.13813679705723846039e-08  // 3e663769 72bea4d0
	)
	// x is k·ln 2 + r with r = hi - lo, and r within ±½·ln 2.
	k := int(float64(log2e*x) + math.Copysign(0.5, x))
	hi := x - float64(float64(k)*ln2Hi)
	lo := float64(float64(k)*ln2Lo) - rest
	r := hi - lo
	t := float64(r * r)
	c := r - float64(t*(p1+float64(t*(p2+float64(t*(p3+float64(t*(p4+float64(t*p5)))))))))
	y := 1 - ((lo - float64(r*c)/(2-c)) - hi)
	if -bias+2 < k && k < bias {
		return math.Float64frombits(math.Float64bits(y) + uint64(k)<<52)
	}
	return math.Ldexp(y, k)
}
