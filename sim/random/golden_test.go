package random

import (
	"math"
	"testing"
)

// The values in this file are bits that must come out on every architecture, and stay
// what they are: results that somebody kept hang on them.

func TestFirstDrawsStayWhatTheyAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s    *Stream
		want [3]uint64
	}{
		{New(0), [3]uint64{0xbb4cd3263fab7a64, 0x82287cb87c05f51d, 0xaadecf09595178cc}},
		{New(1), [3]uint64{0x9c747a89c351392c, 0x9222edbf2832e504, 0x3c371f987629d0b1}},
		{New(1, "arrivals"), [3]uint64{0x21ec382a44ed2fdf, 0xf21b9556b6b54d7, 0x598f1bfef39855ca}},
		{New(1, "arrivals", "alice"), [3]uint64{0x8bf959f1e280edff, 0x2e4f8f37ef028946, 0x1e08d58506376e1e}},
	} {
		got := [3]uint64{c.s.Uint64(), c.s.Uint64(), c.s.Uint64()}
		if got != c.want {
			t.Errorf("got %#x, want %#x", got, c.want)
		}
	}
}

func TestFunctionsStayBitForBit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		call string
		got  float64
		want uint64
	}{
		{"Log(2)", Log(2), 0x3fe62e42fefa39ef},
		{"Log(10)", Log(10), 0x40026bb1bbb55516},
		{"Log(0.3)", Log(0.3), 0xbff34378fcbda721},
		{"Log(1.0000001)", Log(1.0000001), 0x3e7ad7f2847b6492},
		{"Log(1e-310)", Log(1e-310), 0xc0864e69394d9508},
		{"Log(6.02e23)", Log(6.02e23), 0x404b6094e92cca28},
		{"Exp(1)", Exp(1), 0x4005bf0a8b145769},
		{"Exp(-0.5)", Exp(-0.5), 0x3fe368b2fc6f960a},
		{"Exp(0.1)", Exp(0.1), 0x3ff1aec7b35a00d4},
		{"Exp(-708.5)", Exp(-708.5), 0xe6cf6d08897ac},
		{"Exp(700)", Exp(700), 0x7f0d945df4f8ec8e},
		{"Exp(-740)", Exp(-740), 0x55},
		{"Pow(3, 0.5)", Pow(3, 0.5), 0x3ffbb67ae8584caa},
		{"Pow(10, -3)", Pow(10, -3), 0x3f50624dd2f1a9fc},
		{"Pow(0.001, 1.0/1.5)", Pow(0.001, 1.0/1.5), 0x3f847ae147ae147c},
		{"Pow(1.000001, 1e6)", Pow(1.000001, 1e6), 0x4005bf09d4a0f972},
		{"Pow(7.3, 301.7)", Pow(7.3, 301.7), 0x7602f3ff710ec9dc},
		{"Pow(1e-9, 34.9)", Pow(1e-9, 34.9), 0x5fd42386},
		{"quantile(0.3)", quantile(0.3), 0xbfe0c7e39582c5fa},
		{"quantile(0.01)", quantile(0.01), 0xc0029c5c4630ff0e},
		{"quantile(1e-15)", quantile(1e-15), 0xc01fc3f007789667},
	} {
		if got := math.Float64bits(c.got); got != c.want {
			t.Errorf("%s = %v, bits %#x, want %#x", c.call, c.got, got, c.want)
		}
	}
}

// TestSequencesStayBitForBit folds 10,000 results of each kind into one number: a last
// bit that differs anywhere changes it.
func TestSequencesStayBitForBit(t *testing.T) {
	t.Parallel()
	s := New(42, "sequences")
	zipf := NewZipf(1000, 1.1)
	for _, c := range []struct {
		name string
		draw func() float64
		want uint64
	}{
		{"Float64", s.Float64, 0x41b5628386f25b1d},
		{"Log", func() float64 { return Log(s.Float64()) }, 0xe88d659731aef190},
		{"Exp", s.Exp, 0xa46b9e5ecb0190a2},
		{"Normal", s.Normal, 0x8813b99f81e85227},
		{"LogNormal", func() float64 { return s.LogNormal(5, 1.2) }, 0x5bd757fe02e7943d},
		{"BoundedPareto", func() float64 { return s.BoundedPareto(1.3, 1, 1000) }, 0x777a8166b03ae093},
		{"HyperExp", func() float64 { return s.HyperExp(2, 50, 0.1) }, 0x870ec490b1a7b78f},
		{"Uniform", func() float64 { return s.Uniform(-3, 7) }, 0xddaf5e2c6c5eac11},
		{"Pow", func() float64 { return Pow(s.Uniform(0, 30), s.Uniform(-30, 30)) }, 0xfbe8057e58e5c72f},
		{"powers of e", func() float64 { return Exp(s.Uniform(-745, 709)) }, 0xfa3b83e38b7e7a0c},
		{"Intn", func() float64 { return float64(s.Intn(1000)) }, 0x659e000000000000},
		{"Zipf", func() float64 { return float64(zipf.Draw(s)) }, 0x283b300000000000},
	} {
		var folded uint64
		for range 10_000 {
			folded = folded*0x9e3779b97f4a7c15 + math.Float64bits(c.draw())
		}
		if folded != c.want {
			t.Errorf("%s: %#x, want %#x", c.name, folded, c.want)
		}
	}
}
