package memkernel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/memkernel/memkernel"

// arrows says which packages of the module a package may import; the table of
// ARCHITECTURE.md. A folder ending in /... stands for all folders below it.
// Changing an arrow means changing this table and that document in the same
// commit. Test files may import anything.
var arrows = map[string][]string{
	".":                   {},
	"budget":              {},
	"cachelayout":         {},
	"embed":               {"internal/statedir", "internal/endpoint", "embed/static"},
	"embed/static":        {},
	"embed/embedtest":     {"embed"},
	"internal/atomicfile": {},
	"internal/blob":       {"internal/atomicfile", "internal/statedir"},
	"internal/config":     {},
	"internal/endpoint":   {},
	"internal/crashtest":  {"internal/atomicfile", "internal/suite"},
	"internal/suite":      {"internal/atomicfile"},
	"internal/safename":   {},
	"internal/fakemodel":  {},
	"transcript":          {".", "internal/lazyregexp"},
	"internal/choice":     {"transcript"},
	"internal/statedir":   {"internal/atomicfile"},
	"index":               {".", "internal/atomicfile", "index/analysis", "index/internal/drv"},
	"index/analysis":      {},
	"index/watch":         {},
	"index/postgres":      {"index", "index/analysis", "internal/lazyregexp"},
	"index/qmd":           {"index", "foreign"},
	"index/internal/drv":  {},
	"markdownstore":       {".", "internal/atomicfile", "internal/visible"},
	"retrieval":           {".", "index", "index/analysis", "internal/lazyregexp", "markdownstore"},
	"foreign":             {".", "internal/visible"},
	"sessions":            {".", "transcript", "internal/atomicfile", "internal/statedir", "internal/safename", "internal/visible"},
	"tools":               {"index", "kernel", "markdownstore", "retrieval", "pagevm/journal"},
	"internal/escapes":    {},
	"internal/visible":    {},
	"serve/mcp":           {"index/watch", "kernel", "markdownstore", "tools"},
	"serve/hook":          {".", "cachelayout", "checkpoint", "internal/atomicfile", "internal/statedir", "kernel", "markdownstore", "retrieval", "transcript", "pagevm/mask"},
	"summary":             {".", "internal/choice", "transcript", "pagevm", "pagevm/journal"},
	"summary/model":       {".", "summary", "internal/endpoint"},
	"checkpoint":          {".", "internal/atomicfile", "internal/statedir", "summary", "transcript", "pagevm/mask", "pagevm/toolcall"},
	"consolidation":       {".", "internal/choice", "internal/lazyregexp", "internal/visible", "markdownstore", "transcript", "pagevm/mask"},
	"kernel":              {".", "kernel/internal/...", "budget", "cachelayout", "checkpoint", "internal/atomicfile", "internal/blob", "internal/statedir", "internal/choice", "internal/safename", "internal/visible", "transcript", "markdownstore", "index", "embed", "summary", "retrieval", "foreign", "consolidation", "sessions", "index/watch", "pagevm", "pagevm/journal", "pagevm/mask", "pagevm/paging", "pagevm/represent", "pagevm/toolcall"},
	"serve/proxy":         {".", "budget", "kernel", "transcript"},
	"serve":               {".", "cachelayout", "foreign", "index", "internal/atomicfile", "internal/statedir", "kernel", "markdownstore", "retrieval", "transcript", "pagevm/journal"},
	"bench":               {".", "budget", "cachelayout", "transcript", "kernel", "bench/..."},
	"bench/recall":        {".", "transcript"},
	"bench/reuse":         {".", "transcript", "bench/recall", "pagevm", "pagevm/represent", "pagevm/toolcall"},
	"bench/paging":        {".", "transcript", "pagevm", "pagevm/paging", "pagevm/toolcall"},
	"bench/represent":     {".", "budget", "pagevm", "pagevm/mask", "pagevm/represent"},
	"bench/relevance":     {".", "budget", "markdownstore", "index", "retrieval"},
	"bench/peers":         {"budget", "retrieval", "foreign", "kernel", "bench/relevance"},
	"bench/predict":       {".", "budget", "cachelayout", "transcript"},
	"bench/replay":        {".", "budget", "cachelayout", "transcript", "kernel", "bench/recall", "pagevm/toolcall"},
	"bench/economics":     {"transcript", "bench/replay", "internal/atomicfile"},
	"cmd/memkernel":       {".", "tools", "budget", "cachelayout", "transcript", "markdownstore", "index", "index/analysis", "embed", "retrieval", "foreign", "summary/model", "consolidation", "kernel", "bench/economics", "bench/paging", "bench/predict", "bench/relevance", "bench/replay", "internal/config", "sessions", "internal/endpoint", "index/postgres", "index/qmd", "serve/proxy", "serve", "checkpoint", "serve/mcp", "serve/hook", "internal/statedir", "internal/visible", "pagevm", "pagevm/journal", "pagevm/mask", "pagevm/paging"},
	"examples/harness":    {".", "kernel", "tools", "transcript"},
	"budget/internal/...": {"budget", "budget/internal/..."},
	"testdata/...":        {"."},
	"internal/maskgen":    {},
	"internal/canary":     {},
	"internal/planhash":   {".", "kernel", "transcript"},
	"internal/lazyregexp": {},

	"kernel/internal/ids":        {},
	"kernel/internal/tokencount": {".", "budget"},
	"kernel/internal/branch":     {".", "cachelayout", "pagevm", "summary", "transcript"},
	"kernel/internal/ingest":     {".", "kernel/internal/branch", "kernel/internal/ids", "kernel/internal/tokencount", "transcript", "pagevm", "pagevm/mask", "pagevm/represent", "pagevm/toolcall"},
	"kernel/internal/plan":       {".", "kernel/internal/branch", "kernel/internal/ids", "kernel/internal/ingest", "budget", "cachelayout", "transcript", "checkpoint", "summary", "foreign", "markdownstore", "retrieval", "pagevm", "pagevm/journal", "pagevm/mask", "pagevm/paging", "pagevm/represent", "pagevm/toolcall"},

	"integrations/picoclaw": {".", "kernel", "transcript"},
	"e2e":                   {},
	"internal/scriptedhost": {".", "checkpoint", "internal/crashtest", "kernel", "transcript", "pagevm", "pagevm/journal"},

	"pagevm":                   {".", "pagevm/internal/lex", "pagevm/mask", "pagevm/toolcall"},
	"pagevm/mask":              {"pagevm/internal/lex"},
	"pagevm/journal":           {".", "internal/atomicfile", "internal/statedir", "pagevm", "pagevm/internal/lex"},
	"pagevm/represent":         {".", "pagevm", "pagevm/internal/lex", "pagevm/mask", "pagevm/toolcall"},
	"pagevm/toolcall":          {"internal/visible", "pagevm/internal/lex"},
	"pagevm/internal/lex":      {},
	"pagevm/internal/recorded": {"transcript"},
	"pagevm/paging":            {".", "pagevm"},
}

// thirdParty says which modules outside the standard library a package may use.
var thirdParty = map[string][]string{
	"budget":              {"github.com/pkoukk/tiktoken-go", "github.com/pkoukk/tiktoken-go-loader"},
	"budget/internal/...": {"github.com/pkoukk/tiktoken-go", "github.com/pkoukk/tiktoken-go-loader"},
	"embed":               {"golang.org/x/time/rate"},
	"embed/static":        {"github.com/dlclark/regexp2", "github.com/rivo/uniseg", "golang.org/x/sys/unix", "golang.org/x/sys/windows", "golang.org/x/text/unicode/norm"},
	"summary/model":       {"github.com/sashabaranov/go-openai"},
	"internal/atomicfile": {"golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/blob":       {"golang.org/x/sys/unix"},
	"internal/config":     {"gopkg.in/yaml.v3"},
	"internal/statedir":   {"github.com/gofrs/flock"},
	"internal/maskgen":    {"github.com/BurntSushi/toml"},
	"checkpoint":          {"gopkg.in/yaml.v3"},
	"consolidation":       {"github.com/rivo/uniseg"},
	"kernel":              {"github.com/gofrs/flock", "golang.org/x/sys/unix"},
	"index":               {"github.com/gofrs/flock"},
	"index/watch":         {"github.com/fsnotify/fsnotify"},
	"sessions":            {"github.com/gofrs/flock"},
	"index/postgres":      {"github.com/jackc/pgx/v5/..."},
	"serve":               {"github.com/gofrs/flock"},
	"tools":               {"github.com/google/jsonschema-go/jsonschema"},
	"serve/mcp":           {"github.com/modelcontextprotocol/go-sdk/mcp"},
	"serve/hook":          {"github.com/gofrs/flock", "github.com/tailscale/hujson"},
	"index/analysis":      {"github.com/blevesearch/bleve/v2/analysis/...", "github.com/blevesearch/bleve/v2/registry"},
	"index/internal/drv":  {"modernc.org/sqlite", "modernc.org/sqlite/vec", "github.com/mattn/go-sqlite3", "github.com/asg017/sqlite-vec-go-bindings/cgo"},
	"markdownstore":       {"github.com/adrg/frontmatter", "gopkg.in/yaml.v3", "github.com/gofrs/flock"},
	"bench/peers":         {"github.com/blevesearch/bleve/v2", "modernc.org/sqlite"},
	"bench":               {"github.com/pkoukk/tiktoken-go", "github.com/pkoukk/tiktoken-go-loader"},
	"cmd/memkernel":       {"github.com/spf13/cobra", "github.com/spf13/cobra/doc", "github.com/spf13/pflag", "github.com/schollz/progressbar/v3", "golang.org/x/term", "golang.org/x/sys/unix"},
}

// goDirs calls f for every folder with Go files, with the files that are not
// tests, by path relative to the module's root.
func goDirs(t *testing.T, f func(dir string, files []string)) {
	t.Helper()
	dirs := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "bin"):
			return filepath.SkipDir
		case !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			dir := filepath.ToSlash(filepath.Dir(path))
			dirs[dir] = append(dirs[dir], path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, files := range dirs {
		f(dir, files)
	}
}

// row finds the entry of a table for a folder.
func row(table map[string][]string, dir string) ([]string, bool) {
	if r, ok := table[dir]; ok {
		return r, true
	}
	for k, r := range table {
		if base, ok := strings.CutSuffix(k, "/..."); ok && strings.HasPrefix(dir+"/", base+"/") {
			return r, true
		}
	}
	return nil, false
}

// matches tells whether one of the patterns allows a folder.
func matches(patterns []string, dir string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		base, ok := strings.CutSuffix(p, "/...")
		return p == dir || ok && strings.HasPrefix(dir+"/", base+"/")
	})
}

// The imports are read with go/parser: the test cache sees the files that this
// test opens, and would not see those that a go list started by it opens.
func TestImportArrows(t *testing.T) {
	goDirs(t, func(dir string, files []string) {
		allowed, ok := row(arrows, dir)
		if !ok {
			t.Errorf("package %s is not in the table of arrows", dir)
			return
		}
		outside, _ := row(thirdParty, dir)
		for _, file := range files {
			for _, imp := range imports(t, file) {
				checkImport(t, file, imp, allowed, outside)
			}
		}
	})
}

func imports(t *testing.T, file string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range f.Imports {
		out = append(out, strings.Trim(s.Path.Value, `"`))
	}
	return out
}

func checkImport(t *testing.T, file, imp string, allowed, outside []string) {
	t.Helper()
	rest, ours := strings.CutPrefix(imp, module)
	switch {
	case ours:
		dir := strings.TrimPrefix(rest, "/")
		if dir == "" {
			dir = "."
		}
		if !matches(allowed, dir) {
			t.Errorf("%s imports %s: the table of arrows does not allow it", file, dir)
		}
	case strings.Contains(strings.SplitN(imp, "/", 2)[0], ".") && !matches(outside, imp):
		t.Errorf("%s imports %s: not in the table of third-party packages", file, imp)
	}
}

// pure are the packages that look at nothing but what they are given: no file, no clock,
// no network, no environment.
var pure = []string{"kernel/internal/ids", "kernel/internal/tokencount", "kernel/internal/branch", "kernel/internal/ingest", "kernel/internal/plan"}

func TestPureRoomsLookAtNothingElse(t *testing.T) {
	goDirs(t, func(dir string, files []string) {
		if !slices.Contains(pure, dir) {
			return
		}
		for _, file := range files {
			for _, imp := range imports(t, file) {
				if top, _, _ := strings.Cut(imp, "/"); slices.Contains([]string{"os", "net", "syscall"}, top) {
					t.Errorf("%s imports %s", file, imp)
				}
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := s.X.(*ast.Ident)
				if ok && x.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep", "NewTimer", "Tick"}, s.Sel.Name) {
					t.Errorf("%s uses time.%s", file, s.Sel.Name)
				}
				return true
			})
		}
	})
}

func TestEveryPackageHasOneComment(t *testing.T) {
	goDirs(t, func(dir string, files []string) {
		var with []string
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil && !ast.IsGenerated(f) {
				with = append(with, file)
			}
		}
		if len(with) != 1 {
			t.Errorf("package %s has %d package comments %v, want one", dir, len(with), with)
		}
	})
}

// maxRoom is how many methods a type may have, and how many files a package, tests
// apart: what has more is several things under one name.
const maxRoom = 40

// larger are the types and packages that are not taken apart yet, with the most that
// they may have. Numbers here only go down.
var larger = map[string]int{
	"cmd/memkernel":          74,
	"cmd/memkernel.app":      132,
	"index":                  44,
	"index.Index":            49,
	"index/postgres.Index":   50,
	"kernel":                 92,
	"kernel.Kernel":          133,
	"kernel.memory":          57,
	"kernel.session":         179,
	"markdownstore.Store":    52,
	"pagevm/journal.Journal": 41,
	"pagevm/paging.Engine":   59,
	"serve.Server":           52,
	"summary.updater":        42,
	"transcript":             46,
}

func TestRoomsStaySmall(t *testing.T) {
	goDirs(t, func(dir string, files []string) {
		size := map[string]int{dir: len(files)}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
					size[dir+"."+receiver(fn.Recv.List[0].Type)]++
				}
			}
		}
		for name, n := range size {
			most, known := larger[name]
			if !known {
				most = maxRoom
			}
			if n > most {
				t.Errorf("%s has %d files or methods, want at most %d", name, n, most)
			} else if known && n <= maxRoom {
				t.Errorf("%s has %d files or methods: take it out of the list", name, n)
			}
		}
	})
}

// receiver is the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
