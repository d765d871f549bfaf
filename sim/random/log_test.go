package random

import (
	"math"
	"math/big"
	"testing"
)

// precision, in bits, of the references that Log, Exp and Pow are measured against.
const precision = 240

func exact(x float64) *big.Float { return new(big.Float).SetPrec(precision).SetFloat64(x) }

func number() *big.Float { return new(big.Float).SetPrec(precision) }

// exactExp sums the series of the exponential, after 40 halvings of its argument.
func exactExp(x *big.Float) *big.Float {
	const halvings = 40
	small := number().SetMantExp(x, -halvings)
	total, term := exact(1), exact(1)
	for n := 1.0; n < 12; n++ {
		term.Quo(term.Mul(term, small), exact(n))
		total.Add(total, term)
	}
	for range halvings {
		total.Mul(total, total)
	}
	return total
}

// exactLog is two steps of Halley's method, each of which triples the digits, from what
// package math knows.
func exactLog(x float64) *big.Float {
	y := exact(math.Log(x))
	for range 2 {
		// y + 2(x-eʸ)/(x+eʸ)
		e := exactExp(y)
		above, below := number().Sub(exact(x), e), number().Add(exact(x), e)
		y.Add(y, number().Mul(exact(2), number().Quo(above, below)))
	}
	return y
}

// ulps is how far got is from want, in units of got's last place.
func ulps(got float64, want *big.Float) float64 {
	unit := math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got)
	off, _ := number().Quo(number().Sub(exact(got), want), exact(unit)).Float64()
	return math.Abs(off)
}

// spread draws numbers of both kinds: near 1, and of all magnitudes up to 2^±1000.
func spread(s *Stream) float64 {
	if s.Intn(2) == 0 {
		return s.Uniform(0.5, 2)
	}
	return math.Ldexp(s.Uniform(1, 2), s.Intn(2001)-1000)
}

func TestLogIsWithinOneUlp(t *testing.T) {
	t.Parallel()
	s := New(1, "log")
	worst := 0.0
	for range 1000 {
		x := spread(s)
		off := ulps(Log(x), exactLog(x))
		if off > 1 {
			t.Fatalf("Log(%v) = %v is %.3f ulp off", x, Log(x), off)
		}
		worst = max(worst, off)
	}
	t.Logf("worst: %.3f ulp", worst)
}

func TestExpIsWithinOneUlp(t *testing.T) {
	t.Parallel()
	s := New(1, "exp")
	worst := 0.0
	for i := range 1500 {
		x := s.Uniform(-1, 1)
		if i%2 == 0 {
			x = s.Uniform(-708, 709.7)
		}
		off := ulps(Exp(x), exactExp(exact(x)))
		if off > 1 {
			t.Fatalf("Exp(%v) = %v is %.3f ulp off", x, Exp(x), off)
		}
		worst = max(worst, off)
	}
	t.Logf("worst: %.3f ulp", worst)
}

func TestPowIsWithinOneUlp(t *testing.T) {
	t.Parallel()
	s := New(1, "pow")
	worst := 0.0
	for i := range 1500 {
		x, y := spread(s), s.Uniform(-20, 20)
		switch i % 3 {
		case 1: // results of all magnitudes
			y = s.Uniform(-700, 700) / math.Log(x)
		case 2:
			x = s.Float64()
		}
		want := exactExp(number().Mul(exact(y), exactLog(x)))
		got := Pow(x, y)
		if got < 0x1p-1022 || math.IsInf(got, 0) {
			continue // judged by the special cases
		}
		off := ulps(got, want)
		if off > 1 {
			t.Fatalf("Pow(%v, %v) = %v is %.3f ulp off", x, y, got, off)
		}
		worst = max(worst, off)
	}
	t.Logf("worst: %.3f ulp", worst)
}

// TestMathAgrees looks at many more numbers than the references have time for.
func TestMathAgrees(t *testing.T) {
	t.Parallel()
	s := New(1, "math")
	for range 100_000 {
		x, y := spread(s), s.Uniform(-700, 700)
		for _, c := range []struct {
			name      string
			got, want float64
			tolerance float64
		}{
			{"Log", Log(x), math.Log(x), 5e-16},
			{"Exp", Exp(y), math.Exp(y), 5e-16},
			{"Pow", Pow(x, y/700), math.Pow(x, y/700), 1e-13}, // math.Pow has lost digits there
		} {
			if math.Abs(c.got-c.want) > c.tolerance*math.Abs(c.want) {
				t.Fatalf("%s of %v, %v: %v, math has %v", c.name, x, y, c.got, c.want)
			}
		}
	}
}

func TestEndsOfTheRangeAreRight(t *testing.T) {
	t.Parallel()
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		call      string
		got, want float64
	}{
		{"Log(0)", Log(0), -inf},
		{"Log(-1)", Log(-1), nan},
		{"Log(+Inf)", Log(inf), inf},
		{"Log(-Inf)", Log(-inf), nan},
		{"Log(NaN)", Log(nan), nan},
		{"Log(1)", Log(1), 0},
		{"Log(2^-1074)", Log(0x1p-1074), -744.4400719213812},
		{"Log(greatest)", Log(math.MaxFloat64), 709.782712893384},
		{"Exp(0)", Exp(0), 1},
		{"Exp(-Inf)", Exp(-inf), 0},
		{"Exp(+Inf)", Exp(inf), inf},
		{"Exp(NaN)", Exp(nan), nan},
		{"Exp(1e-9)", Exp(1e-9), 1.000000001},
		{"Exp(709.78)", Exp(709.78), 1.7928227943945155e+308},
		{"Exp(709.79)", Exp(709.79), inf},
		{"Exp(-745.1)", Exp(-745.1), 0x1p-1074},
		{"Exp(-745.2)", Exp(-745.2), 0},
		{"Pow(0, 0)", Pow(0, 0), 1},
		{"Pow(0, 2)", Pow(0, 2), 0},
		{"Pow(0, -2)", Pow(0, -2), inf},
		{"Pow(NaN, 0)", Pow(nan, 0), 1},
		{"Pow(1, NaN)", Pow(1, nan), 1},
		{"Pow(2, NaN)", Pow(2, nan), nan},
		{"Pow(NaN, 2)", Pow(nan, 2), nan},
		{"Pow(-8, 2)", Pow(-8, 2), nan},
		{"Pow(+Inf, 2)", Pow(inf, 2), inf},
		{"Pow(+Inf, -2)", Pow(inf, -2), 0},
		{"Pow(2, +Inf)", Pow(2, inf), inf},
		{"Pow(2, -Inf)", Pow(2, -inf), 0},
		{"Pow(½, +Inf)", Pow(0.5, inf), 0},
		{"Pow(½, -Inf)", Pow(0.5, -inf), inf},
		{"Pow(2, 1023)", Pow(2, 1023), 0x1p1023},
		{"Pow(2, 1024)", Pow(2, 1024), inf},
		{"Pow(2, -1074)", Pow(2, -1074), 0x1p-1074},
		{"Pow(2, -1076)", Pow(2, -1076), 0},
		{"Pow(2^-1074, ½)", Pow(0x1p-1074, 0.5), 0x1p-537},
		{"Pow(1e300, 1e300)", Pow(1e300, 1e300), inf},
		{"Pow(3, 1e-17)", Pow(3, 1e-17), 1},
	} {
		if c.got != c.want && !(math.IsNaN(c.got) && math.IsNaN(c.want)) {
			t.Errorf("%s = %v, want %v", c.call, c.got, c.want)
		}
	}
}

func TestPowOfExactPowersIsExact(t *testing.T) {
	t.Parallel()
	for i := range 12 {
		x := float64(i + 1)
		want := 1.0
		for n := range 14 {
			if got := Pow(x, float64(n)); got != want {
				t.Errorf("Pow(%v, %d) = %v, want %v", x, n, got, want)
			}
			want *= x
		}
		if got := Pow(x*x, 0.5); got != x {
			t.Errorf("Pow(%v, ½) = %v, want %v", x*x, got, x)
		}
	}
}
