package main

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// clockReader is a place that may read or wait for the wall clock.
type clockReader struct {
	dir, file string
	why       string
}

// clockReaders returns every such place outside tests. Everyone else takes now
// as an argument, or the injected clock, because only so can a test or the
// simulation decide what time it is.
func clockReaders() []clockReader {
	return []clockReader{
		{"actors", "clock.go", "the clock that all others are given"},
		{"client", "*", "deadlines of a program far from the server's clock"},
		{"cmd/skerry/...", "*", "a process at the edge: progress, elapsed time, grace periods"},
		{"examples/...", "*", "programs, as they would be written elsewhere"},
	}
}

// clockNames returns the functions of package time that read the wall clock or
// wait for it.
func clockNames() []string {
	return []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "Tick", "NewTimer", "NewTicker"}
}

func clockAnalyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "clock",
		Doc:  "report uses of the wall clock outside the places that may read it",
		Run:  runClock,
	}
}

func runClock(pass *analysis.Pass) (any, error) {
	for _, f := range shipped(pass) {
		if mayReadClock(packageDir(pass), fileName(pass, f.Package)) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			fn, ok := pass.TypesInfo.Uses[id].(*types.Func)
			if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "time" || fn.Signature().Recv() != nil {
				return true
			}
			if slices.Contains(clockNames(), fn.Name()) {
				pass.Reportf(id.Pos(), "time.%s reads the wall clock: take now as an argument, or the injected clock", fn.Name())
			}
			return true
		})
	}
	return nil, nil
}

func mayReadClock(dir, file string) bool {
	return slices.ContainsFunc(clockReaders(), func(r clockReader) bool {
		// The patterns are constants, and well-formed.
		matched, _ := filepath.Match(r.file, file)
		return matched && below(dir, r.dir)
	})
}
