package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// constantTypes returns types whose values nobody can change once they are made.
func constantTypes() []string {
	return []string{
		"embed.FS",
		"*regexp.Regexp",
		"*strings.Replacer",
		"*encoding/base32.Encoding",
		"*encoding/base64.Encoding",
		"reflect.Type",
		"*text/template.Template",
		"*html/template.Template",
		"*github.com/prometheus/client_golang/prometheus.Desc",
		"github.com/go-json-experiment/json.Options",
	}
}

func globalsAnalyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "globals",
		Doc: `report package-level variables that are state

A package-level variable may be an error, a value of a type that cannot change
(an embedded file, a compiled pattern), an interface assertion, or an unexported
table of plain data that nothing in the package, its tests included, assigns to
or takes the address of. Whatever else lives longer than a call belongs to a
value that someone opened and will close.`,
		Run: runGlobals,
	}
}

func runGlobals(pass *analysis.Pass) (any, error) {
	touched := touchedGlobals(pass)
	for _, f := range shipped(pass) {
		for _, decl := range f.Decls {
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					reportGlobal(pass, name, touched)
				}
			}
		}
	}
	return nil, nil
}

func reportGlobal(pass *analysis.Pass, name *ast.Ident, touched map[types.Object]token.Pos) {
	v, ok := pass.TypesInfo.Defs[name].(*types.Var)
	if !ok || name.Name == "_" || strings.HasPrefix(name.Name, "_C") {
		return
	}
	if at, ok := touched[v]; ok {
		pass.Reportf(name.Pos(), "package-level variable %s is mutable state: it is changed at %s", name.Name, pass.Fset.Position(at))
		return
	}
	if isError(v.Type()) || isConstantType(v.Type()) {
		return
	}
	if v.Exported() {
		pass.Reportf(name.Pos(), "package-level variable %s is mutable state: every importer can change it", name.Name)
		return
	}
	if !isPlain(v.Type(), nil) {
		pass.Reportf(name.Pos(), "package-level variable %s is mutable state: %s is neither plain data nor constant", name.Name, v.Type())
	}
}

// touchedGlobals maps the package-level variables that the package's files,
// tests included, may change to the first place where they do. A map or slice
// that is handed to a function which changes it escapes the search.
func touchedGlobals(pass *analysis.Pass) map[types.Object]token.Pos {
	touched := map[types.Object]token.Pos{}
	touch := func(e ast.Expr) {
		id := root(e)
		if id == nil {
			return
		}
		v, ok := pass.TypesInfo.Uses[id].(*types.Var)
		if !ok || v.Parent() != pass.Pkg.Scope() {
			return
		}
		if _, ok := touched[v]; !ok {
			touched[v] = id.Pos()
		}
	}
	for _, f := range written(pass) {
		ast.Inspect(f, func(n ast.Node) bool {
			for _, e := range changedBy(pass, n) {
				touch(e)
			}
			return true
		})
	}
	return touched
}

// changedBy returns the operands that n changes, or enables others to change.
func changedBy(pass *analysis.Pass, n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		return n.Lhs
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			return []ast.Expr{n.Key, n.Value}
		}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if b, ok := pass.TypesInfo.Uses[identOf(n.Fun)].(*types.Builtin); ok && slices.Contains([]string{"delete", "clear", "copy"}, b.Name()) {
			return n.Args[:1]
		}
	case *ast.SelectorExpr:
		if takesAddress(pass.TypesInfo.Selections[n]) {
			return []ast.Expr{n.X}
		}
	}
	return nil
}

// takesAddress reports whether a method with a pointer receiver is selected
// from a variable that is not a pointer.
func takesAddress(sel *types.Selection) bool {
	if sel == nil || sel.Kind() != types.MethodVal {
		return false
	}
	recv := sel.Obj().(*types.Func).Signature().Recv()
	_, wants := recv.Type().(*types.Pointer)
	_, has := sel.Recv().Underlying().(*types.Pointer)
	return wants && !has && !sel.Indirect()
}

// root returns the variable of which e selects a part, or nil.
func root(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.ParenExpr:
		return root(e.X)
	case *ast.IndexExpr:
		return root(e.X)
	case *ast.SliceExpr:
		return root(e.X)
	case *ast.SelectorExpr:
		return root(e.X)
	case *ast.StarExpr:
		return root(e.X)
	}
	return nil
}

func identOf(e ast.Expr) *ast.Ident {
	id, _ := ast.Unparen(e).(*ast.Ident)
	return id
}

func isError(t types.Type) bool {
	errorType := types.Universe.Lookup("error").Type().Underlying().(*types.Interface)
	return types.Implements(t, errorType)
}

func isConstantType(t types.Type) bool {
	return slices.Contains(constantTypes(), types.TypeString(t, nil))
}

// isPlain reports whether t holds data, and no way to something that others
// hold too. seen guards against types that contain themselves.
func isPlain(t types.Type, seen []types.Type) bool {
	if slices.Contains(seen, t) || isError(t) || isConstantType(t) {
		return true
	}
	seen = append(seen, t)
	switch u := t.Underlying().(type) {
	case *types.Basic, *types.Signature:
		return true
	case *types.Array:
		return isPlain(u.Elem(), seen)
	case *types.Slice:
		return isPlain(u.Elem(), seen)
	case *types.Map:
		return isPlain(u.Key(), seen) && isPlain(u.Elem(), seen)
	case *types.Struct:
		for field := range u.Fields() {
			if !isPlain(field.Type(), seen) {
				return false
			}
		}
		return true
	}
	return false
}
