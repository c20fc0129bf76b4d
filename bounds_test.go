package memkernel_test

import (
	"bytes"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// bounds are how large the house may be, by what is counted. They only go down: each is at most
// a hundredth above its count.
var bounds = map[string]int{
	"bytes of TypeScript, JavaScript and Python":               598411,
	"comment words that have a plainer word":                   226,
	"exported names":                                           2020,
	"functions of a plan that write into what they were given": 0,
	"packages":                           118,
	"structs that embed deeper than two": 6,
	"tokens of generated Go":             5740,
	"tokens of module .":                 964907,
	"tokens of module bench":             92996,
	"tokens of module service":           56124,
	"words of doc":                       22352,
}

// TestBounds counts the house. Tokens are those of Go without comments, tests and generated
// files, so that joined lines save nothing; what is generated, and other languages, are counted
// too, so that moving code there saves nothing either.
func TestBounds(t *testing.T) {
	n := count(t)
	for _, what := range slices.Sorted(maps.Keys(n)) {
		bound, ok := bounds[what]
		switch {
		case !ok:
			t.Errorf("%s: %d, and there is no bound for it", what, n[what])
		case n[what] > bound:
			t.Errorf("%s: %d, want at most %d: take something away before more is added", what, n[what], bound)
		case bound > n[what]+n[what]/100:
			t.Errorf("%s: %d, and %d are allowed: lower the bound", what, n[what], bound)
		}
	}
	for what := range bounds {
		if _, ok := n[what]; !ok {
			t.Errorf("%s: there is none any more: take its bound away", what)
		}
	}
}

var generatedGo = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// count counts everything that has a bound.
func count(t *testing.T) map[string]int {
	n, folders, embeds := map[string]int{}, map[string]bool{}, map[string][]string{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "testdata", "node_modules", "vendor"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		file = filepath.ToSlash(file)
		kind := path.Ext(file)
		if !slices.Contains([]string{".go", ".ts", ".js", ".mjs", ".py", ".md"}, kind) || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		src, err := os.ReadFile(file)
		switch {
		case err != nil:
			return err
		case kind == ".md" && strings.HasPrefix(file, "doc/"):
			n["words of doc"] += len(bytes.Fields(src))
		case kind == ".md":
		case kind != ".go":
			n["bytes of TypeScript, JavaScript and Python"] += len(src)
		case generatedGo.Match(src):
			n["tokens of generated Go"] += tokens(file, src)
		default:
			n["tokens of module "+moduleOf(file)] += tokens(file, src)
			folders[path.Dir(file)] = true
			f := parsed(t, file)
			n["exported names"] += exported(f)
			n["comment words that have a plainer word"] += hard(file, src)
			n["functions of a plan that write into what they were given"] += overwriting(path.Dir(file), f)
			embedded(embeds, path.Dir(file), f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	n["packages"] = len(folders)
	n["structs that embed deeper than two"] = 0
	for name := range embeds {
		if depth(embeds, name) > 2 {
			n["structs that embed deeper than two"]++
		}
	}
	return n
}

// moduleOf is the folder of the module that a file belongs to.
func moduleOf(file string) string {
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(dir + "/go.mod"); err == nil {
			return dir
		}
	}
	return "."
}

func tokens(name string, src []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(name, -1, len(src)), src, nil, 0)
	for {
		switch _, tok, lit := s.Scan(); {
		case tok == token.EOF:
			return n
		case tok != token.SEMICOLON || lit != "\n":
			n++
		}
	}
}

// hardWords matches words that a reader of comments stumbles over. Each has a plainer word: "what" a
// noun, "stands" is or stays, "behind" after, "beside" next to, "overtaken" superseded, "moments"
// times or points, "doors" interfaces.
var hardWords = regexp.MustCompile(`(?i)\b(?:what|stands?|stood|standing|behind|beside|overtaken|moments|doors)\b`)

func hard(name string, src []byte) (n int) {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile(name, -1, len(src)), src, nil, scanner.ScanComments)
	for {
		switch _, tok, text := s.Scan(); tok {
		case token.EOF:
			return n
		case token.COMMENT:
			n += len(hardWords.FindAllString(text, -1))
		}
	}
}

// exported counts the functions, types, constants and variables that other packages can name.
func exported(f *ast.File) (n int) {
	if f.Name.Name == "main" {
		return 0
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.IsExported() {
				n++
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						n++
					}
				case *ast.ValueSpec:
					for _, name := range s.Names {
						if name.IsExported() {
							n++
						}
					}
				}
			}
		}
	}
	return n
}

// overwriting counts the functions of the planner that write into what they were given: into a
// field of a receiver or parameter that is a pointer. A stage of a plan returns values of its own,
// and only a log grows.
func overwriting(dir string, f *ast.File) (n int) {
	if dir != "kernel/internal/plan" {
		return 0
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		fields := fn.Type.Params.List
		if fn.Recv != nil {
			fields = slices.Concat(fn.Recv.List, fields)
		}
		given := map[string]bool{}
		for _, p := range fields {
			if t := typeName(p.Type); strings.HasPrefix(t, "*") && t != "*log" {
				for _, name := range p.Names {
					given[name.Name] = true
				}
			}
		}
		writes := false
		written := func(e ast.Expr) {
			field := false
			for {
				switch at := e.(type) {
				case *ast.SelectorExpr:
					e, field = at.X, true
					continue
				case *ast.IndexExpr:
					e, field = at.X, true
					continue
				case *ast.StarExpr:
					e, field = at.X, true
					continue
				case *ast.Ident:
					writes = writes || field && given[at.Name]
				}
				return
			}
		}
		ast.Inspect(fn.Body, func(at ast.Node) bool {
			switch at := at.(type) {
			case *ast.AssignStmt:
				for _, e := range at.Lhs {
					written(e)
				}
			case *ast.IncDecStmt:
				written(at.X)
			}
			return true
		})
		if writes {
			n++
		}
	}
	return n
}

// embedded notes which structs a folder's structs embed, as FOLDER.NAME.
func embedded(into map[string][]string, dir string, f *ast.File) {
	from := map[string]string{}
	for _, i := range f.Imports {
		if in, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module+"/"); ok {
			from[path.Base(in)] = in
		}
	}
	ast.Inspect(f, func(at ast.Node) bool {
		spec, ok := at.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			name := dir + "." + spec.Name.Name
			into[name] = nil
			for _, field := range s.Fields.List {
				if len(field.Names) > 0 {
					continue
				}
				in, base, qualified := strings.Cut(strings.TrimPrefix(typeName(field.Type), "*"), ".")
				if !qualified {
					in, base = dir, in
				} else {
					in = from[in]
				}
				into[name] = append(into[name], in+"."+base)
			}
		}
		return true
	})
}

// depth is how many structs are embedded in each other, the outermost not counted.
func depth(embeds map[string][]string, name string) (deepest int) {
	for _, in := range embeds[name] {
		deepest = max(deepest, 1+depth(embeds, in))
	}
	return deepest
}

// typeName is a type as it is written: NAME, *NAME, package.NAME; "" for any other.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + typeName(e.X)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
