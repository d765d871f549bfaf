package random

import "testing"

func BenchmarkUint64(b *testing.B) {
	s := New(1)
	var folded uint64
	b.ReportAllocs()
	for b.Loop() {
		folded += s.Uint64()
	}
	_ = folded
}

func BenchmarkDraw(b *testing.B) {
	for _, c := range []struct {
		name string
		d    Distribution
	}{
		{"exponential", Exponential(5e6)},
		{"log-normal", LogNormal(5e6, 1)},
		{"pareto", Pareto(1.5, 1e6, 1e9)},
		{"hyperexponential", Hyper(2e6, 50e6, 0.1)},
		{"uniform", Uniform(1e6, 9e6)},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New(1)
			b.ReportAllocs()
			for b.Loop() {
				c.d.Draw(s)
			}
		})
	}
}

func BenchmarkFunctions(b *testing.B) {
	for _, c := range []struct {
		name string
		draw func(*Stream) float64
	}{
		{"Exp", (*Stream).Exp},
		{"Normal", (*Stream).Normal},
		{"Pow", func(s *Stream) float64 { return Pow(1+s.Float64(), 1.7) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := New(1)
			for b.Loop() {
				c.draw(s)
			}
		})
	}
}

func BenchmarkZipf(b *testing.B) {
	s, z := New(1), NewZipf(10_000, 1.1)
	b.ReportAllocs()
	for b.Loop() {
		z.Draw(s)
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		New(1, "arrivals", "principal-1")
	}
}
