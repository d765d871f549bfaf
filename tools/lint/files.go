package main

import (
	"go/token"
	"regexp"

	"golang.org/x/tools/go/analysis"
)

// maxLines bounds a source file, tests included: what is longer has two subjects.
const maxLines = 500

func filesAnalyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "files",
		Doc:  "report files that are too long, and marks of unfinished work in them",
		Run:  runFiles,
	}
}

func runFiles(pass *analysis.Pass) (any, error) {
	unfinished := regexp.MustCompile(`\b(TODO|FIXME|XXX)\b`)
	for _, f := range written(pass) {
		if n := pass.Fset.Position(f.FileEnd).Line; n > maxLines {
			pass.Reportf(f.Package, "file has %d lines, more than %d", n, maxLines)
		}
		for _, group := range f.Comments {
			for _, c := range group.List {
				for _, at := range unfinished.FindAllStringIndex(c.Text, -1) {
					pass.Reportf(c.Pos()+token.Pos(at[0]), "%s: finish it, or say in an issue what is left", c.Text[at[0]:at[1]])
				}
			}
		}
	}
	return nil, nil
}
