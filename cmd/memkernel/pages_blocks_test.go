package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
)

// TestPagesData: JSON and YAML of the pages can be read, and YAML that sets what a
// configuration sets is a configuration.
func TestPagesData(t *testing.T) {
	n := 0
	for _, p := range readPages(t, allPages...) {
		for _, b := range p.blocks {
			switch {
			case b.notRun:
			case slices.Contains([]string{"json", "jsonl", "yaml", "yml"}, b.info):
				n++
				if err := readData(t, b); err != nil {
					t.Error(p.at(b.line, "%v", err))
				}
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d blocks were read", n)
	}
	for _, faulty := range []block{{info: "json", text: `{"a":}`}, {info: "yaml", text: "a: b: c"}, {info: "yaml", text: "embedding:\n  privider: local\n"}} {
		if readData(t, faulty) == nil {
			t.Errorf("%s passes", faulty.text)
		}
	}
}

// readData reads a block of JSON or YAML.
func readData(t *testing.T, b block) error {
	if strings.HasPrefix(b.info, "json") {
		d := json.NewDecoder(strings.NewReader(b.text))
		for {
			var v any
			if err := d.Decode(&v); errors.Is(err, io.EOF) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	var v map[string]any
	if err := yaml.Unmarshal([]byte(b.text), &v); err != nil {
		return err
	}
	code, sample, _ := invoke(t, "config", "--sample")
	if code != cli.ExitOK {
		return fmt.Errorf("config --sample ends with %d", code)
	}
	for section := range v {
		if !strings.Contains(sample, "\n"+section+":") && !strings.Contains(sample, "\n# "+section+":") && !strings.Contains(sample, "\n#"+section+":") {
			continue
		}
		file := filepath.Join(t.TempDir(), "config.yaml")
		if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
			return err
		}
		if code, _, stderr := invoke(t, "config", "--config", file); code != cli.ExitOK {
			return errors.New(stderr)
		}
		return nil
	}
	return nil
}

// TestPagesScripts: examples in JavaScript and Python are of that language, where there is
// something to say so.
func TestPagesScripts(t *testing.T) {
	for language, infos := range map[string][]string{"node": {"js", "javascript", "mjs"}, "python3": {"python", "py"}, "tsc": {"ts", "typescript"}} {
		t.Run(language, func(t *testing.T) {
			var found []string
			at := map[string]string{}
			dir := t.TempDir()
			for _, p := range readPages(t, allPages...) {
				for _, b := range p.blocks {
					if slices.Contains(infos, b.info) {
						name := filepath.Join(dir, fmt.Sprintf("block%d.%s", len(found), map[string]string{"node": "mjs", "python3": "py", "tsc": "ts"}[language]))
						if err := os.WriteFile(name, []byte(b.text), 0o600); err != nil {
							t.Fatal(err)
						}
						found, at[name] = append(found, name), p.at(b.line, "")
					}
				}
			}
			if len(found) == 0 && language != "tsc" {
				t.Error("no example was found")
			}
			program, err := exec.LookPath(language)
			if err != nil {
				t.Skipf("%s is not installed: %d examples are not checked", language, len(found))
			}
			faulty := filepath.Join(dir, "faulty"+filepath.Ext(append(found, "x.ts")[0]))
			if err := os.WriteFile(faulty, []byte("const = (;\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			at[faulty] = "a faulty one"
			for _, name := range append(suite.Some(found, 4), faulty) {
				out, err := exec.Command(program, syntaxOnly(language, name)...).CombinedOutput()
				if (err == nil) != (name != faulty) {
					t.Errorf("%s%v: %s", at[name], err, out)
				}
			}
		})
	}
}

// syntaxOnly are the arguments by which a language reads a file and doesn't run it.
func syntaxOnly(language, file string) []string {
	switch language {
	case "node":
		return []string{"--check", file}
	case "python3":
		return []string{"-S", "-c", "import sys; compile(open(sys.argv[1], encoding='utf-8').read(), sys.argv[1], 'exec')", file}
	}
	return []string{"--noEmit", "--noResolve", "--skipLibCheck", "--target", "esnext", "--module", "esnext", file}
}

// goNames are what examples in Go take for given: parameters of the function that they are
// put in, by name. Message is a type of theirs.
var goNames = map[string]string{
	"ctx":          "ctx context.Context",
	"workspaceDir": "workspaceDir string",
	"workspace":    "workspace string",
	"key":          "key string",
	"messages":     "messages []memkernel.Message",
	"response":     "response []byte",
	"k":            "k *kernel.Kernel",
	"err":          "err error",
	"call":         "call struct { Name string; Input json.RawMessage }",
	"complete":     "complete func(system, prompt string, maxTokens int) string",
	"chat":         "chat *kernel.Session",
	"usage":        "usage *memkernel.Usage",
	"store":        "store interface { History(string) []Message }",
	"callTheModel": "callTheModel func([]memkernel.Message, func([]byte)) string",
}

// goImports are the packages that examples may name.
var goImports = map[string]string{
	"context": "context", "json": "encoding/json", "fmt": "fmt", "os": "os", "log": "log", "time": "time", "errors": "errors", "http": "net/http",
	"memkernel": modulePath, "kernel": modulePath + "/kernel", "api": modulePath + "/kernel/api", "transcript": modulePath + "/transcript", "pagevm": modulePath + "/pagevm", "tools": modulePath + "/serve/tools", "journal": modulePath + "/pagevm/journal", "transport": modulePath + "/transport", "picoclaw": modulePath + "/integrations/picoclaw",
}

const modulePath = "github.com/memkernel/memkernel"

// TestPagesGo: the examples of a page in Go compile, one after the other.
func TestPagesGo(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed: the examples are not compiled")
	}
	files := map[string]string{}
	for _, p := range readPages(t, allPages...) {
		var blocks []string
		for _, b := range p.blocks {
			if b.info == "go" && !b.notRun {
				blocks = append(blocks, fmt.Sprintf("//line %s:%d\n%s", filepath.Join(repositoryAbs, p.path), b.line+1, b.text))
			}
		}
		if len(blocks) == 0 {
			continue
		}
		name := strings.NewReplacer("/", "_", ".", "_").Replace(p.path)
		source, err := goFile(blocks)
		if err != nil {
			t.Error(err)
			continue
		}
		files[name] = source
	}
	if len(files) < 2 {
		t.Errorf("only %d pages have examples in Go", len(files))
	}
	for name, statement := range map[string]string{"type": "k, err := kernel.Open(ctx, workspaceDir, 7)", "name": "nobody.Knows()", "unset": "x = 7"} {
		source, err := goFile([]string{statement + "\n"})
		if err != nil {
			t.Fatal(err)
		}
		files["faulty_"+name] = source
	}
	out := compileGo(t, files)
	for part := range strings.SplitSeq("\n"+out, "\n# ") {
		if name := path.Base(strings.Fields(part + " none")[0]); strings.HasPrefix(name, "faulty_") {
			delete(files, name)
		} else if name != "none" {
			t.Error(part)
		}
	}
	for name := range files {
		if strings.HasPrefix(name, "faulty_") {
			t.Errorf("%s compiles", name)
		}
	}
}

// TestPagesGoProgram: the README's example runs in a folder of notes. Its question is answered
// with a whole list item of the notes, and another session is shown the rule that its user typed.
func TestPagesGoProgram(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("go is not installed: the program is not run")
	}
	readme := readPages(t, "README.md")[0]
	i := slices.IndexFunc(readme.blocks, func(b block) bool { return b.info == "go" })
	if i < 0 {
		t.Fatal("README.md has no example in Go")
	}
	body := regexp.MustCompile(`(?m)^.*\berr :?= .*$`).ReplaceAllString(readme.blocks[i].text, "$0\nif err != nil { panic(err) }")
	source := "package main\n\nimport (\n\"context\"\n\"fmt\"\n\n\"" + modulePath + "\"\n\"" + modulePath + "/kernel\"\n\"" + modulePath + "/kernel/api\"\n)\n\nfunc main() {\nctx := context.Background()\n" + body + `}

func callTheModel(messages []memkernel.Message, event func([]byte)) string {
	for _, m := range messages {
		fmt.Println(m.Parts[0].Text)
	}
	event([]byte("{\"usage\":{\"input_tokens\":1000,\"output_tokens\":9}}"))
	return "I see."
}
`
	bin, workspace := t.TempDir(), t.TempDir()
	if out := compileGo(t, map[string]string{"readme": source}, "-o", filepath.Join(bin, "chat"), "-ldflags", "-s -w"); out != "" {
		t.Fatal(out)
	}
	const item = "- We deploy on Tuesdays at ten, and never on the day\n  before a holiday: nobody is on call then."
	office := "# Office\n\n"
	for _, room := range []string{"kitchen", "workshop", "library", "archive", "garden", "cellar", "studio", "attic", "hall", "terrace"} {
		office += "- The " + room + " is cleaned by whoever used it last,\n  and its key hangs next to the door of the " + room + ".\n"
		if room == "garden" {
			office += "- Somebody waters the plants on Mondays.\n" + item + "\n"
		}
	}
	for name, text := range map[string]string{"MEMORY.md": "# Memory\n\n- The user's name is Ines,\n  and she writes in Portuguese.\n", "memory/office.md": office} {
		file := filepath.Join(workspace, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(filepath.Join(bin, "chat"))
	cmd.Dir = workspace
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range []string{item, "- The user's name is Ines,\n  and she writes in Portuguese."} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the program doesn't show %q:\n%s", want, out)
		}
	}

	k, err := kernel.Open(t.Context(), workspace, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	plan, err := k.Session("chat-8", kernel.SessionOptions{Model: "claude-opus-5-5", Private: true}).
		Plan(t.Context(), []memkernel.Message{memkernel.User("Mend the title of the handbook.")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if shown := fmt.Sprint(plan.Messages); !strings.Contains(shown, "Never push to main.") {
		t.Errorf("another session is not shown the rule: %s", shown)
	}
	if bills, err := k.Usage(t.Context(), billing.Options{}); err != nil || bills.Total.Billed.InputTokens != 1000 {
		t.Errorf("the bill is not recorded: %+v, %v", bills, err)
	}
}

// TestPagesPython: the README's example in Python is the one that the client's own tests run.
func TestPagesPython(t *testing.T) {
	tested := readPages(t, "integrations/python/README.md")[0]
	for _, b := range readPages(t, "README.md")[0].blocks {
		if b.info == "python" && !slices.ContainsFunc(tested.blocks, func(own block) bool { return own.text == b.text }) {
			t.Errorf("no test runs this:\n%s", b.text)
		}
	}
}

// goFile puts examples into a file, each in a scope within the one before it, with what
// they take for given.
func goFile(blocks []string) (string, error) {
	made, free, packages := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var body strings.Builder
	for _, text := range blocks {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package pages\nfunc _() {\n"+text+"}\n", parser.SkipObjectResolution)
		if err != nil {
			return "", err
		}
		goNamesOf(f, made, free, packages)
		body.WriteString("{\n" + text)
		for _, statement := range f.Decls[0].(*ast.FuncDecl).Body.List {
			for _, name := range declared(statement) {
				body.WriteString("_ = " + name + "\n")
			}
		}
	}
	body.WriteString(strings.Repeat("}\n", len(blocks)))
	var parameters, imports []string
	for name := range free {
		parameters = append(parameters, goNames[name])
		for of := range goImports {
			if strings.Contains(goNames[name], of+".") {
				packages[of] = true
			}
		}
	}
	for name := range packages {
		if _, given := goNames[name]; given || made[name] {
			continue
		}
		if at := goImports[name]; at != "" {
			imports = append(imports, fmt.Sprintf("%s %q", name, at))
		}
	}
	slices.Sort(parameters)
	slices.Sort(imports)
	return fmt.Sprintf("package pages\n\nimport (\n%s\n)\n\ntype Message struct{ Role, Content string }\n\nfunc _(%s) {\n%s}\n",
		strings.Join(imports, "\n"), strings.Join(parameters, ", "), body.String()), nil
}

// declared are the names that a statement makes.
func declared(s ast.Stmt) (names []string) {
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, e := range s.Lhs {
			if id, ok := e.(*ast.Ident); ok && s.Tok == token.DEFINE && id.Name != "_" {
				names = append(names, id.Name)
			}
		}
	case *ast.DeclStmt:
		if d := s.Decl.(*ast.GenDecl); d.Tok == token.VAR {
			for _, spec := range d.Specs {
				for _, id := range spec.(*ast.ValueSpec).Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// goNamesOf sorts what an example names: what was made by it or one before it, what is
// given, and what may be packages.
func goNamesOf(f *ast.File, made, free, packages map[string]bool) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Rhs {
				ast.Inspect(e, func(n ast.Node) bool {
					if id, ok := n.(*ast.Ident); ok && goNames[id.Name] != "" && !made[id.Name] {
						free[id.Name] = true
					}
					return true
				})
			}
			for _, name := range declared(n) {
				made[name] = made[name] || !free[name]
			}
		case *ast.DeclStmt:
			for _, name := range declared(n) {
				made[name] = made[name] || !free[name]
			}
		case *ast.SelectorExpr:
			if id, ok := n.X.(*ast.Ident); ok && !made[id.Name] {
				packages[id.Name] = true
			}
		case *ast.Ident:
			if goNames[n.Name] != "" && !made[n.Name] {
				free[n.Name] = true
			}
		}
		return true
	})
}

// compileGo compiles files as a package of this module each, without writing into it, and
// returns the compiler's messages.
func compileGo(t *testing.T, files map[string]string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	overlay := map[string]map[string]string{"Replace": {}}
	args := append([]string{"build", "-overlay", filepath.Join(dir, "overlay.json")}, flags...)
	for name, source := range files {
		real := filepath.Join(dir, name+".go")
		if err := os.WriteFile(real, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		overlay["Replace"][filepath.Join(repositoryAbs, "internal", "pages", name, "pages.go")] = real
		args = append(args, "./internal/pages/"+name)
	}
	raw, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = repositoryAbs
	out, err := cmd.CombinedOutput()
	if err != nil && len(out) == 0 {
		t.Fatal(err)
	}
	return string(out)
}
