package main

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// packages lists the folders of the module at root that hold code which is no test,
// without those of modules below it.
func packages(root string) ([]string, error) {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			_, nested := os.Stat(filepath.Join(path, "go.mod"))
			if rel != "." && (nested == nil || name == "testdata" || strings.HasPrefix(name, ".")) {
				return filepath.SkipDir
			}
			return nil
		}
		if dir := filepath.ToSlash(filepath.Dir(rel)); isCode(d.Name()) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		return nil
	})
	return dirs, err
}

func isCode(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// codeLines counts the lines of a package's files that hold more than comments, for
// all systems and tags.
func codeLines(dir string) (int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, e := range entries {
		if !isCode(e.Name()) {
			continue
		}
		src, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		n += linesOf(src)
	}
	return n, nil
}

func linesOf(src []byte) int {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	n, last := 0, 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && lit != ";" {
			continue // put in by the scanner at a line's end
		}
		from := file.Line(pos)
		to := from + strings.Count(lit, "\n")
		n += to - max(from, last+1) + 1
		last = max(last, to)
	}
}

// exported counts the names that a package exports: constants, variables, functions
// and types; and the methods of these types.
func exported(dir string) (names, methods int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, 0, err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		if !isCode(e.Name()) {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return 0, 0, err
		}
		for _, d := range f.Decls {
			for _, name := range declared(d) {
				seen[name] = true // a name may be in a file for each system
			}
		}
	}
	for name := range seen {
		if strings.Contains(name, ".") {
			methods++
		} else {
			names++
		}
	}
	return names, methods, nil
}

// declared returns the exported names of a declaration, methods as Type.Name.
func declared(d ast.Decl) (names []string) {
	add := func(prefix string, ids ...*ast.Ident) {
		for _, id := range ids {
			if id.IsExported() {
				names = append(names, prefix+id.Name)
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			add("", d.Name)
		} else if t := receiver(d.Recv.List[0].Type); ast.IsExported(t) {
			add(t+".", d.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				add("", s.Name)
			case *ast.ValueSpec:
				add("", s.Names...)
			}
		}
	}
	return names
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
