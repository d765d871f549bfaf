// Package random is where a simulation gets chance from: streams of pseudo-random
// numbers split off one seed by name, and the distributions of times that scenarios know.
//
// The same seed and names give the same bits on every architecture and with every
// version of the compiler. Three things see to that. The generator is written here. So
// are Log, Exp and Pow, as those of package math are assembly on some architectures,
// with other last bits. And every product that may come to be added to something is
// converted with float64: the specification of the language lets a compiler fuse the two
// into one operation with one rounding, even across statements, as it does on arm64, but
// not across a conversion.
package random
