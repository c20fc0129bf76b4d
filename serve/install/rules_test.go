package install

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/memkernel/memkernel/internal/store"
)

// texts are files of rules that people have.
var texts = map[string]string{
	"empty":         "",
	"blank":         "\n\n",
	"plain":         "# House\n\nBe kind.\n",
	"no final line": "# House\n\nBe kind.",
	"CRLF":          "# House\r\n\r\nBe kind.\r\n",
	"CRLF, open":    "# House\r\nBe kind.",
	"BOM":           "\ufeff# House\n",
	"BOM alone":     "\ufeff",
	"front matter":  "---\ndescription: mine\nalwaysApply: false\n---\nBe kind.\n",
	"blank end":     "Be kind.\n\n\n",
	"like ours":     "The marks are `<!-- memkernel:begin -->` and <!-- memkernel:end -->.\n<!-- memkernel:beginning -->x\n",
	"other marks":   "<!-- other:begin -->\nx\n<!-- other:end -->\n",
	"no UTF-8":      "Stra\xdfe\n",
}

// ownRules are the files of rules, by host.
var ownRules = map[string]string{"cursor": ".cursor/rules/memkernel.mdc", "aider": "CONVENTIONS.md"}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestRulesLeaveNoTrace: whatever a file of rules holds stays, the section is there once,
// and when it leaves the file is what it was; also where it was touched since, or the
// record is lost.
func TestRulesLeaveNoTrace(t *testing.T) {
	for host, name := range ownRules {
		for kind, text := range texts {
			if kind == "like ours" {
				text = strings.Replace(text, "<!-- memkernel:beginning -->", "", 1)
			}
			t.Run(host+" "+kind, func(t *testing.T) {
				in := site(t, t.TempDir())
				path := write(t, in, name, text)
				before := tree(t, in.Workspace)
				whole(t, put(t, in, host))
				data := read(t, path)
				if !strings.HasPrefix(data, text) || strings.Count(data, "<!-- memkernel:begin (") != 1 || strings.Count(data, "\n<!-- memkernel:end -->") != 1 && strings.Count(data, "\n<!-- memkernel:end -->\r\n") != 1 {
					t.Errorf("put in:\n%q", data)
				}
				if strings.Contains(text, "\r\n") && strings.Count(data, "\n") != strings.Count(data, "\r\n") {
					t.Errorf("line ends are mixed:\n%q", data)
				}
				for _, c := range put(t, in, host) {
					if c.Action != keep || c.Done {
						t.Errorf("a second run: %+v", c)
					}
				}
				// An older text of ours is brought up to date, in its place.
				old := strings.Replace(data, "search this project's memory", "look", 1)
				if err := os.WriteFile(path, []byte(old+"more\n"), 0o640); err != nil {
					t.Fatal(err)
				}
				whole(t, put(t, in, host))
				if got := read(t, path); got != data+"more\n" {
					t.Errorf("not up to date:\n%q", got)
				}
				whole(t, takeOut(t, in, host))
				if got := read(t, path); strings.Contains(got, "begin (") || !strings.HasPrefix(got, strings.TrimRight(text, "\r\n")) || !strings.HasSuffix(got, "more\n") {
					t.Errorf("touched since:\n%q", got)
				}

				write(t, in, name, text)
				whole(t, put(t, in, host))
				whole(t, takeOut(t, in, host))
				if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
					t.Errorf("not as it was: %s", d)
				}
				whole(t, put(t, in, host))
				if _, err := in.State.Remove(store.Synced, recordName); err != nil {
					t.Fatal(err)
				}
				whole(t, takeOut(t, in, host))
				got, _ := os.ReadFile(path) // a file that said nothing goes
				if strings.TrimRight(string(got), "\r\n\ufeff") != strings.TrimRight(text, "\r\n\ufeff") {
					t.Errorf("without a record:\n%q", got)
				}
			})
		}
	}
}

// TestRulesOfNothing: a new file has what the host needs before the section, goes with it,
// and takes its folders along.
func TestRulesOfNothing(t *testing.T) {
	fronts := map[string]map[string]any{
		"cursor": {"description": "When to search the memory of this project, and when to write to it", "alwaysApply": true},
	}
	for host, name := range ownRules {
		for _, lost := range []bool{false, true} {
			in := site(t, t.TempDir())
			before := tree(t, in.Workspace)
			whole(t, put(t, in, host))
			front, rest, has := strings.Cut(strings.TrimPrefix(read(t, filepath.Join(in.Workspace, name)), "---\n"), "---\n")
			want := fronts[host]
			if has != (want != nil) {
				t.Errorf("%s: front matter: %v", host, has)
			}
			if has {
				var got map[string]any
				if err := yaml.Unmarshal([]byte(front), &got); err != nil || cmp.Diff(want, got) != "" || !strings.HasPrefix(rest, "\n<!-- memkernel:begin") {
					t.Errorf("%s: %v: %s%s", host, err, front, rest)
				}
			}
			if lost {
				if _, err := in.State.Remove(store.Synced, recordName); err != nil {
					t.Fatal(err)
				}
			}
			whole(t, takeOut(t, in, host))
			after := tree(t, in.Workspace)
			if lost { // folders are nobody's that we know, but for the nearest
				for path := range after {
					if st, err := os.Stat(path); err == nil && st.IsDir() {
						delete(after, path)
					}
				}
				delete(before, in.Workspace)
			}
			if d := cmp.Diff(before, after); d != "" {
				t.Errorf("%s, record lost %v: %s", host, lost, d)
			}
		}
	}
}

// TestRulesBehindLinks: a link stays one, and the file behind it
// has the section once.
func TestRulesBehindLinks(t *testing.T) {
	in := site(t, t.TempDir())
	path := write(t, in, "docs/agents.md", "Be kind.\n")
	if err := os.Symlink(filepath.Join("docs", "agents.md"), filepath.Join(in.Workspace, "CONVENTIONS.md")); err != nil {
		t.Skip(err)
	}
	before := tree(t, in.Workspace)
	out := put(t, in, "aider")
	whole(t, out)
	if c := out[0]; c.Target != path || strings.Count(read(t, path), "memkernel:begin") != 1 {
		t.Errorf("%+v\n%s", c, read(t, path))
	}
	whole(t, takeOut(t, in))
	if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
		t.Error(d)
	}
}

// TestRulesStayInTheFolder: what links lead out of the folder to is not this project's alone,
// and a text is not checked as settings are: it is left alone.
func TestRulesStayInTheFolder(t *testing.T) {
	for host, c := range map[string]struct{ link, file string }{
		"aider": {"CONVENTIONS.md", "CONVENTIONS.md"}, "cursor": {".cursor/rules", ".cursor/rules/memkernel.mdc"},
	} {
		in := site(t, t.TempDir())
		to := filepath.Join(in.Home, "dots")
		if c.link == c.file {
			lay(t, to, "export PATH\n")
		} else if err := os.MkdirAll(to, 0o755); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(in.Workspace, filepath.FromSlash(c.link))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
		before := tree(t, filepath.Dir(in.Workspace))
		found := false
		for _, ch := range put(t, in, host) {
			if filepath.ToSlash(in.Short(ch.Path)) == c.file {
				found = true
				if ch.Done || !strings.Contains(ch.Error, "it leads out of this folder, to ~/dots") || len(ch.ByHand) == 0 {
					t.Errorf("%s: %+v", host, ch)
				}
			}
		}
		if !found {
			t.Errorf("%s: %s was not looked at", host, c.file)
		}
		whole(t, takeOut(t, in))
		if d := cmp.Diff(before, tree(t, filepath.Dir(in.Workspace))); d != "" {
			t.Errorf("%s: %s", host, d)
		}
	}
}

// TestAider: Aider's configuration is not changed; the line that it needs is told until it
// has it.
func TestAider(t *testing.T) {
	for conf, told := range map[string]bool{"": true, "model: sonnet # mine\n": true, "read: STYLE.md\n": true, "a: 1\nb: [\n": true, "- a\n": true,
		"read: CONVENTIONS.md\n": false, "\ufeffread: [STYLE.md, CONVENTIONS.md]\n": false, "read:\n  - CONVENTIONS.md # s\n": false} {
		in := site(t, t.TempDir())
		path := write(t, in, ".aider.conf.yml", conf)
		whole(t, put(t, in, "aider"))
		if text := read(t, filepath.Join(in.Workspace, "CONVENTIONS.md")); !strings.Contains(text, "memkernel search") || strings.Contains(text, "memory_search") {
			t.Errorf("%q: %s", conf, text)
		}
		found, err := in.Find([]string{"aider"})
		if err != nil {
			t.Fatal(err)
		}
		if told != slices.Equal(found[0].ByHand, []string{"# add this to .aider.conf.yml", "read: CONVENTIONS.md"}) || read(t, path) != conf {
			t.Errorf("%q: %q, and now %q", conf, found[0].ByHand, read(t, path))
		}
	}
}

// TestUserServers: what a host has for all of a user's projects is not written, but told;
// once it stands there, for this folder, it is told no more.
func TestUserServers(t *testing.T) {
	for host, file := range map[string]string{"windsurf": ".codeium/windsurf/mcp_config.json", "cline": ".cline/data/settings/cline_mcp_settings.json",
		"claude-desktop": ".config/Claude/claude_desktop_config.json", "goose": ".config/goose/config.yaml"} {
		in := site(t, t.TempDir())
		path := filepath.Join(in.Home, filepath.FromSlash(file))
		look := func() Host {
			t.Helper()
			found, err := in.Find([]string{host})
			if err != nil {
				t.Fatal(err)
			}
			return found[0]
		}
		yes := host == "goose"
		theirs := "// mine\n{\"mcpServers\": {\"memkernel\": {\"command\": \"memkernel\", \"args\": [\"mcp\", \"--workspace\", \"/elsewhere\"]},},}\n"
		if yes {
			theirs = "extensions:\n  developer: {enabled: true, type: builtin}\n"
		}
		lay(t, path, theirs)
		before := tree(t, in.Home)
		h := look()
		if len(h.ByHand) != 2 || !strings.HasPrefix(h.ByHand[0], "# add this ") || !strings.HasSuffix(h.ByHand[0], "~/"+file) || h.UserServer != "" {
			t.Fatalf("%s: %+v", host, h)
		}
		var added string
		if yes {
			var doc map[string]map[string]struct {
				Enabled   bool
				Type, Cmd string
				Args      []string
			}
			added = theirs + h.ByHand[1] + "\n"
			if err := yaml.Unmarshal([]byte(added), &doc); err != nil {
				t.Fatalf("%v in\n%s", err, added)
			}
			if e := doc["extensions"]["memkernel"]; e.Cmd != "memkernel" || !slices.Equal(e.Args, []string{"mcp", "--private"}) || e.Type != "stdio" || !e.Enabled {
				t.Errorf("%+v", e)
			}
		} else {
			var doc map[string]map[string]server
			if err := json.Unmarshal([]byte(h.ByHand[1]), &doc); err != nil {
				t.Fatal(err)
			}
			e := doc["mcpServers"]["memkernel-project"]
			want := []string{"mcp", "--private", "--workspace", in.Workspace}
			if host == "claude-desktop" { // which edits no files
				want = slices.Insert(want, 2, "--all-tools")
			}
			if e.Command != "memkernel" || !slices.Equal(e.Args, want) {
				t.Errorf("%s: %+v", host, doc)
			}
			added = h.ByHand[1]
		}
		put(t, in, host)
		takeOut(t, in, host)
		if d := cmp.Diff(before, tree(t, in.Home)); d != "" {
			t.Errorf("%s: the home changed: %s", host, d)
		}
		lay(t, path, added)
		if h = look(); len(h.ByHand) != 0 || h.UserServer != path {
			t.Errorf("%s, added: %+v", host, h)
		}
		if host == "cline" { // as its own command writes it
			lay(t, path, `{"mcpServers":{"memkernel":{"transport":{"type":"stdio","command":"memkernel","args":["mcp","--workspace",`+strconv.Quote(in.Workspace)+`]}}}}`)
			if h = look(); len(h.ByHand) != 0 || h.UserServer != path {
				t.Errorf("%s, added by its command: %+v", host, h)
			}
		}
		for _, text := range []string{"", "{", "[]", "mcpServers", "{\"mcpServers\": 1}", "extensions: 1"} {
			lay(t, path, text)
			if h = look(); len(h.ByHand) != 2 || h.UserServer != "" {
				t.Errorf("%s, %q: %+v", host, text, h)
			}
		}
	}
}
