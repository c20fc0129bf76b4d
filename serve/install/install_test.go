package install

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/hook"
)

// site is an installer on a machine where only the named programs are.
func site(t *testing.T, dir string, programs ...string) *Installer {
	t.Helper()
	s := &Site{Workspace: filepath.Join(dir, "project"), Home: filepath.Join(dir, "home"), Program: "memkernel", Shell: "memkernel",
		Getenv: func(string) string { return "" },
		LookPath: func(name string) (string, error) {
			for _, p := range append(programs, "memkernel") {
				if p == name {
					return p, nil
				}
			}
			return "", exec.ErrNotFound
		}}
	for _, d := range []string{s.Workspace, s.Home} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return &Installer{Site: s, State: store.Files(filepath.Join(s.Workspace, ".memkernel"))}
}

func write(t *testing.T, in *Installer, name, text string) string {
	t.Helper()
	path := filepath.Join(in.Workspace, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// tree is all that is in a folder, the state apart: folders, contents, modes, links.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.Name() == ".memkernel" {
			return filepath.SkipDir
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		text := st.Mode().String()
		switch {
		case st.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text += " " + string(data)
		case st.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			if err != nil {
				return err
			}
			text += " " + to
		}
		out[path] = text
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func put(t *testing.T, in *Installer, hosts ...string) []Change {
	t.Helper()
	return run(t, in, func() ([]Change, error) { return in.Put(hosts, true) })
}

func takeOut(t *testing.T, in *Installer, hosts ...string) []Change {
	t.Helper()
	return run(t, in, func() ([]Change, error) { return in.TakeOut(hosts, true) })
}

func run(t *testing.T, in *Installer, do func() ([]Change, error)) []Change {
	t.Helper()
	release, err := in.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	out, err := do()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func whole(t *testing.T, changes []Change) {
	t.Helper()
	for _, c := range changes {
		if c.Error != "" {
			t.Errorf("%s: %s", c.Path, c.Error)
		}
	}
}

// the files that people have, by host and name.
var (
	strictJSON = map[string]string{
		"empty file":    "",
		"blank":         "\n\n",
		"empty object":  "{}",
		"one line":      `{"a":1,"mcpServers":{"other":{"command":"x","args":[]}}}`,
		"tabs":          "{\n\t\"a\": [1,2 , 3],\n\t\"hooks\": {}\n}\n",
		"four spaces":   "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"x\"}\n    },\n    \"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]},\n    \"z\": 1.50\n}",
		"CRLF":          "{\r\n  \"a\": 1,\r\n  \"mcpServers\": {\r\n  }\r\n}\r\n",
		"BOM":           "\ufeff{\n  \"a\": \"\\u00e9<>&\"\n}\n",
		"BOM alone":     "\ufeff",
		"no final line": "{\n  \"a\": 1\n}",
		"unknown keys":  "{\"n\": 12345678901234567890.1234567890, \"日本語\": {\"memkernel\": [\"mcp\"]}, \"mcp\": null}",
	}
	comments = map[string]string{
		"comments":        "// above\n{\n  // before\n  \"a\": 1, // behind a\n  /* block */ \"b\": [ // in a list\n    1,\n  ],\n  // last\n}\n// below\n",
		"trailing commas": "{\n  \"a\": {\"b\": 1,},\n}\n",
		"comment only":    "{\n  // nothing yet\n}\n",
		"one line":        "{\"a\": 1 /* one */}",
		"line comment":    "{\"a\": 1 // one\n}",
		"CRLF comments":   "{\r\n\t// mine\r\n\t\"mcp\": { // servers\r\n\t\t\"x\": {}, // x\r\n\t},\r\n\t\"mcpServers\": {\"y\": {}},\r\n}\r\n",
		"like ours":       "{\n  \"a\": \"// \\\"memkernel\\\": no comment /* */\",\n  /* \"memkernel\": 1, */\n  \"plugin\": [],\n}\n",
	}
	tomlFiles = map[string]string{
		"empty file":    "",
		"comment":       "# mine\n",
		"keys":          "model = \"o\"\napproval_policy = 'never'\n\n[projects.\"/home/kim/a b\"]\ntrust_level = \"trusted\"\n",
		"no final line": "model = \"o\"\n[mcp_servers.other]\ncommand = \"x\"",
		"CRLF":          "model = \"o\"\r\n[mcp_servers]\r\n[mcp_servers.other]\r\nargs = [\r\n  \"[a]\",\r\n]\r\n",
		"BOM":           "\ufeffmodel = \"o\"\n",
		"like ours":     "notes = \"\"\"\n[mcp_servers.memkernel]\ncommand = \"x\"\n\"\"\"\n# [mcp_servers.memkernel]\n[other]\nmemkernel = 1\n",
		"dotted":        "mcp_servers.other.command = \"x\"\nmcp_servers.other.args = [\"a\"]\n",
		"arrays":        "a = [1, \"two\", 3.0]\n[[tables]]\nn = 1\n[[tables]]\nn = 2\n",
		"dates":         "at = 2026-11-22T10:00:00Z\nday = 2026-11-22\nn = 0x1F\nf = inf\n",
	}
)

type fixture struct {
	host, name, text string
	kind             string
}

func fixtures() (out []fixture) {
	for kind, text := range strictJSON {
		out = append(out, fixture{"claude", ".mcp.json", text, kind}, fixture{"claude", ".claude/settings.json", text, kind},
			fixture{"codex", ".codex/hooks.json", text, kind}, fixture{"gemini", ".gemini/settings.json", text, kind},
			fixture{"cursor", ".cursor/mcp.json", text, kind}, fixture{"vscode", ".vscode/mcp.json", text, kind}, fixture{"copilot", ".github/mcp.json", text, kind}, fixture{"zed", ".zed/settings.json", text, kind})
		if kind != "unknown keys" { // mcp is theirs
			out = append(out, fixture{"opencode", "opencode.json", text, kind})
		}
	}
	for kind, text := range comments {
		out = append(out, fixture{"gemini", ".gemini/settings.json", text, kind}, fixture{"opencode", "opencode.jsonc", text, kind}, fixture{"opencode", ".opencode/opencode.json", text, kind},
			fixture{"cursor", ".cursor/mcp.json", text, kind}, fixture{"vscode", ".vscode/mcp.json", text, kind}, fixture{"copilot", ".github/mcp.json", text, kind}, fixture{"zed", ".zed/settings.json", text, kind})
	}
	for kind, text := range map[string]string{
		"inputs":  "{\n\t// asked for once\n\t\"inputs\": [{\"type\": \"promptString\", \"id\": \"key\", \"password\": true,},],\n\t\"servers\": {\n\t\t\"db\": {\"type\": \"http\", \"url\": \"http://localhost\"}, // theirs\n\t},\n}\n",
		"no such": "{\r\n    \"inputs\": []\r\n}",
	} {
		out = append(out, fixture{"vscode", ".vscode/mcp.json", text, kind})
	}
	for kind, text := range map[string]string{
		"editor":  "// Folder-specific settings\n//\n// See the documentation.\n{\n  \"tab_size\": 2, // two\n  \"languages\": {\"Go\": {\"hard_tabs\": true}},\n}\n",
		"servers": "{\n  \"context_servers\": {\n    // mine\n    \"db\": {\n      \"command\": \"db-mcp\",\n      \"args\": [],\n    },\n  },\n}\n",
	} {
		out = append(out, fixture{"zed", ".zed/settings.json", text, kind})
	}
	for kind, text := range tomlFiles {
		out = append(out, fixture{"codex", ".codex/config.toml", text, kind})
	}
	return out
}

func (f fixture) isTOML() bool { return strings.HasSuffix(f.name, ".toml") }

// content is what a file says, empty objects that nobody needs apart.
func (f fixture) content(t *testing.T, data []byte) map[string]any {
	t.Helper()
	out := map[string]any{}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if f.isTOML() {
		if _, err := toml.Decode(string(data), &out); err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
	} else if len(bytes.TrimSpace(data)) > 0 {
		plain, err := hujson.Standardize(bytes.Clone(data))
		if err == nil {
			err = json.Unmarshal(plain, &out)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, data)
		}
	}
	for k, v := range out {
		switch v := v.(type) {
		case map[string]any:
			if len(v) == 0 {
				delete(out, k)
			}
		case []any:
			if len(v) == 0 {
				delete(out, k)
			}
		}
	}
	return out
}

// touched is a file with something new of the user's at its beginning.
func (f fixture) touched(data []byte) []byte {
	if f.isTOML() {
		return bytes.Replace(data, bytes.TrimLeft(data, "\ufeff"), append([]byte("mine = 2\n"), bytes.TrimLeft(data, "\ufeff")...), 1)
	}
	return bytes.Replace(data, []byte("{"), []byte("{\"mine\": 2,"), 1)
}

// TestEveryByteStays: what is the user's stays byte for byte when memkernel comes, a second
// run changes nothing, and when it leaves the file is what it was; if it was touched since,
// or the record is lost, what it says is.
func TestEveryByteStays(t *testing.T) {
	for _, f := range fixtures() {
		t.Run(f.host+" "+f.name+" "+f.kind, func(t *testing.T) {
			in := site(t, t.TempDir())
			in.Checkout = "/opt/mem kernel"
			path := write(t, in, f.name, f.text)
			before := tree(t, in.Workspace)
			if out, err := in.Put([]string{f.host}, false); err != nil || len(out) == 0 || cmp.Diff(before, tree(t, in.Workspace)) != "" {
				t.Fatalf("a look changed something: %v, %v", out, err)
			}
			whole(t, put(t, in, f.host))
			data, _ := os.ReadFile(path)
			if !subsequence([]byte(strings.TrimSpace(f.text)), data) {
				t.Errorf("bytes of the user's are gone:\n%s", data)
			}
			if strings.Contains(f.text, "\r\n") && bytes.Count(data, []byte("\n")) != bytes.Count(data, []byte("\r\n")) {
				t.Errorf("line ends are mixed:\n%q", data)
			}
			for _, c := range f.comments() {
				if !bytes.Contains(data, []byte(c)) {
					t.Errorf("%q left its place:\n%s", c, data)
				}
			}
			if got := f.content(t, data); !strings.Contains(toJSON(t, got), "memkernel") {
				t.Errorf("nothing was put in:\n%s", data)
			}
			all := tree(t, in.Workspace)
			for _, c := range put(t, in, f.host) {
				if c.Action != keep || c.Done {
					t.Errorf("a second run: %+v", c)
				}
			}
			if d := cmp.Diff(all, tree(t, in.Workspace)); d != "" {
				t.Errorf("a second run changed something: %s", d)
			}
			whole(t, takeOut(t, in, f.host))
			if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
				t.Errorf("not as it was: %s", d)
			}

			put(t, in, f.host)
			data, _ = os.ReadFile(path)
			if err := os.WriteFile(path, f.touched(data), 0o640); err != nil {
				t.Fatal(err)
			}
			whole(t, takeOut(t, in, f.host))
			data, _ = os.ReadFile(path)
			want := f.content(t, []byte(f.text))
			want["mine"] = f.number(2)
			if d := cmp.Diff(want, f.content(t, data)); d != "" {
				t.Errorf("touched since: %s in\n%s", d, data)
			}

			write(t, in, f.name, f.text)
			put(t, in, f.host)
			if _, err := in.State.Remove(store.Synced, recordName); err != nil {
				t.Fatal(err)
			}
			whole(t, takeOut(t, in, f.host))
			data, _ = os.ReadFile(path)
			if d := cmp.Diff(f.content(t, []byte(f.text)), f.content(t, data)); d != "" {
				t.Errorf("without a record: %s in\n%s", d, data)
			}
		})
	}
}

// comments are lines with a value and a comment behind it, which have to stay together.
func (f fixture) comments() (out []string) {
	for line := range strings.Lines(f.text) {
		if line = strings.TrimRight(line, "\r\n"); strings.Contains(line, ", //") {
			out = append(out, line)
		}
	}
	return out
}

func (f fixture) number(n int) any {
	if f.isTOML() {
		return int64(n)
	}
	return float64(n)
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	delete(v.(map[string]any), "f") // infinity
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func subsequence(a, b []byte) bool {
	for _, c := range b {
		if len(a) > 0 && a[0] == c {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// TestOlderEntries: an entry whose program is gone gets the one that is there and keeps
// all else; one that works stays as it is; another program of the name is left alone.
func TestOlderEntries(t *testing.T) {
	for _, c := range []struct{ host, name, gone, now string }{
		{"claude", ".mcp.json", `{"mcpServers":{"memkernel":{"command":"/old/memkernel","args":["mcp","--read-only"],"env":{"A":"b"}}}}`, `{"mcpServers":{"memkernel":{"command":"memkernel","args":["mcp","--read-only"],"env":{"A":"b"}}}}`},
		{"opencode", "opencode.json", `{"mcp":{"memkernel":{"type":"local","command":["/old/memkernel","mcp"],"timeout":9}}}`, `{"mcp":{"memkernel":{"type":"local","command":["memkernel","mcp"],"timeout":9}}}`},
		{"codex", ".codex/config.toml", "[mcp_servers.memkernel]\n  command = '/old/memkernel' # here\nargs = [\n \"mcp\",\n]\n[mcp_servers.memkernel.env]\nA = \"b\"\n\n# theirs\n[x]\ncommand = 1\n", "[mcp_servers.memkernel]\n  command = \"memkernel\"\nargs = [\n \"mcp\",\n]\n[mcp_servers.memkernel.env]\nA = \"b\"\n\n# theirs\n[x]\ncommand = 1\n"},
	} {
		in := site(t, t.TempDir())
		path := write(t, in, c.name, c.gone)
		whole(t, put(t, in, c.host))
		if data, _ := os.ReadFile(path); string(data) != c.now {
			t.Errorf("%s: %s", c.name, data)
		}
		whole(t, takeOut(t, in, c.host))
		if data, err := os.ReadFile(path); c.host == "codex" && string(data) != "\n# theirs\n[x]\ncommand = 1\n" || bytes.Contains(data, []byte("memkernel")) {
			t.Errorf("%s: %v, %q is left", c.name, err, data)
		}

		in = site(t, t.TempDir(), "/old/memkernel")
		path = write(t, in, c.name, c.gone)
		whole(t, put(t, in, c.host))
		if data, _ := os.ReadFile(path); string(data) != c.gone {
			t.Errorf("%s works, and became %s", c.name, data)
		}

		in = site(t, t.TempDir())
		at := strings.LastIndex(c.gone, `"mcp"`)
		other := c.gone[:at] + `"serve-something"` + c.gone[at+len(`"mcp"`):]
		path = write(t, in, c.name, other)
		failed := false
		for _, ch := range put(t, in, c.host) {
			failed = failed || ch.Path == path && strings.Contains(ch.Error, "another program") && len(ch.ByHand) > 0
		}
		takeOut(t, in, c.host)
		if data, _ := os.ReadFile(path); string(data) != other || !failed {
			t.Errorf("%s: another program's entry became %s", c.name, data)
		}
	}
}

// TestLeftAlone: what can't be read is named by file and line, with what to add by hand,
// stays as it is, and stops no other file.
func TestLeftAlone(t *testing.T) {
	for _, c := range []struct {
		host, name, text, where string
	}{
		{"claude", ".mcp.json", "{\n  \"a\": 1,\n}", ".mcp.json:3: "},
		{"claude", ".claude/settings.json", "{\n  // no\n}", "settings.json:2: "},
		{"claude", ".mcp.json", "[]", ".mcp.json:1: "},
		{"claude", ".mcp.json", "{\"mcpServers\": []}", "mcpServers is no object"},
		{"gemini", ".gemini/settings.json", "{\n  // yes\n  \"a\": ,\n}", "settings.json:3: "},
		{"gemini", ".gemini/settings.json", "{\"mcpServers\": {}, \"mcpServers\": {}}", "stands twice"},
		{"opencode", "opencode.json", "{\"mcp\": 1}", "mcp is no object"},
		{"opencode", "opencode.json", "{\n\"a\"", "opencode.json:2: "},
		{"codex", ".codex/config.toml", "a = 1\nb =\n", "config.toml:2: "},
		{"codex", ".codex/config.toml", "mcp_servers = { other = { command = \"x\" } }\n", "can't be put behind"},
		{"codex", ".codex/config.toml", "mcp_servers = 1\n", "can't be put behind"},
		{"codex", ".codex/hooks.json", "{\"hooks\": []}", "hooks is no object"},
		{"cursor", ".cursor/mcp.json", "{\n\"mcpServers\": [\n", "mcp.json:3: "},
		{"vscode", ".vscode/mcp.json", "{\"servers\": []}", "servers is no object"},
		{"vscode", ".vscode/mcp.json", "{\"servers\": {\"memkernel\": {\"command\": \"other\", \"args\": [\"serve\"]}}}", "it is another program"},
		{"zed", ".zed/settings.json", "{\n  // settings\n  \"context_servers\": nil\n}", "settings.json:3: "},
		{"cursor", ".cursor/rules/memkernel.mdc", "<!-- memkernel:begin -->\nno end\n", "memkernel.mdc:1: the mark"},
		{"cursor", ".cursor/rules/memkernel.mdc", "a\n<!-- memkernel:end -->\n", "memkernel.mdc:2: the mark"},
		{"aider", "CONVENTIONS.md", "<!-- memkernel:begin -->\n<!-- memkernel:begin -->\n<!-- memkernel:end -->\n", "CONVENTIONS.md:2: the mark"},
		{"cursor", ".cursor/rules/memkernel.mdc", "\xff\xfea\x00b\x00", "no text"},
	} {
		in := site(t, t.TempDir())
		path := write(t, in, c.name, c.text)
		others := 0
		for _, ch := range put(t, in, append(Names(), c.host)...) {
			switch {
			case ch.Path != path && ch.Error == "" && (ch.Done || ch.Action == keep):
				others++
			case ch.Path != path || !strings.Contains(ch.Error, c.where) || ch.Done || len(ch.ByHand) == 0 || !strings.Contains(strings.Join(ch.ByHand, "\n"), "memkernel"):
				t.Errorf("%s %q: %+v", c.name, c.text, ch)
			}
		}
		if data, _ := os.ReadFile(path); string(data) != c.text || others < 5 {
			t.Errorf("%q became %q, %d others", c.text, data, others)
		}
		takeOut(t, in)
		if data, _ := os.ReadFile(path); string(data) != c.text {
			t.Errorf("taken out: %q became %q", c.text, data)
		}
	}
}

// TestReadOnly: a file that can't be written is one sentence, the rest goes on, and the
// file's folder is as it was.
func TestReadOnly(t *testing.T) {
	in := site(t, t.TempDir())
	before := tree(t, in.Workspace)
	restore := atomicfile.SetHook(func(op, path string) error {
		if op == "rename" && strings.HasSuffix(path, ".json") && strings.Contains(path, ".codex") {
			return &fs.PathError{Op: op, Path: path, Err: syscall.EACCES}
		}
		return nil
	})
	out := put(t, in, "claude", "codex")
	restore()
	for _, c := range out {
		hooks := strings.HasSuffix(c.Path, "hooks.json")
		if c.Done == hooks || hooks != strings.Contains(c.Error, c.Path+" can't be read or written: make") {
			t.Errorf("%+v", c)
		}
	}
	whole(t, takeOut(t, in))
	if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
		t.Error(d)
	}
}

// TestRulesReadOnly: so it is with files of rules.
func TestRulesReadOnly(t *testing.T) {
	for _, locked := range []string{"memkernel.mdc", "CONVENTIONS.md", "mcp.json"} {
		in := site(t, t.TempDir())
		write(t, in, ".github/CODEOWNERS", "* kim\n")
		before := tree(t, in.Workspace)
		restore := atomicfile.SetHook(func(op, path string) error {
			if op == "rename" && filepath.Base(path) == locked {
				return &fs.PathError{Op: op, Path: path, Err: syscall.EROFS}
			}
			return nil
		})
		out := put(t, in, "cursor", "vscode", "copilot", "aider", "goose")
		restore()
		for _, c := range out {
			if is := filepath.Base(c.Path) == locked; is != strings.Contains(c.Error, "can't be read or written: make") || is && len(c.ByHand) == 0 || is == c.Done && c.Action != keep {
				t.Errorf("%s: %+v", locked, c)
			}
		}
		whole(t, takeOut(t, in))
		if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
			t.Errorf("%s: %s", locked, d)
		}
	}
}

// TestLinks: links stay links, what is behind them is changed and put back; also where
// there is nothing behind them yet, and where the folder is the link.
func TestLinks(t *testing.T) {
	for name, there := range map[string]bool{"there": true, "not yet": false} {
		in := site(t, t.TempDir())
		dots := filepath.Join(in.Home, "dots")
		if err := os.MkdirAll(filepath.Join(dots, "codex"), 0o755); err != nil {
			t.Fatal(err)
		}
		if there {
			if err := os.WriteFile(filepath.Join(dots, "mcp.json"), []byte("{ }"), 0o604); err != nil {
				t.Fatal(err)
			}
		}
		for link, to := range map[string]string{".mcp.json": filepath.Join("..", "home", "dots", "mcp.json"), ".codex": filepath.Join(dots, "codex")} {
			if err := os.Symlink(to, filepath.Join(in.Workspace, link)); err != nil {
				t.Skip(err)
			}
		}
		root := filepath.Dir(in.Workspace)
		before := tree(t, root)
		out := put(t, in, "claude", "codex")
		whole(t, out)
		if c := out[1]; c.Target != filepath.Join(dots, "mcp.json") {
			t.Errorf("%s: %+v", name, c)
		}
		for _, path := range []string{"mcp.json", "codex/hooks.json", "codex/config.toml"} {
			if data, err := os.ReadFile(filepath.Join(dots, path)); !bytes.Contains(data, []byte("memkernel")) {
				t.Errorf("%s: %s: %v, %q", name, path, err, data)
			}
		}
		whole(t, takeOut(t, in))
		if d := cmp.Diff(before, tree(t, root)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestHostWrites: what a host writes at the same moment is kept, and ours put beside it;
// a file that is written to all the time is left alone.
func TestHostWrites(t *testing.T) {
	for times, want := range map[int]bool{1: true, 3: true, 1000: false} {
		in := site(t, t.TempDir())
		path := write(t, in, ".mcp.json", "{}")
		n := 0
		restore := atomicfile.SetHook(func(op, at string) error {
			if op == "sync" && filepath.Dir(at) == in.Workspace && n < times {
				n++
				return os.WriteFile(path, []byte(`{"n":`+strings.Repeat("1", n)+`}`), 0o640)
			}
			return nil
		})
		out := put(t, in, "claude")
		restore()
		data, _ := os.ReadFile(path)
		if !bytes.Contains(data, []byte(strings.Repeat("1", n))) || bytes.Contains(data, []byte("memkernel")) != want || (out[1].Error == "") != want {
			t.Errorf("%d times: %+v\n%s", times, out[1], data)
		}
		if whole(t, takeOut(t, in)); !want {
			continue
		}
		if data, _ := os.ReadFile(path); string(data) != `{"n":`+strings.Repeat("1", n)+`}` {
			t.Errorf("%d times: taken out: %s", times, data)
		}
	}
}

// TestTwoAtOnce: many that put in and take out at once leave nothing half done.
func TestTwoAtOnce(t *testing.T) {
	dir := t.TempDir()
	in := site(t, dir)
	write(t, in, ".mcp.json", "{ }")
	before := tree(t, in.Workspace)
	var wg sync.WaitGroup
	for i := range 6 {
		wg.Go(func() {
			other := site(t, dir)
			release, err := other.Lock(context.Background())
			if err != nil {
				t.Error(err)
				return
			}
			defer release()
			if i%3 == 2 {
				_, err = other.TakeOut(nil, true)
			} else {
				_, err = other.Put(Names(), true)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	whole(t, put(t, in, Names()...))
	whole(t, takeOut(t, in))
	if d := cmp.Diff(before, tree(t, in.Workspace)); d != "" {
		t.Error(d)
	}
	ctx, cancel := context.WithCancel(context.Background())
	release, err := in.Lock(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	cancel()
	if _, err := site(t, dir).Lock(ctx); err == nil {
		t.Error("two have the lock")
	}
}

// TestRecordIsNotBelieved: a record that came with the project names no other file and no
// other folder.
func TestRecordIsNotBelieved(t *testing.T) {
	in := site(t, t.TempDir())
	victim := filepath.Join(in.Home, "victim")
	if err := os.Mkdir(victim, 0o755); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(in.Home, "f")
	if err := os.WriteFile(secret, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := record{Version: 1, Files: []recorded{{Path: secret, After: store.Sum([]byte("x"))}}, Made: []string{victim}}
	if err := r.write(in.State); err != nil {
		t.Fatal(err)
	}
	whole(t, put(t, in, "codex"))
	takeOut(t, in)
	if data, _ := os.ReadFile(secret); string(data) != "x" {
		t.Errorf("%q", data)
	}
	if _, err := os.Stat(victim); err != nil {
		t.Error(err)
	}
	if _, err := in.State.Put(store.Synced, store.Doc{Name: recordName, Data: []byte("{")}); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Put([]string{"codex"}, true); err == nil || !strings.Contains(err.Error(), recordName) {
		t.Errorf("%v", err)
	}
}

// TestUserWide: hooks that stand in the user's settings for all projects are not put into
// the project's too, and are not taken out with these.
func TestUserWide(t *testing.T) {
	in := site(t, t.TempDir())
	before := tree(t, in.Workspace)
	for _, h := range []hook.Host{"claude", "gemini"} {
		hs := hook.Settings{Host: h, Dir: in.Home, Program: "/opt/memkernel"}
		data, err := hs.Edit(nil, true)
		if err == nil {
			err = settings.Write(hs.Path(), nil, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	home := tree(t, in.Home)
	got := ""
	for _, c := range put(t, in, "claude", "codex", "gemini") {
		got += in.Short(c.Path) + " " + strings.Join(c.Adds, ",") + "\n"
	}
	if want := ".mcp.json tools\n.codex/hooks.json hooks\n.codex/config.toml tools\n.gemini/settings.json tools\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	found, err := in.Find([]string{"claude", "codex"})
	if err != nil || found[0].UserWide != filepath.Join(in.Home, ".claude", "settings.json") || found[1].UserWide != "" {
		t.Errorf("%v, %+v", err, found)
	}
	whole(t, takeOut(t, in))
	if d := cmp.Diff(home, tree(t, in.Home)) + cmp.Diff(before, tree(t, in.Workspace)); d != "" {
		t.Error(d)
	}
}

// TestState: removing the state leaves the configuration, what is nobody's that we know,
// and a folder that a daemon serves.
func TestState(t *testing.T) {
	in := site(t, t.TempDir())
	before := tree(t, filepath.Dir(in.Workspace))
	put(t, in, "claude")
	if err := in.RemoveState(); err == nil || !strings.Contains(err.Error(), "take memkernel out") {
		t.Errorf("%v", err)
	}
	takeOut(t, in)
	write(t, in, ".memkernel/config.yaml", "x")
	write(t, in, ".memkernel/thesis.txt", "x")
	write(t, in, ".memkernel/blobs/ab/c", "x")
	release, err := in.State.Lock(daemonLock, store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.RemoveState(); err == nil || !strings.Contains(err.Error(), "daemon") {
		t.Errorf("%v", err)
	}
	release()
	for _, name := range []string{"config.yaml", "thesis.txt"} {
		if err := in.RemoveState(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(in.Workspace, ".memkernel", name)); err != nil {
			t.Error(err)
		}
	}
	if err := in.RemoveState(); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, tree(t, filepath.Dir(in.Workspace))); d != "" || store.Exists(in.State, "") {
		t.Error(d)
	}
}
