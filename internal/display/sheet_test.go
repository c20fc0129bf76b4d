package display

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Each hole spells its value in the way that it names.
func TestSay(t *testing.T) {
	day := time.Date(2026, 3, 9, 8, 12, 31, 0, time.UTC)
	for got, want := range map[string]string{
		Say("{} of {%d}, {call}, {entry}", 1234, 1234, 1, 2000):                     "1,234 of 1234, 1 call, 2,000 entries",
		Say("{bytes}{?, edited}{?, gone}", int64(2048), true, false):                "2.0 KiB, edited",
		Say("{}: {}, {}", new(0.5), (*float64)(nil), []string{"a", "b\n\x1b"}):      "$0.5000: unpriced, a, b \\u{1b}",
		Say("at{}{}; {%.1f}", day, time.Time{}, 0.25):                               "at 2026-03-09 08:12:31 UTC; 0.2",
		Style{Color: true}.Say("{}", Inked("red", "a")):                             Style{Color: true}.Paint("red", "a"),
		Say("{} takes {x} as it is", "{}", 3) + Say("{no hole} without its values"): "{} takes 3 xs as it is{no hole} without its values",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Every form of the program has as many holes as values.
func TestHolesAndValues(t *testing.T) {
	drawing := []string{"Say", "Line", "Para", "Hang", "text", "textIn", "row", "line", "always"}
	forms := 0
	for _, dir := range []string{".", "../verbs", "../cli", "../../service/internal/verbs"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || call.Ellipsis.IsValid() {
					return true
				}
				name := ""
				switch fun := call.Fun.(type) {
				case *ast.Ident:
					name = fun.Name
				case *ast.SelectorExpr:
					name = fun.Sel.Name
				}
				i := slices.IndexFunc(call.Args, func(arg ast.Expr) bool {
					lit, ok := arg.(*ast.BasicLit)
					return ok && strings.Contains(lit.Value, "{")
				})
				if i < 0 || !slices.Contains(drawing, name) {
					return true
				}
				holes := strings.Count(call.Args[i].(*ast.BasicLit).Value, "{")
				if values := len(call.Args) - i - 1; holes != values {
					t.Errorf("%s: %d holes and %d values", fset.Position(call.Pos()), holes, values)
				}
				forms++
				return true
			})
		}
	}
	if forms < 200 {
		t.Errorf("only %d forms were found", forms)
	}
}
