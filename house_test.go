package memkernel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/memkernel/memkernel"

// arrows lists the packages of the module that a package may import. A folder ending in /...
// means all folders below it. Test files may import anything.
var arrows = map[string][]string{
	".":                       {},
	"cachelayout":             {},
	"checkpoint":              {".", "internal/store", "internal/textutil", "pagevm/toolcall", "summary", "transcript"},
	"client":                  {"client/protocol", "internal/endpoint", "internal/rendezvous"},
	"client/protocol":         {},
	"consolidation":           {"internal/choice", "internal/longwork", "internal/textutil", "kernel/health", "ledger", "markdownstore", "pagevm/mask", "transcript"},
	"ledger":                  {"internal/choice", "internal/textutil", "transcript"},
	"markdownstore":           {".", "internal/atomicfile", "internal/textutil"},
	"markdownstore/storetest": {"markdownstore"},
	"retrieval":               {"budget", "index", "index/analysis", "internal/longwork", "internal/textutil", "ledger", "markdownstore"},
	"retrieval/foreign":       {".", "internal/textutil"},
	"sessions":                {".", "internal/jsonl", "internal/store", "internal/textutil", "transcript"},

	"bench":       {},
	"bench/peers": {"bench/relevance", "retrieval"},

	"budget": {"."},

	"internal/cli":   {"budget", "cachelayout", "consolidation", "embed", "index", "index/qmd", "internal/atomicfile", "internal/config", "internal/display", "internal/document", "internal/longwork", "internal/settings", "internal/store", "internal/textutil", "kernel", "kernel/api", "kernel/health", "markdownstore", "pagevm/mask", "retrieval", "sessions", "summary/model", "transcript"},
	"internal/verbs": {".", "budget", "cachelayout", "checkpoint", "consolidation", "index", "index/analysis", "internal/cli", "internal/config", "internal/display", "internal/document", "internal/endpoint", "internal/imports", "internal/rendezvous", "internal/settings", "internal/store", "internal/textutil", "kernel", "kernel/api", "kernel/billing", "kernel/fault", "kernel/health", "markdownstore", "pagevm", "pagevm/paging", "replay", "retrieval", "retrieval/foreign", "serve", "serve/hook", "serve/install", "serve/meter", "serve/proxy", "serve/telemetry", "serve/tools", "serve/ui", "testdata", "transcript"},
	"cmd/memkernel":  {"internal/cli", "internal/verbs"},

	"embed":           {"embed/static", "internal/endpoint"},
	"embed/embedtest": {"embed"},
	"embed/static":    {},

	"index":               {".", "index/analysis", "index/internal/drv", "index/internal/fts5", "index/internal/vec", "internal/textutil"},
	"index/analysis":      {},
	"index/internal/drv":  {},
	"index/internal/fts5": {"index/internal/drv", "internal/textutil"},
	"index/internal/vec":  {"index/internal/drv"},
	"index/qmd":           {"index", "retrieval/foreign"},
	"index/watch":         {},

	"integrations/picoclaw": {".", "checkpoint", "kernel", "kernel/api", "transcript"},

	"internal/atomicfile":      {},
	"internal/hostile":         {"transcript"},
	"internal/choice":          {"internal/textutil"},
	"internal/config":          {"cachelayout", "internal/textutil"},
	"internal/contract":        {},
	"internal/display":         {"internal/textutil"},
	"internal/document":        {".", "cachelayout", "consolidation", "index", "kernel/api", "kernel/billing", "kernel/health", "markdownstore", "retrieval"},
	"internal/e2e":             {},
	"internal/endpoint":        {"internal/textutil"},
	"internal/fakemodel":       {},
	"internal/imports":         {".", "index", "internal/jsonl", "internal/store", "internal/textutil", "sessions", "transcript"},
	"internal/jsonl":           {},
	"internal/textutil":        {},
	"internal/longwork":        {},
	"internal/rendezvous":      {"internal/atomicfile", "internal/store"},
	"internal/settings":        {"internal/atomicfile"},
	"internal/store":           {"internal/atomicfile", "internal/textutil"},
	"internal/store/storetest": {"internal/atomicfile", "internal/store"},
	"internal/suite":           {"internal/atomicfile"},
	"bench/clients":            {"internal/contract", "internal/verbs", "serve"},
	"bench/fitgate":            {"bench/relevance", "kernel", "kernel/api", "retrieval", "transcript"},
	"bench/gen":                {},
	"bench/maskgen":            {},
	"bench/hashes":             {".", "bench/relevance", "index", "kernel", "kernel/api", "retrieval", "transcript"},
	"bench/release":            {},
	"bench/window":             {},

	"bench/cmd/mkbench": {"bench/economics", "bench/paging", "bench/predict", "bench/relevance", "internal/cli", "internal/verbs"},
	"bench/economics":   {"bench/policies", "cachelayout", "internal/atomicfile", "internal/cli", "internal/config", "replay", "transcript"},
	"bench/paging":      {".", "budget", "internal/cli", "kernel", "kernel/api", "pagevm", "pagevm/journal", "pagevm/paging", "pagevm/toolcall", "transcript"},
	"bench/policies":    {".", "cachelayout", "pagevm/toolcall", "replay", "replay/recall", "transcript"},
	"bench/relevance":   {"budget", "embed", "index", "index/analysis", "internal/cli", "internal/display", "markdownstore", "retrieval"},
	"bench/golden":      {"bench/relevance", "retrieval"},
	"bench/memory":      {".", "consolidation", "kernel", "kernel/api", "kernel/health", "markdownstore", "transcript"},
	"bench/predict":     {".", "budget", "cachelayout", "internal/cli", "internal/display", "transcript"},

	"kernel":                    {".", "budget", "cachelayout", "checkpoint", "embed", "index/watch", "internal/store", "kernel/api", "kernel/billing", "kernel/fault", "kernel/health", "kernel/internal/archive", "kernel/internal/folder", "kernel/internal/inspect", "kernel/internal/memory", "kernel/internal/notes", "kernel/internal/plan", "kernel/internal/retain", "kernel/internal/session", "kernel/internal/trace", "kernel/internal/turn", "kernel/internal/upkeep", "kernel/internal/workstate", "markdownstore", "pagevm/journal", "pagevm/mask", "pagevm/paging", "retrieval", "sessions"},
	"kernel/api":                {".", "budget", "cachelayout", "checkpoint", "consolidation", "embed", "index", "internal/store", "kernel/billing", "kernel/fault", "kernel/health", "markdownstore", "pagevm", "pagevm/journal", "pagevm/paging", "pagevm/represent", "retrieval", "retrieval/foreign", "sessions", "summary", "transcript"},
	"kernel/billing":            {".", "cachelayout"},
	"kernel/fault":              {"pagevm/paging"},
	"kernel/health":             {"internal/longwork"},
	"kernel/internal/archive":   {".", "internal/store", "internal/textutil", "kernel/internal/folder", "kernel/internal/ingest", "markdownstore", "pagevm", "pagevm/journal", "retrieval", "sessions", "transcript"},
	"kernel/internal/branch":    {".", "cachelayout", "kernel/api", "kernel/billing", "pagevm", "pagevm/paging", "pagevm/toolcall", "summary", "transcript"},
	"kernel/internal/folder":    {"checkpoint", "internal/store", "internal/textutil", "kernel/health", "kernel/internal/trace", "pagevm/journal"},
	"kernel/internal/ingest":    {".", "budget", "internal/longwork", "internal/textutil", "kernel/api", "kernel/fault", "kernel/internal/branch", "pagevm", "pagevm/mask", "pagevm/represent", "pagevm/toolcall", "transcript"},
	"kernel/internal/inspect":   {".", "checkpoint", "consolidation", "embed", "index", "internal/longwork", "internal/store", "kernel/api", "kernel/fault", "kernel/health", "kernel/internal/archive", "kernel/internal/branch", "kernel/internal/folder", "kernel/internal/ingest", "kernel/internal/memory", "kernel/internal/notes", "kernel/internal/plan", "kernel/internal/session", "kernel/internal/trace", "kernel/internal/turn", "kernel/internal/upkeep", "kernel/internal/workstate", "pagevm", "pagevm/mask", "pagevm/paging", "summary"},
	"kernel/internal/memory":    {"embed", "index", "index/watch", "internal/store", "internal/textutil", "kernel/api", "markdownstore", "pagevm/mask", "retrieval", "sessions"},
	"kernel/internal/notes":     {".", "internal/store", "kernel/api", "pagevm", "pagevm/journal", "pagevm/mask", "summary"},
	"kernel/internal/plan":      {".", "budget", "cachelayout", "checkpoint", "internal/choice", "internal/longwork", "internal/textutil", "kernel/api", "kernel/billing", "kernel/fault", "kernel/internal/branch", "kernel/internal/ingest", "markdownstore", "pagevm", "pagevm/journal", "pagevm/mask", "pagevm/paging", "pagevm/represent", "pagevm/toolcall", "retrieval", "retrieval/foreign", "summary", "transcript"},
	"kernel/internal/retain":    {"checkpoint", "internal/longwork", "internal/store", "kernel/api", "kernel/health", "kernel/internal/archive", "kernel/internal/branch", "kernel/internal/folder", "kernel/internal/ingest", "kernel/internal/session", "kernel/internal/trace", "kernel/internal/workstate", "markdownstore", "pagevm", "pagevm/journal", "sessions"},
	"kernel/internal/session":   {".", "budget", "cachelayout", "internal/longwork", "internal/store", "kernel/api", "kernel/internal/archive", "kernel/internal/branch", "kernel/internal/folder", "kernel/internal/ingest", "kernel/internal/memory", "kernel/internal/trace", "kernel/internal/upkeep", "kernel/internal/workstate", "markdownstore", "pagevm", "pagevm/journal", "pagevm/mask", "retrieval", "summary"},
	"kernel/internal/trace":     {"cachelayout", "internal/store", "kernel/api", "kernel/internal/plan", "pagevm"},
	"kernel/internal/turn":      {".", "budget", "cachelayout", "checkpoint", "consolidation", "internal/store", "kernel/api", "kernel/billing", "kernel/fault", "kernel/internal/branch", "kernel/internal/folder", "kernel/internal/ingest", "kernel/internal/memory", "kernel/internal/notes", "kernel/internal/plan", "kernel/internal/session", "kernel/internal/trace", "kernel/internal/upkeep", "kernel/internal/workstate", "markdownstore", "pagevm", "pagevm/journal", "pagevm/represent", "pagevm/toolcall", "retrieval", "summary", "transcript"},
	"kernel/internal/upkeep":    {"consolidation", "internal/longwork", "internal/store", "kernel/api", "kernel/health", "kernel/internal/folder", "kernel/internal/workstate", "markdownstore", "pagevm/mask"},
	"kernel/internal/workstate": {".", "checkpoint", "consolidation", "internal/store", "internal/textutil", "kernel/api", "kernel/fault", "kernel/internal/ingest", "kernel/internal/plan", "ledger", "markdownstore", "pagevm", "pagevm/journal", "pagevm/mask", "sessions", "summary", "transcript"},

	"pagevm":              {".", "pagevm/mask", "pagevm/toolcall"},
	"pagevm/internal/lex": {},
	"pagevm/journal":      {".", "internal/longwork", "internal/store", "internal/textutil", "pagevm"},
	"pagevm/mask":         {"internal/textutil", "pagevm/internal/lex"},
	"pagevm/paging":       {".", "pagevm"},
	"pagevm/represent":    {".", "internal/textutil", "pagevm", "pagevm/internal/lex", "pagevm/toolcall"},
	"pagevm/toolcall":     {"internal/textutil", "pagevm/internal/lex"},

	"replay":        {".", "budget", "cachelayout", "kernel", "kernel/api", "kernel/fault", "replay/recall", "transcript"},
	"replay/recall": {".", "pagevm/toolcall"},

	"serve":           {".", "budget", "cachelayout", "checkpoint", "index", "internal/document", "internal/jsonl", "internal/rendezvous", "internal/store", "internal/textutil", "kernel", "kernel/api", "kernel/billing", "markdownstore", "pagevm/journal", "retrieval/foreign", "serve/tools", "transcript"},
	"serve/hook":      {".", "cachelayout", "checkpoint", "internal/choice", "internal/settings", "internal/store", "internal/textutil", "kernel", "kernel/api", "kernel/fault", "markdownstore", "pagevm/mask", "pagevm/represent", "retrieval", "transcript"},
	"serve/install":   {"internal/atomicfile", "internal/rendezvous", "internal/settings", "internal/store", "internal/textutil", "markdownstore", "serve/hook", "sessions"},
	"serve/meter":     {".", "cachelayout", "kernel/api", "kernel/billing", "serve/proxy"},
	"serve/proxy":     {".", "budget", "cachelayout", "checkpoint", "internal/store", "internal/textutil", "kernel", "kernel/api", "kernel/billing", "kernel/fault", "pagevm/toolcall", "transcript"},
	"serve/tools":     {"index", "internal/jsonl", "internal/textutil", "kernel", "kernel/api", "markdownstore", "pagevm/journal", "retrieval"},
	"serve/ui":        {".", "cachelayout", "internal/document", "internal/textutil", "kernel", "kernel/api", "kernel/billing", "kernel/fault", "kernel/health", "markdownstore", "pagevm", "pagevm/mask", "pagevm/paging", "pagevm/toolcall", "replay", "serve/hook", "serve/proxy", "sessions", "transcript"},
	"serve/telemetry": {".", "cachelayout", "kernel/api", "kernel/fault", "serve", "serve/meter", "serve/proxy"},

	"summary":       {".", "internal/choice", "internal/textutil", "ledger", "pagevm", "pagevm/journal", "pagevm/toolcall", "transcript"},
	"summary/model": {".", "internal/endpoint", "summary"},

	"transport": {"kernel", "serve/proxy"},

	"transcript": {".", "internal/jsonl", "internal/textutil"},

	"service/cmd/memkernel-server": {"internal/cli", "internal/config", "internal/verbs", "service/internal/databases", "service/internal/verbs", "service/telemetry"},
	"service/internal/databases":   {"index", "internal/cli", "internal/textutil", "kernel/api", "markdownstore", "service/pgindex", "service/postgres"},
	"service/internal/fleet":       {"client", "service/postgres", "service/token"},
	"service/internal/moving":      {"internal/store", "markdownstore", "service/internal/rows"},
	"service/internal/pgdsn":       {"internal/textutil"},
	"service/internal/pgtest":      {},
	"service/internal/rows":        {"internal/store", "markdownstore", "service/internal/pgdsn"},
	"service/internal/verbs":       {"cachelayout", "internal/cli", "internal/config", "internal/display", "internal/document", "internal/longwork", "internal/store", "internal/verbs", "kernel", "serve", "serve/proxy", "serve/telemetry", "service/internal/databases", "service/internal/moving", "service/telemetry", "service/token", "service/web"},
	"service/pgindex":              {"index", "index/analysis", "internal/textutil", "service/internal/pgdsn"},
	"service/postgres":             {"internal/store", "markdownstore", "service/internal/rows"},
	"service/telemetry":            {".", "kernel/api", "serve", "serve/proxy", "serve/telemetry"},
	"service/token":                {"internal/store"},
	"service/web":                  {"internal/store", "internal/textutil", "serve", "service/token", "sessions"},
	"internal/longturns":           {"kernel", "kernel/api", "transcript"},
	"internal/scripttest":          {"internal/cli"},
	"testdata":                     {},
	"testdata/...":                 {"."},
	"service":                      {},
}

// thirdParty lists the modules outside the standard library that a package may use.
var thirdParty = map[string][]string{
	"embed/static":            {"github.com/dlclark/regexp2", "github.com/rivo/uniseg", "golang.org/x/sys/unix", "golang.org/x/text/unicode/norm"},
	"summary/model":           {"github.com/sashabaranov/go-openai"},
	"internal/atomicfile":     {"golang.org/x/sys/unix", "golang.org/x/sys/windows"},
	"internal/config":         {"gopkg.in/yaml.v3"},
	"internal/imports":        {"gopkg.in/yaml.v3"},
	"internal/store":          {"github.com/gofrs/flock"},
	"checkpoint":              {"gopkg.in/yaml.v3"},
	"consolidation":           {"github.com/rivo/uniseg", "github.com/rogpeppe/go-internal/diff", "github.com/yuin/goldmark/..."},
	"kernel":                  {"golang.org/x/sys/unix"},
	"kernel/internal/upkeep":  {"github.com/rogpeppe/go-internal/diff"},
	"index":                   {"github.com/gofrs/flock"},
	"retrieval":               {"golang.org/x/text/unicode/norm"},
	"index/watch":             {"github.com/fsnotify/fsnotify"},
	"service/pgindex":         {"github.com/jackc/pgx/v5/..."},
	"service/internal/pgdsn":  {"github.com/jackc/pgx/v5/..."},
	"service/internal/pgtest": {"github.com/jackc/pgx/v5"},
	"service/internal/rows":   {"github.com/jackc/pgx/v5/..."},
	"serve":                   {"github.com/gofrs/flock"},
	"serve/tools":             {"github.com/google/jsonschema-go/jsonschema", "github.com/modelcontextprotocol/go-sdk/jsonrpc", "github.com/modelcontextprotocol/go-sdk/mcp"},
	"internal/contract":       {"github.com/google/jsonschema-go/jsonschema"},
	"bench/clients":           {"github.com/google/jsonschema-go/jsonschema"},
	"service/web":             {"golang.org/x/time/rate"},
	"serve/hook":              {"github.com/gofrs/flock", "github.com/tailscale/hujson"},
	"index/analysis":          {"github.com/blevesearch/bleve/v2/analysis/...", "github.com/blevesearch/bleve/v2/registry"},
	"index/internal/drv":      {"github.com/asg017/sqlite-vec-go-bindings/cgo", "github.com/mattn/go-sqlite3", "modernc.org/sqlite", "modernc.org/sqlite/vec"},
	"markdownstore":           {"github.com/adrg/frontmatter", "github.com/gofrs/flock", "gopkg.in/yaml.v3"},
	"bench/peers":             {"github.com/blevesearch/bleve/v2"},
	"bench/relevance":         {"github.com/blevesearch/bleve/v2/registry", "github.com/spf13/cobra"},
	"bench/memory":            {"github.com/yuin/goldmark", "github.com/yuin/goldmark/..."},
	"internal/display":        {"github.com/rivo/uniseg"},

	"service/cmd/memkernel-server": {"github.com/spf13/cobra"},
	"bench/cmd/mkbench":            {"github.com/spf13/cobra"},
	"bench/economics":              {"github.com/spf13/cobra"},
	"bench/paging":                 {"github.com/spf13/cobra"},
	"bench/predict":                {"github.com/spf13/cobra"},
	"internal/cli":                 {"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
	"internal/verbs":               {"github.com/spf13/cobra", "github.com/spf13/pflag"},

	"bench/gen":               {"github.com/pkoukk/tiktoken-go-loader"},
	"bench/maskgen":           {"github.com/BurntSushi/toml"},
	"service/internal/verbs":  {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"internal/scripttest":     {"github.com/rogpeppe/go-internal/testscript"},
	"service/telemetry":       {"github.com/go-logr/logr", "go.opentelemetry.io/otel", "go.opentelemetry.io/otel/..."},
	"bench/release":           {"github.com/opencontainers/...", "golang.org/x/crypto/x509roots/fallback/bundle", "golang.org/x/mod/module", "golang.org/x/mod/semver"},
	"internal/settings":       {"github.com/BurntSushi/toml", "github.com/tailscale/hujson", "gopkg.in/yaml.v3"},
	"serve/install":           {"github.com/tailscale/hujson"},
	"internal/textutil":       {"github.com/bmatcuk/doublestar/v4", "golang.org/x/text/encoding/unicode", "golang.org/x/text/transform", "golang.org/x/text/unicode/norm"},
	"kernel/internal/inspect": {"golang.org/x/sys/unix"},
}

// positions are those of the files that were parsed, which several tests look at.
var (
	positions = token.NewFileSet()
	files     = map[string]*ast.File{}
)

// parsed parses a file with its comments, once.
func parsed(t *testing.T, file string) *ast.File {
	t.Helper()
	if files[file] == nil {
		f, err := parser.ParseFile(positions, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = f
	}
	return files[file]
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

// matches reports whether one of the patterns allows a folder.
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
var pure = []string{"kernel/internal/branch", "kernel/internal/ingest", "kernel/internal/plan"}

func TestPureRoomsLookAtNothingElse(t *testing.T) {
	seen := 0
	goDirs(t, func(dir string, files []string) {
		if !slices.Contains(pure, dir) {
			return
		}
		seen++
		for _, file := range files {
			for _, imp := range imports(t, file) {
				if top, _, _ := strings.Cut(imp, "/"); slices.Contains([]string{"os", "net", "syscall"}, top) {
					t.Errorf("%s imports %s", file, imp)
				}
			}
			ast.Inspect(parsed(t, file), func(n ast.Node) bool {
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
	if seen != len(pure) {
		t.Errorf("%d of %d packages are there", seen, len(pure))
	}
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

// TestEveryDocumentHasOneMaker: the name of a document's form is written where the
// document is made, and else in the table of documents alone.
func TestEveryDocumentHasOneMaker(t *testing.T) {
	at := map[string][]string{}
	goDirs(t, func(dir string, files []string) {
		for _, file := range files {
			ast.Inspect(parsed(t, file), func(n ast.Node) bool {
				if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && schemaName.MatchString(l.Value) && filepath.Base(file) != "documents.go" {
					at[l.Value] = append(at[l.Value], positions.Position(l.Pos()).String())
				}
				return true
			})
		}
	})
	if len(at) < 30 {
		t.Fatalf("only %d documents were found", len(at))
	}
	for name, places := range at {
		if len(places) > 1 {
			t.Errorf("%s is made at %v, want one maker: internal/document has those of several doors", name, places)
		}
	}
}

var schemaName = regexp.MustCompile("^[\"`]memkernel/[a-z_]+/v[0-9]+[\"`]$")

// TestModules holds that the root can be released as it is, since `go install` of a
// version refuses a module with replacements, and that the modules below it choose the
// versions that it chooses.
func TestModules(t *testing.T) {
	root := readModule(t, "go.mod")
	for _, l := range root.other {
		if strings.HasPrefix(l, "replace ") || strings.HasPrefix(l, "exclude ") {
			t.Errorf("go.mod: %s: a module with this can't be installed by its version", l)
		}
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range nested(t) {
		m := readModule(t, dir+"/go.mod")
		if m.path != module+"/"+dir || m.goVersion != root.goVersion {
			t.Errorf("%s/go.mod: module %s for go %s, want %s for %s", dir, m.path, m.goVersion, module+"/"+dir, root.goVersion)
		}
		up := strings.Repeat("../", 1+strings.Count(dir, "/"))
		if len(m.other) != 1 || strings.TrimRight(m.other[0], "/") != "replace "+module+" => "+strings.TrimRight(up, "/") {
			t.Errorf("%s/go.mod: %q, want only the root replaced by %s", dir, m.other, up)
		}
		for path, version := range m.require {
			if want, ok := root.require[path]; ok && version != want {
				t.Errorf("%s/go.mod: %s %s, the root has %s", dir, path, version, want)
			}
		}
		if !strings.Contains(string(makefile), " "+dir) {
			t.Errorf("%s is not among the MODULES of the Makefile, whose targets run its tests", dir)
		}
	}
}

// goMod is the content of a go.mod; other are the directives that are neither module, go
// nor require.
type goMod struct {
	path, goVersion string
	require         map[string]string
	other           []string
}

func readModule(t *testing.T, file string) goMod {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, block := goMod{require: map[string]string{}}, ""
	for line := range strings.Lines(string(b)) {
		line, _, _ = strings.Cut(line, "//")
		f := strings.Fields(line)
		switch {
		case len(f) == 0:
			continue
		case f[0] == ")":
			block = ""
			continue
		case len(f) == 2 && f[1] == "(":
			block = f[0]
			continue
		case block != "":
			f = append([]string{block}, f...)
		}
		switch f[0] {
		case "module":
			m.path = f[1]
		case "go":
			m.goVersion = f[1]
		case "require":
			m.require[f[1]] = f[2]
		default:
			m.other = append(m.other, strings.Join(f, " "))
		}
	}
	return m
}

// nested lists the folders of the modules below the root.
func nested(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "go.mod" && path != "go.mod" {
			dirs = append(dirs, filepath.ToSlash(filepath.Dir(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dirs) == 0 {
		t.Error("no module below the root; bench is one")
	}
	return dirs
}

// stored are the packages that keep state, and reach it by internal/store alone.
var stored = []string{"kernel", "kernel/...", "checkpoint", "sessions", "summary", "summary/...", "pagevm", "pagevm/..."}

// onDisk are their files that use package os all the same, each with what it reaches,
// which is no state of a store. The list only gets shorter.
var onDisk = map[string]string{
	"kernel/internal/upkeep/audit.go":   "records of jobs that other programs wrote, by the path that the user names",
	"kernel/internal/memory/audit.go":   "the index's own file, of which a copy is checked",
	"kernel/api/backend.go":             "the folder of the index's own file",
	"kernel/internal/inspect/doctor.go": "whether the state directory itself can be written to",
	"kernel/kernel.go":                  "whether the workspace is there",
	"kernel/internal/memory/media.go":   "images and documents of the workspace",
	"kernel/internal/memory/corpus.go":  "images and documents of the workspace",
	"kernel/internal/memory/syncer.go":  "the number of the process",
	"sessions/conversation.go":          "transcripts of hosts",
	"sessions/transcript.go":            "transcripts of hosts",
	"sessions/hosts.go":                 "what hosts remember by themselves",
}

// What keeps state touches no disk for it: of package os it uses nothing, and of io/fs
// the errors. That it imports neither internal/atomicfile nor
// flock is in the table of arrows.
func TestStateIsKeptInAStore(t *testing.T) {
	seen := map[string]bool{}
	goDirs(t, func(dir string, files []string) {
		if !matches(stored, dir) {
			return
		}
		if allowed, _ := row(arrows, dir); matches(allowed, "internal/atomicfile") {
			t.Errorf("the table of arrows lets %s import internal/atomicfile", dir)
		}
		for _, file := range files {
			f := parsed(t, file)
			name := filepath.ToSlash(file)
			ast.Inspect(f, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				pkg, ok := sel.X.(*ast.Ident)
				switch {
				case !ok || pkg.Name != "os" && pkg.Name != "fs" || pkg.Name == "fs" && strings.HasPrefix(sel.Sel.Name, "Err"):
				case !imported(f, pkg.Name):
				case onDisk[name] == "":
					t.Errorf("%s uses %s.%s: state is kept in a store.Store", file, pkg.Name, sel.Sel.Name)
				default:
					seen[name] = true
				}
				return true
			})
		}
	})
	for name := range onDisk {
		if !seen[name] {
			t.Errorf("%s uses neither os nor io/fs: take it out of the list", name)
		}
	}
}

// imported reports whether a name is that of package os or io/fs in a file.
func imported(f *ast.File, name string) bool {
	return slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool {
		p := strings.Trim(s.Path.Value, `"`)
		return p == name || p == "io/"+name
	})
}

// TestArchitectureNamesEveryPackage holds the list of packages in ARCHITECTURE.md: every
// package of the three modules is in it once, alone or below a folder that ends in /..., and
// every name in it is one.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "\n## Packages\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no section Packages")
	}
	name := regexp.MustCompile("`([^`]+)`")
	used := map[string]bool{}
	for _, item := range regexp.MustCompile("(?m)^- ((?:`[^`]+`,?\\s+)*`[^`]+`)").FindAllStringSubmatch(list, -1) {
		for _, m := range name.FindAllStringSubmatch(item[1], -1) {
			if _, twice := used[m[1]]; twice {
				t.Errorf("ARCHITECTURE.md has %s twice", m[1])
			}
			used[m[1]] = false
		}
	}
	goDirs(t, func(dir string, _ []string) {
		if strings.HasPrefix(dir, "testdata") || strings.Contains(dir, "/testdata") {
			return
		}
		at := dir
		if dir == "." {
			at = path.Base(module)
		}
		if _, ok := used[at]; !ok {
			for at = dir + "/..."; at != "./..."; at = path.Dir(path.Dir(at)) + "/..." {
				if _, ok := used[at]; ok {
					break
				}
			}
		}
		if _, ok := used[at]; !ok {
			t.Errorf("ARCHITECTURE.md does not name the package %s", dir)
			return
		}
		used[at] = true
	})
	for name, ok := range used {
		if !ok {
			t.Errorf("ARCHITECTURE.md names %s, which holds no package", name)
		}
	}
}

// TestPagesNameFilesThatExist: the files of Go that the pages for contributors name by their
// path are there.
func TestPagesNameFilesThatExist(t *testing.T) {
	n := 0
	for _, page := range []string{"ARCHITECTURE.md", "CONTRIBUTING.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`([a-z_/]+/[a-z_]+\\.go)`").FindAllStringSubmatch(string(text), -1) {
			n++
			if _, err := os.Stat(m[1]); err != nil {
				t.Errorf("%s names %s: %v", page, m[1], err)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d files were found", n)
	}
}

// TestNoPackageImportsItself follows the table of arrows.
func TestNoPackageImportsItself(t *testing.T) {
	done := map[string]bool{}
	var follow func(dir string, above []string)
	follow = func(dir string, above []string) {
		if slices.Contains(above, dir) {
			t.Fatalf("%s imports itself: %v", dir, above)
		}
		if done[dir] {
			return
		}
		for _, below := range arrows[dir] {
			follow(below, append(above, dir))
		}
		done[dir] = true
	}
	for dir := range arrows {
		if !strings.HasSuffix(dir, "/...") {
			follow(dir, nil)
		}
	}
}

// TestCommentsNameWhatExists: a comment's link to a name of another package of this
// repository, such as [api.Turn], names one that the package has.
func TestCommentsNameWhatExists(t *testing.T) {
	has := map[string]map[string]bool{} // exported names by package, those of equally named packages together
	all := map[string]*ast.File{}
	goDirs(t, func(_ string, files []string) {
		for _, file := range files {
			f := parsed(t, file)
			all[file] = f
			if has[f.Name.Name] == nil {
				has[f.Name.Name] = map[string]bool{}
			}
			for _, d := range f.Decls {
				for _, name := range declared(d) {
					has[f.Name.Name][name] = true
				}
			}
		}
	})
	link := regexp.MustCompile(`\[\*?([a-z]\w*)\.([A-Z]\w*)(?:\.\w+)?\]`)
	tried := 0
	for file, f := range all {
		for _, group := range f.Comments {
			for _, m := range link.FindAllStringSubmatch(group.Text(), -1) {
				imported := slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool {
					return path.Base(strings.Trim(s.Path.Value, `"`)) == m[1] && !strings.Contains(s.Path.Value, module)
				})
				if imported {
					continue
				}
				if tried++; !has[m[1]][m[2]] {
					t.Errorf("%s: %s names nothing", file, m[0])
				}
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d links were found", tried)
	}
}

// declared returns the names that a declaration of a package's top level makes.
func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		names = append(names, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					names = append(names, n.Name)
				}
			}
		}
	}
	return names
}
