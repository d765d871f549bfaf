// Package report writes what simulations found, for people and for programs: a table
// for the terminal, summary.json, series.csv, requests.csv, and report.html, one page
// that needs nothing but itself. It computes no figures.
//
// The same input gives the same bytes on every machine. Nothing that is written holds a
// wall time or a path.
package report
