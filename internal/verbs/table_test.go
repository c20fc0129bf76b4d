package verbs

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/install"
)

// tableRow is a row of doc/hosts.md: title, name and a cell for each of tools, rules,
// hooks and the proxy.
var tableRow = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `([a-z][a-z-]+)` \\| ([^|]*)\\| ([^|]*)\\| ([^|]*)\\| ([^|]*)\\|$")

var codeSpan = regexp.MustCompile("`([^`]+)`")

func spans(cell string) (out []string) {
	for _, m := range codeSpan.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// TestTableOfHosts holds the table of doc/hosts.md to what init does in an empty folder,
// and to the variables and arguments that wrap sets.
func TestTableOfHosts(t *testing.T) {
	data, err := os.ReadFile("../../doc/hosts.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(data)
	rows := map[string][]string{}
	var order []string
	for _, m := range tableRow.FindAllStringSubmatch(doc, -1) {
		rows[m[2]], order = m, append(order, m[2])
	}
	if !slices.Equal(order, install.Names()) {
		t.Fatalf("the table has %v, want %v", order, install.Names())
	}
	_, prose, _ := strings.Cut(strings.Join(strings.Fields(doc), " "), "`init` looks for ")
	prose, _, _ = strings.Cut(prose, " by their folders")
	named := strings.Split(strings.Replace(prose, " and ", ", ", 1), ", ")
	used := map[string]bool{}
	for _, name := range install.Names() {
		dir := t.TempDir()
		in := &install.Installer{State: store.Files(filepath.Join(dir, ".memkernel")), Site: &install.Site{Workspace: dir, Home: filepath.Join(dir, "home"), Program: "memkernel", Shell: "memkernel",
			Getenv: func(string) string { return "" }, LookPath: func(string) (string, error) { return "", os.ErrNotExist }}}
		found, err := in.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		changes, err := in.Put([]string{name}, false)
		if err != nil {
			t.Fatal(err)
		}
		row := rows[name]
		if found[0].Title != row[1] {
			t.Errorf("%s is called %q, want %q", name, row[1], found[0].Title)
		}
		if len(named) == 0 || named[0] != found[0].Title {
			t.Errorf("%s is not where it belongs in the list of those that init looks for: %v", found[0].Title, named)
		} else {
			named = named[1:]
		}
		for i, kind := range []string{"tools", "rules", "hooks"} {
			var want []string
			for _, c := range changes {
				if slices.Contains(c.Adds, kind) {
					want = append(want, filepath.ToSlash(in.Short(c.Path)))
				}
			}
			cell := row[3+i]
			if got := spans(cell); !slices.Equal(got, want) {
				t.Errorf("%s: %s: %v, want %v", name, kind, got, want)
			}
			if byHand := kind == "tools" && len(changes) == 0 && len(found[0].ByHand) > 0; byHand != (strings.TrimSpace(cell) == "by hand") {
				t.Errorf("%s: %s: %q, by hand %v", name, kind, cell, found[0].ByHand)
			}
		}
		for _, v := range spans(row[6]) {
			used[v] = true
		}
	}
	t.Setenv("CODEX_HOME", t.TempDir())
	for _, p := range ways([]string{"codex"}) {
		for _, v := range p.variables {
			if !used[v.name] && v.name != "OPENAI_BASE_URL" { // which programs with OpenAI's library read
				t.Errorf("wrap sets %s, which no host of the table reads", v.name)
			}
			delete(used, v.name)
		}
	}
	for name, l := range leads {
		args, env, err := l.tell(map[string]string{"openai_base_url": "there"}, t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if name == "codex" {
			args = []string{args[0] + " " + args[1]}
		}
		for _, by := range append(args[:min(1, len(args))], env...) {
			by, _, _ = strings.Cut(by, "=")
			if !used[by] {
				t.Errorf("wrap tells %s by %s, which the table doesn't name", name, by)
			}
			delete(used, by)
		}
	}
	if len(used) > 0 {
		t.Errorf("the table has %v, which wrap doesn't set", used)
	}
}

// TestEnvironmentOfWrap: every variable by which a client finds an API leads to the proxy,
// with the path that the client wants in it; one that leads elsewhere stays. Claude Code searches
// for tools as it does at Anthropic's own address, unless the user or another address says otherwise.
func TestEnvironmentOfWrap(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	here := "http://" + l.Addr().String()
	var front []served
	for _, p := range providers {
		front = append(front, served{provider: p, listener: l})
	}
	for _, c := range []struct {
		set      map[string]string
		upstream string // of the API of OpenAI
		want     map[string]string
	}{
		{nil, "https://api.openai.com", map[string]string{"OPENAI_BASE_URL": here + "/v1", "OPENAI_HOST": here, "OPENAI_API_BASE": here + "/v1", "ANTHROPIC_BASE_URL": here, "ANTHROPIC_HOST": here, "ANTHROPIC_API_BASE": here, "GOOGLE_GEMINI_BASE_URL": here, "ENABLE_TOOL_SEARCH": "true"}},
		{map[string]string{"ENABLE_TOOL_SEARCH": "false"}, "https://api.openai.com", map[string]string{"ANTHROPIC_BASE_URL": here, "ENABLE_TOOL_SEARCH": "false"}},
		{map[string]string{"ANTHROPIC_BASE_URL": "https://gate.example"}, "https://api.openai.com", map[string]string{"ANTHROPIC_BASE_URL": here, "ENABLE_TOOL_SEARCH": ""}},
		{map[string]string{"OPENAI_HOST": "https://gate.example/"}, "https://gate.example", map[string]string{"OPENAI_HOST": here, "OPENAI_API_BASE": here + "/v1", "OPENAI_BASE_URL": here + "/v1"}},
		{map[string]string{"OPENAI_BASE_URL": "https://gate.example/v1", "OPENAI_HOST": "https://gate.example"}, "https://gate.example", map[string]string{"OPENAI_HOST": here, "OPENAI_BASE_URL": here + "/v1"}},
		{map[string]string{"OPENAI_BASE_URL": "https://gate.example/v1", "OPENAI_API_BASE": "https://other.example/v1"}, "https://gate.example", map[string]string{"OPENAI_API_BASE": "https://other.example/v1", "OPENAI_BASE_URL": here + "/v1"}},
	} {
		for _, p := range providers {
			for _, v := range p.variables {
				t.Setenv(v.name, c.set[v.name])
			}
		}
		t.Setenv("ENABLE_TOOL_SEARCH", c.set["ENABLE_TOOL_SEARCH"])
		openai := &providers[1]
		if got := openai.upstream(os.Getenv(openai.set())); got != c.upstream {
			t.Errorf("%v: the proxy sends to %s, want %s", c.set, got, c.upstream)
		}
		got := map[string]string{}
		for _, e := range environment(front) {
			name, value, _ := strings.Cut(e, "=")
			got[name] = value
		}
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%v: %s=%s, want %s", c.set, name, got[name], want)
			}
		}
	}
}
