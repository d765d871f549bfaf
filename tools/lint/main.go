// Command lint holds the rules of this repository that vet and staticcheck do
// not know: where the wall clock may be read, what package-level variables may
// be, what is documented, and what a source file looks like. It speaks vet's
// protocol, so that the go command caches its verdicts:
//
//	go build -C tools -o ../bin/lint ./lint
//	go vet -vettool=$PWD/bin/lint ./...
//
// Import directions are held by arch_test.go of the root package.
package main

import (
	"go/ast"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"
)

const modulePath = "github.com/skerryhq/skerry"

func main() {
	unitchecker.Main(clockAnalyzer(), globalsAnalyzer(), docsAnalyzer(), filesAnalyzer())
}

// packageDir returns the directory of the package under analysis, relative to
// the module, "." being its root. The go command names the variant of a package
// that is built with its tests "path [path.test]".
func packageDir(pass *analysis.Pass) string {
	importPath, _, _ := strings.Cut(pass.Pkg.Path(), " ")
	if importPath == modulePath {
		return "."
	}
	return strings.TrimPrefix(importPath, modulePath+"/")
}

// fileName returns the base name of the file that someone wrote pos in. For a
// package with cgo that is not the file which the compiler, and so an analyzer,
// is given: line directives lead back.
func fileName(pass *analysis.Pass, pos token.Pos) string {
	return filepath.Base(pass.Fset.Position(pos).Filename)
}

// isTest reports whether pos stands in a test file.
func isTest(pass *analysis.Pass, pos token.Pos) bool {
	return strings.HasSuffix(fileName(pass, pos), "_test.go")
}

// written returns the files of the package that people wrote, tests included.
func written(pass *analysis.Pass) []*ast.File {
	return slices.DeleteFunc(slices.Clone(pass.Files), func(f *ast.File) bool {
		given := filepath.Base(pass.Fset.File(f.Package).Name())
		if strings.HasSuffix(given, ".cgo1.go") {
			return false // a written file as cgo hands it on
		}
		return given == "_cgo_gotypes.go" || ast.IsGenerated(f)
	})
}

// shipped returns the written files that are not tests.
func shipped(pass *analysis.Pass) []*ast.File {
	return slices.DeleteFunc(written(pass), func(f *ast.File) bool { return isTest(pass, f.Package) })
}

// below reports whether dir is pattern, or matches a pattern that ends in "/...".
func below(dir, pattern string) bool {
	if parent, ok := strings.CutSuffix(pattern, "/..."); ok {
		return dir == parent || strings.HasPrefix(dir, parent+"/")
	}
	return path.Clean(dir) == pattern
}
