package main

import (
	"go/ast"
	"strings"

	"golang.org/x/tools/go/analysis"
)

func docsAnalyzer() *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "docs",
		Doc: `report packages and exported names without a doc comment

The form of the comment of a name is staticcheck's business (ST1020 to ST1022).
A parenthesised group of constants or variables may share one comment.`,
		Run: runDocs,
	}
}

func runDocs(pass *analysis.Pass) (any, error) {
	files := shipped(pass)
	if len(files) == 0 {
		return nil, nil
	}
	reportPackageDoc(pass, files)
	for _, f := range files {
		for _, decl := range f.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				reportFunc(pass, d)
			case *ast.GenDecl:
				reportGroup(pass, d)
			}
		}
	}
	return nil, nil
}

// reportPackageDoc wants one file's comment to begin in the conventional way.
func reportPackageDoc(pass *analysis.Pass, files []*ast.File) {
	word := "Package " + pass.Pkg.Name()
	if pass.Pkg.Name() == "main" {
		dir := packageDir(pass)
		word = "Command " + dir[strings.LastIndexByte(dir, '/')+1:]
	}
	for _, f := range files {
		if f.Doc == nil {
			continue
		}
		text := f.Doc.Text()
		if !strings.HasPrefix(text, word+" ") && !strings.HasPrefix(text, word+"\n") {
			pass.Reportf(f.Doc.Pos(), "package comment does not begin with %q", word)
		}
		return
	}
	pass.Reportf(files[0].Package, "package %s has no comment that begins with %q", pass.Pkg.Name(), word)
}

func reportFunc(pass *analysis.Pass, d *ast.FuncDecl) {
	if d.Doc != nil || !d.Name.IsExported() {
		return
	}
	if d.Recv == nil {
		pass.Reportf(d.Name.Pos(), "exported function %s has no doc comment", d.Name.Name)
		return
	}
	if recv := receiver(d.Recv.List[0].Type); ast.IsExported(recv) {
		pass.Reportf(d.Name.Pos(), "exported method %s.%s has no doc comment", recv, d.Name.Name)
	}
}

// receiver returns the name of a receiver's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	}
	return ""
}

func reportGroup(pass *analysis.Pass, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				pass.Reportf(s.Name.Pos(), "exported type %s has no doc comment", s.Name.Name)
			}
		case *ast.ValueSpec:
			if d.Doc != nil || s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, name := range s.Names {
				if name.IsExported() {
					pass.Reportf(name.Pos(), "exported %s %s has no doc comment", d.Tok, name.Name)
				}
			}
		}
	}
}
