package skerry_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const modulePath = "github.com/skerryhq/skerry"

// layer is what a package of this module may import. Directories are relative
// to the module, "." is its root, and "dir/..." is dir with all below it.
type layer struct {
	dir   string
	ours  []string // besides the package itself
	tests []string // what its tests may import of ours as well
	pure  bool     // steps on explicit arguments: see impure
}

// layers returns the architecture: every directory with Go code has its line
// here, and no import may point in a direction that is not on it. Where several
// lines match a directory, the first counts.
func layers() []layer {
	classes := []string{"namespace", "api"}
	drivers := []string{"namespace/...", "storage/storagetest", "actors/actorstest"}
	return []layer{
		{dir: "actors", tests: []string{"actors/actorstest"}},
		{dir: "actors/actorstest", ours: []string{"actors"}},
		{dir: "admission", pure: true},
		{dir: "api"},
		{dir: "storage", tests: []string{"storage/storagetest"}},
		{dir: "storage/storagetest", ours: []string{"storage"}},

		{dir: "namespace", ours: []string{"actors", "admission", "storage", "api"}, tests: drivers},
		{dir: "namespace/namespacetest", ours: []string{"namespace", "api", "actors", "actors/actorstest"}, tests: drivers},
		{dir: "namespace/claims", ours: classes, tests: slices.Concat(drivers, []string{"actors", "storage"})},
		{dir: "namespace/runs", ours: append(slices.Clone(classes), "namespace/runs/schedule"), tests: slices.Concat(drivers, []string{"actors", "storage"})},
		{dir: "namespace/runs/schedule", pure: true},

		{dir: "internal/httpapi", ours: classes, tests: slices.Concat(drivers, []string{"actors", "storage"})},
		{dir: "client", ours: []string{"api"}, tests: []string{"."}},
		{dir: ".", ours: []string{"namespace", "namespace/claims", "namespace/runs", "internal/httpapi", "actors", "admission", "storage", "api"}, tests: []string{"client", "actors/actorstest"}},

		{dir: "sim/...", ours: []string{"sim/...", "admission", "namespace/...", "storage"}},
		// What the client takes and gives are documents of api, so whoever
		// uses the one speaks the other.
		{dir: "cmd/skerry/...", ours: []string{"cmd/skerry/...", ".", "sim", "client", "api"}},
		// An example is an embedder's program: it sees what an embedder sees.
		{dir: "examples/...", ours: []string{"examples/...", ".", "namespace", "client", "api"}, tests: []string{"namespace/namespacetest", "actors/actorstest"}},
	}
}

// dependency is a module of someone else and the only places that import it.
type dependency struct {
	module string
	homes  []string
}

// dependencies returns every module that code outside tests may import. The
// list is short on purpose: each home is where the module can be replaced.
func dependencies() []dependency {
	return []dependency{
		{"C", []string{"storage", "storage/storagetest"}},
		{"github.com/asynkron/protoactor-go", []string{"actors"}},
		{"github.com/mattn/go-sqlite3", []string{"storage", "storage/storagetest"}},
		{"github.com/gorilla/mux", []string{"internal/httpapi"}},
		{"github.com/prometheus/client_golang", []string{"internal/httpapi"}},
		{"github.com/go-json-experiment/json", []string{"namespace", "namespace/claims", "namespace/runs", "internal/httpapi", "cmd/skerry/...", "examples/..."}},
		{"github.com/goccy/go-yaml", []string{"sim/...", "cmd/skerry/..."}},
		{"github.com/spf13/cobra", []string{"cmd/skerry/..."}},
		{"github.com/spf13/pflag", []string{"cmd/skerry/..."}},
		{"github.com/schollz/progressbar/v3", []string{"cmd/skerry/...", "examples/..."}},
		{"golang.org/x/term", []string{"cmd/skerry/...", "examples/..."}},
		{"golang.org/x/sys", []string{"storage", "namespace", "cmd/skerry/..."}},
	}
}

// testDependencies returns the modules that are for tests, and for packages
// that exist to be used by tests.
func testDependencies() []string {
	return []string{
		"github.com/anishathalye/porcupine",
		"github.com/google/go-cmp",
		"github.com/rogpeppe/go-internal",
		"go.uber.org/goleak",
		"pgregory.net/rapid",
	}
}

// impure returns the parts of the standard library that a pure package does
// without: locks, cancellation, randomness and whatever reaches the outside.
func impure() []string {
	return []string{"sync", "context", "math/rand", "crypto/rand", "os", "net", "log", "io/fs", "syscall"}
}

// dumpNames returns names of packages that collect whatever has no place.
func dumpNames() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "manager", "types", "misc"}
}

// source is one Go file, as far as the architecture is concerned with it.
type source struct {
	name string // slash-separated, relative to the module
	dir  string
	test bool
	file *ast.File
	fset *token.FileSet
}

func (s source) at(n ast.Node) string {
	return fmt.Sprintf("%s:%d", s.name, s.fset.Position(n.Pos()).Line)
}

// readSources parses the module's Go files, whatever their build constraints.
// It reads them itself and does not ask the go command, because `go test` knows
// that a cached result is stale only from the files that the test opened.
func readSources(module fs.FS) ([]source, error) {
	var sources []source
	err := fs.WalkDir(module, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return skipDir(module, name)
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(module, name)
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		sources = append(sources, source{
			name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), file: file, fset: fset,
		})
		return nil
	})
	return sources, err
}

// skipDir keeps the walk within the packages of this module, as the go command
// sees them.
func skipDir(module fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(module, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

// matches reports whether one of the patterns names dir.
func matches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		if parent, ok := strings.CutSuffix(p, "/..."); ok {
			return within(dir, parent)
		}
		return p == dir
	})
}

// within reports whether name is parent, or lies below it.
func within(name, parent string) bool {
	return name == parent || strings.HasPrefix(name, parent+"/")
}

// ownDir returns the directory of an import path of this module.
func ownDir(importPath string) (dir string, ok bool) {
	if importPath == modulePath {
		return ".", true
	}
	return strings.CutPrefix(importPath, modulePath+"/")
}

// external reports whether an import path belongs neither to this module nor to
// the standard library, whose paths begin with an element without a dot.
func external(importPath string) bool {
	host, _, _ := strings.Cut(importPath, "/")
	_, own := ownDir(importPath)
	return !own && strings.Contains(host, ".")
}

// violations lists what in sources breaks the architecture, as "file:line: what".
func violations(sources []source) []string {
	var found []string
	for _, s := range sources {
		i := slices.IndexFunc(layers(), func(l layer) bool { return matches([]string{l.dir}, s.dir) })
		if i < 0 {
			found = append(found, fmt.Sprintf("%s: package %s has no line among the layers", s.at(s.file.Name), s.dir))
			continue
		}
		found = append(found, misnamed(s)...)
		found = append(found, misdirected(s, layers()[i])...)
		if layers()[i].pure && !s.test {
			found = append(found, concurrent(s)...)
		}
	}
	return found
}

func misnamed(s source) []string {
	name := strings.TrimSuffix(s.file.Name.Name, "_test")
	if slices.Contains(dumpNames(), name) || slices.Contains(dumpNames(), path.Base(s.dir)) {
		return []string{fmt.Sprintf("%s: package name %s says nothing of what it holds", s.at(s.file.Name), name)}
	}
	return nil
}

func misdirected(s source, l layer) []string {
	var found []string
	for _, spec := range s.file.Imports {
		to := strings.Trim(spec.Path.Value, "\"`")
		if why := forbids(s, l, to); why != "" {
			found = append(found, fmt.Sprintf("%s: %s imports %s: %s", s.at(spec), s.dir, to, why))
		}
	}
	return found
}

// forbids returns why s, which stands in l, may not import to, or "".
func forbids(s source, l layer, to string) string {
	if dir, ok := ownDir(to); ok {
		if dir == s.dir || matches(l.ours, dir) || s.test && matches(l.tests, dir) {
			return ""
		}
		return "against the direction of the layers"
	}
	i := slices.IndexFunc(dependencies(), func(d dependency) bool { return within(to, d.module) })
	if i >= 0 {
		if matches(dependencies()[i].homes, s.dir) {
			return ""
		}
		return "lives only in " + strings.Join(dependencies()[i].homes, ", ")
	}
	if slices.ContainsFunc(testDependencies(), func(m string) bool { return within(to, m) }) {
		if s.test || strings.HasSuffix(s.dir, "test") {
			return ""
		}
		return "is for tests"
	}
	if external(to) {
		return "is not among the dependencies"
	}
	if l.pure && !s.test && slices.ContainsFunc(impure(), func(p string) bool { return within(to, p) }) {
		return "the package is pure"
	}
	return ""
}

// concurrent finds what starts or waits for a goroutine.
func concurrent(s source) []string {
	var found []string
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt, *ast.SelectStmt, *ast.ChanType:
			found = append(found, fmt.Sprintf("%s: %s has concurrency: the package is pure", s.at(n), s.dir))
		}
		return true
	})
	return found
}

// foreign finds the imports through which the package in root comes to depend
// on cgo, on an SQL driver or on someone else's module.
func foreign(sources []source, root string) []string {
	var found []string
	reached := []string{root}
	for i := 0; i < len(reached); i++ {
		for _, s := range sources {
			if s.dir != reached[i] || s.test {
				continue
			}
			for _, spec := range s.file.Imports {
				to := strings.Trim(spec.Path.Value, "\"`")
				if dir, ok := ownDir(to); ok && !slices.Contains(reached, dir) {
					reached = append(reached, dir)
				}
				if to == "C" || to == "database/sql" || external(to) {
					found = append(found, fmt.Sprintf("%s: %s reaches %s", s.at(spec), root, to))
				}
			}
		}
	}
	return found
}

func TestImportsFollowTheLayers(t *testing.T) {
	t.Parallel()
	sources, err := readSources(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations(sources) {
		t.Error(v)
	}
}

// TestClientReachesOnlyTheStandardLibrary holds that a program which links the
// client links neither SQLite nor anything else that is not Go's own.
func TestClientReachesOnlyTheStandardLibrary(t *testing.T) {
	t.Parallel()
	sources, err := readSources(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(sources, func(s source) bool { return s.dir == "client" && !s.test }) {
		t.Fatal("package client not found")
	}
	for _, v := range foreign(sources, "client") {
		t.Error(v)
	}
}

func TestForeignFollowsImportsOfImports(t *testing.T) {
	t.Parallel()
	sources, err := readSources(fstest.MapFS{
		"client/a.go":      {Data: []byte("package client\nimport \"github.com/skerryhq/skerry/api\"\n")},
		"client/a_test.go": {Data: []byte("package client\nimport \"go.uber.org/goleak\"\n")},
		"api/a.go":         {Data: []byte("package api\nimport \"net/http\"\nimport _ \"github.com/mattn/go-sqlite3\"\n")},
		"storage/a.go":     {Data: []byte("package storage\nimport \"C\"\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	got := foreign(sources, "client")
	want := []string{"api/a.go:3: client reaches github.com/mattn/go-sqlite3"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("foreign (-got +want):\n%s", diff)
	}
}

func TestLayersReportPlantedViolations(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		file, text string
		want       []string
	}{
		{"admission/a.go", "package admission\nimport \"time\"\n", nil},
		{"admission/a.go", "package admission\nimport \"sync/atomic\"\n", []string{"admission/a.go:2: admission imports sync/atomic: the package is pure"}},
		{"admission/a.go", "package admission\nimport _ \"context\"\n", []string{"admission/a.go:2: admission imports context: the package is pure"}},
		{"admission/a.go", "package admission\nimport \"math/rand/v2\"\n", []string{"admission/a.go:2: admission imports math/rand/v2: the package is pure"}},
		{"admission/a.go", "package admission\nfunc f() {\n\tgo f()\n}\n", []string{"admission/a.go:3: admission has concurrency: the package is pure"}},
		{"admission/a_test.go", "package admission\nimport \"os\"\n", nil},
		{"storage/a.go", "package storage\nimport \"github.com/skerryhq/skerry/api\"\n", []string{"storage/a.go:2: storage imports github.com/skerryhq/skerry/api: against the direction of the layers"}},
		{"client/a.go", "package client\nimport \"github.com/skerryhq/skerry\"\n", []string{"client/a.go:2: client imports github.com/skerryhq/skerry: against the direction of the layers"}},
		{"client/a_test.go", "package client\nimport \"github.com/skerryhq/skerry\"\n", nil},
		{"namespace/claims/a.go", "package claims\nimport \"github.com/skerryhq/skerry/namespace/runs\"\n", []string{"namespace/claims/a.go:2: namespace/claims imports github.com/skerryhq/skerry/namespace/runs: against the direction of the layers"}},
		{"namespace/a.go", "package namespace\nimport \"github.com/asynkron/protoactor-go/actor\"\n", []string{"namespace/a.go:2: namespace imports github.com/asynkron/protoactor-go/actor: lives only in actors"}},
		{"namespace/a_test.go", "package namespace\nimport _ \"github.com/mattn/go-sqlite3\"\n", []string{"namespace/a_test.go:2: namespace imports github.com/mattn/go-sqlite3: lives only in storage, storage/storagetest"}},
		{"cmd/skerry/a.go", "package main\nimport \"github.com/gorilla/mux\"\n", []string{"cmd/skerry/a.go:2: cmd/skerry imports github.com/gorilla/mux: lives only in internal/httpapi"}},
		{"api/a.go", "package api\nimport \"github.com/prometheus/client_golang/prometheus\"\n", []string{"api/a.go:2: api imports github.com/prometheus/client_golang/prometheus: lives only in internal/httpapi"}},
		{"api/a.go", "package api\nimport \"example.org/new\"\n", []string{"api/a.go:2: api imports example.org/new: is not among the dependencies"}},
		{"storage/a.go", "package storage\nimport \"pgregory.net/rapid\"\n", []string{"storage/a.go:2: storage imports pgregory.net/rapid: is for tests"}},
		{"storage/storagetest/a.go", "package storagetest\nimport \"pgregory.net/rapid\"\n", nil},
		{"ledger/a.go", "package ledger\n", []string{"ledger/a.go:1: package ledger has no line among the layers"}},
		{"sim/util/a.go", "\npackage util\n", []string{"sim/util/a.go:2: package name util says nothing of what it holds"}},
		{"tools/lint/testdata/a.go", "package common\n", nil},
	} {
		sources, err := readSources(fstest.MapFS{
			tt.file:        {Data: []byte(tt.text)},
			"tools/go.mod": {Data: []byte("module tools\n")},
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(violations(sources), tt.want); diff != "" {
			t.Errorf("violations of %s %q (-got +want):\n%s", tt.file, tt.text, diff)
		}
	}
}
