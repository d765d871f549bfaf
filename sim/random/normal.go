package random

import "math"

// Normal draws from the standard normal distribution. It takes one draw of the stream,
// and a greater one gives a greater result.
func (s *Stream) Normal() float64 { return quantile(s.open()) }

// quantile is the number below which the standard normal distribution lies with
// probability p, above 0 and below 1: algorithm AS 241 (PPND16) of Wichura, "The
// percentage points of the normal distribution" (Applied Statistics 37, 1988), to about
// 16 digits.
func quantile(p float64) float64 {
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		return float64(q * middle(0.180625-float64(q*q)))
	}
	r := math.Sqrt(-Log(min(p, 1-p)))
	if r <= 5 {
		return math.Copysign(outer(r-1.6), q)
	}
	return math.Copysign(far(r-5), q)
}

// middle is of r = 0.425² - (p-½)².
func middle(r float64) float64 {
	return poly(
		r, 3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
	) / poly(
		r, 1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
	)
}

// outer is of r = √(-log p) - 1.6 for p as that of the lower tail, down to e⁻²⁵.
func outer(r float64) float64 {
	return poly(
		r, 1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
	) / poly(
		r, 1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
	)
}

// far is of r = √(-log p) - 5, for what lies beyond.
func far(r float64) float64 {
	return poly(
		r, 6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
	) / poly(
		r, 1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
	)
}

// poly is c0 + c1·r + … + c7·r⁷.
func poly(r, c0, c1, c2, c3, c4, c5, c6, c7 float64) float64 {
	total := float64(c7*r) + c6
	total = float64(total*r) + c5
	total = float64(total*r) + c4
	total = float64(total*r) + c3
	total = float64(total*r) + c2
	total = float64(total*r) + c1
	return float64(total*r) + c0
}
