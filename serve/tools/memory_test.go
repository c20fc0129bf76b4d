package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/tools"
)

// memory calls Anthropic's memory tool.
func (b *bench) memory(o tools.Options, input any) (string, bool) {
	b.Helper()
	s, err := tools.New(b.k, o)
	if err != nil {
		b.Fatal(err)
	}
	raw, ok := input.(string)
	if !ok {
		j, err := json.Marshal(input)
		if err != nil {
			b.Fatal(err)
		}
		raw = string(j)
	}
	text, isError, err := s.Memory(context.Background(), json.RawMessage(raw))
	if err != nil {
		b.Fatalf("%s: %v", raw, err)
	}
	return text, isError
}

// says calls the memory tool and wants a text; one that begins with ! is an error's.
func (b *bench) says(input object, want string) {
	b.Helper()
	got, isError := b.memory(private, input)
	if isError {
		got = "!" + got
	}
	if got != want {
		b.Errorf("%v:\n%s\nwant\n%s", input, got, want)
	}
}

func (b *bench) text(path string) string {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(b.dir, filepath.FromSlash(path)))
	if err != nil && !os.IsNotExist(err) {
		b.Fatal(err)
	}
	return string(raw)
}

// The texts are those of Anthropic's own implementation for a folder of files.
func TestMemoryToolTexts(t *testing.T) {
	b := open(t, nil)
	b.says(object{"command": "view", "path": "/memories"}, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n0B\t/memories")
	b.says(object{"command": "create", "path": "/memories/a.md", "file_text": "one\ntwo\nthree\n"}, "File created successfully at: /memories/a.md")
	if got := b.text("memory/a.md"); got != "one\ntwo\nthree\n" {
		t.Errorf("%q", got)
	}
	b.says(object{"command": "create", "path": "/memories/a.md", "file_text": "x"}, "!File /memories/a.md already exists")
	b.says(object{"command": "create", "path": "/memories", "file_text": "x"}, "!File /memories already exists")
	b.says(object{"command": "view", "path": "/memories/a.md"}, "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n     3\tthree\n     4\t")
	b.says(object{"command": "view", "path": "/memories/a.md", "view_range": []int{2, 3}}, "Here's the content of /memories/a.md with line numbers:\n     2\ttwo\n     3\tthree")
	b.says(object{"command": "view", "path": "/memories/a.md", "view_range": []int{3, -1}}, "Here's the content of /memories/a.md with line numbers:\n     3\tthree\n     4\t")
	b.says(object{"command": "view", "path": "/memories/none.md"}, "!The path /memories/none.md does not exist. Please provide a valid path.")
	b.says(object{"command": "str_replace", "path": "/memories/a.md", "old_str": "two", "new_str": "2"},
		"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone\n     2\t2\n     3\tthree\n     4\t")
	b.says(object{"command": "str_replace", "path": "/memories/a.md", "old_str": "four", "new_str": "4"}, "!No replacement was performed, old_str `four` did not appear verbatim in /memories/a.md.")
	b.says(object{"command": "str_replace", "path": "/memories/none.md", "old_str": "a", "new_str": "b"}, "!The path /memories/none.md does not exist. Please provide a valid path.")
	b.says(object{"command": "str_replace", "path": "/memories", "old_str": "a", "new_str": "b"}, "!The path /memories is not a file.")
	b.says(object{"command": "str_replace", "path": "/memories/a.md", "old_str": "e\n", "new_str": "e "}, "!No replacement was performed. Multiple occurrences of old_str `e\n` in lines: 1, 3. Please ensure it is unique")
	b.says(object{"command": "str_replace", "path": "/memories/a.md", "old_str": "one\n2\n", "new_str": "one, two\n"},
		"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     1\tone, two\n     2\tthree\n     3\t")
	b.says(object{"command": "insert", "path": "/memories/a.md", "insert_line": 9, "insert_text": "x"}, "!Invalid `insert_line` parameter: 9. It should be within the range of lines of the file: [0, 3]")
	b.says(object{"command": "insert", "path": "/memories/a.md", "insert_line": -1, "insert_text": "x"}, "!Invalid `insert_line` parameter: -1. It should be within the range of lines of the file: [0, 3]")
	b.says(object{"command": "insert", "path": "/memories/a.md", "insert_line": 0, "insert_text": "# Numbers\n"}, "The file /memories/a.md has been edited.")
	b.says(object{"command": "insert", "path": "/memories/a.md", "insert_line": 3, "insert_text": "four"}, "The file /memories/a.md has been edited.")
	if got := b.text("memory/a.md"); got != "# Numbers\none, two\nthree\nfour\n" {
		t.Errorf("%q", got)
	}
	b.says(object{"command": "create", "path": "/memories/sub/deep/deeper/b.md", "file_text": strings.Repeat("0123456789abcde\n", 96)}, "File created successfully at: /memories/sub/deep/deeper/b.md")
	b.says(object{"command": "create", "path": "/memories/sub/c.md", "file_text": ""}, "File created successfully at: /memories/sub/c.md")
	b.says(object{"command": "create", "path": "/memories/sub", "file_text": "x"}, "!The file /memories/sub can't be created: memory keeps Markdown, so its name has to end in .md")
	b.says(object{"command": "create", "path": "/memories/MEMORY.md", "file_text": "# Memory\n"}, "File created successfully at: /memories/MEMORY.md")
	if got := b.text("MEMORY.md"); got != "# Memory\n" {
		t.Errorf("%q", got)
	}
	b.says(object{"command": "view", "path": "/memories"}, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n"+
		"1.5K\t/memories\n9B\t/memories/MEMORY.md\n30B\t/memories/a.md\n1.5K\t/memories/sub/\n0B\t/memories/sub/c.md\n1.5K\t/memories/sub/deep/")
	b.says(object{"command": "view", "path": "/memories/sub/"}, "Here're the files and directories up to 2 levels deep in /memories/sub/, excluding hidden items and node_modules:\n"+
		"1.5K\t/memories/sub\n0B\t/memories/sub/c.md\n1.5K\t/memories/sub/deep/\n1.5K\t/memories/sub/deep/deeper/")
	b.says(object{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/sub/c.md"}, "!The destination /memories/sub/c.md already exists")
	b.says(object{"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/d.md"}, "!The path /memories/none.md does not exist")
	b.says(object{"command": "rename", "old_path": "/memories", "new_path": "/memories/d.md"}, "!Cannot rename the /memories directory itself")
	b.says(object{"command": "rename", "old_path": "/memories/sub", "new_path": "/memories/sub/x"}, "!Cannot rename /memories/sub to /memories/sub/x, which is below it")
	b.says(object{"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/d.md"}, "Successfully renamed /memories/a.md to /memories/d.md")
	b.says(object{"command": "rename", "old_path": "/memories/sub", "new_path": "/memories/moved"}, "Successfully renamed /memories/sub to /memories/moved")
	if b.text("memory/a.md") != "" || b.text("memory/d.md") != "# Numbers\none, two\nthree\nfour\n" || len(b.text("memory/moved/deep/deeper/b.md")) != 16*96 {
		t.Error("what was renamed is not where it should be")
	}
	b.says(object{"command": "delete", "path": "/memories"}, "!Cannot delete the /memories directory itself")
	b.says(object{"command": "delete", "path": "/memories/a.md"}, "!The path /memories/a.md does not exist")
	b.says(object{"command": "delete", "path": "/memories/moved"}, "Successfully deleted /memories/moved")
	b.says(object{"command": "delete", "path": "/memories/d.md"}, "Successfully deleted /memories/d.md")
	b.says(object{"command": "view", "path": "/memories"}, "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:\n9B\t/memories\n9B\t/memories/MEMORY.md")
	// What was deleted comes back.
	if a := b.call(private, "memory_undo", object{}); a.Reason != "OK" || b.text("memory/d.md") == "" {
		t.Errorf("%+v", a)
	}
	if a := b.call(private, "memory_undo", object{}); a.Reason != "OK" || len(b.text("memory/moved/deep/deeper/b.md")) != 16*96 {
		t.Errorf("%+v", a)
	}
}

func TestMemoryToolBadInput(t *testing.T) {
	b := open(t, map[string]string{"memory/theirs.md": "A person's line.\n\nAnother one.\n"})
	for input, want := range map[string]string{
		`{}`:                          "Unknown command",
		`{"command":"explode"}`:       "give view, create",
		`[]`:                          "not that of the memory tool",
		`nonsense`:                    "not that of the memory tool",
		`{"command":"view"}`:          "view: `path` is missing.",
		`{"command":"view","path":7}`: "not that of the memory tool",
		`{"command":"view","path":"/memories/theirs.md","view_range":[1]}`:                     "Invalid `view_range`",
		`{"command":"view","path":"/memories/theirs.md","view_range":"x"}`:                     "not that of the memory tool",
		`{"command":"create","path":"/memories/x.md"}`:                                         "`file_text` is missing",
		`{"command":"create","path":"/memories/x.txt","file_text":"x"}`:                        "has to end in .md",
		`{"command":"create","path":"/memories/.md","file_text":"x"}`:                          "has to end in .md",
		`{"command":"create","path":"/memories/Theirs.md","file_text":"x"}`:                    "differs in the case of its letters alone",
		`{"command":"create","path":"/memories/theirs.md/x.md","file_text":"x"}`:               "not a regular file",
		`{"command":"create","path":"/memories/z.md","file_text":"a\u0000b"}`:                  "not text",
		`{"command":"str_replace","path":"/memories/theirs.md","old_str":"","new_str":"x"}`:    "old_str is empty",
		`{"command":"str_replace","path":"/memories/theirs.md","new_str":"x"}`:                 "`old_str` is missing",
		`{"command":"insert","path":"/memories/theirs.md","insert_line":1.5}`:                  "not that of the memory tool",
		`{"command":"insert","path":"/memories/theirs.md","insert_line":1}`:                    "`insert_text` is missing",
		`{"command":"rename","old_path":"/memories/theirs.md"}`:                                "`new_path` is missing",
		`{"command":"str_replace","path":"/memories/theirs.md","old_str":"line","new_str":""}`: "a person wrote this",
		`{"command":"insert","path":"/memories/theirs.md","insert_line":1,"insert_text":"x"}`:  "a person wrote this",
		`{"command":"delete","path":"/memories/theirs.md"}`:                                    "a person wrote this",
		`{"command":"rename","old_path":"/memories/theirs.md","new_path":"/memories/x.md"}`:    "a person wrote this",
	} {
		if got, isError := b.memory(private, input); !isError || !strings.Contains(got, want) {
			t.Errorf("%s: %q", input, got)
		}
	}
	if got := b.text("memory/theirs.md"); got != "A person's line.\n\nAnother one.\n" {
		t.Errorf("%q", got)
	}
	// What it adds beside a person's lines it may change.
	b.says(object{"command": "insert", "path": "/memories/theirs.md", "insert_line": 3, "insert_text": "\nThe agent's line."}, "The file /memories/theirs.md has been edited.")
	b.says(object{"command": "str_replace", "path": "/memories/theirs.md", "old_str": "agent's line", "new_str": "agent's word"},
		"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n     3\tAnother one.\n     4\t\n     5\tThe agent's word.\n     6\t")
}

// Whatever a path tries, nothing outside of memory is read, written, moved or taken away.
func TestMemoryToolPaths(t *testing.T) {
	b := open(t, map[string]string{"AGENTS.md": "rules\n", "SOUL.md": "soul\n", "memory/there.md": "there\n", "memory/.facts/x.md": "facts\n", "memory/.hidden/x.md": hostile.Outside,
		"memory/node_modules/x.md": hostile.Outside, "memory/notes.txt": hostile.Outside, "memory/SESSION-STATE.md": hostile.Outside, "memory/working-buffer.md": hostile.Outside, "src/code.md": hostile.Outside})
	hostile.Plant(t, b.dir)
	if err := os.Symlink("there.md", filepath.Join(b.dir, "memory/alias.md")); err != nil {
		t.Skip(err)
	}
	before := snapshot(t, filepath.Dir(b.dir))
	attacks := []string{
		"", "/", "memories", "/memoriesX", "/memoriesX/a.md", "/Memories/a.md", "/MEMORIES/a.md", "/memories\x00/a.md", "/memories/\x00", "/memories/a.md\x00.md",
		"/memories/..", "/memories/../AGENTS.md", "/memories/../SOUL.md", "/memories/../../outside.md", "/memories/sub/../../AGENTS.md", "/memories/./../AGENTS.md", "/memories//../AGENTS.md",
		"/memories/%2e%2e/AGENTS.md", "/memories/%2E%2E/AGENTS.md", "/memories/..%2fAGENTS.md", "/memories/%2e%2e%2fAGENTS.md", "/memories/%252e%252e/AGENTS.md", "/memories/%252e%252e%252fAGENTS.md", "/memories/a%00.md", "/memories/%5c..%5cAGENTS.md",
		`/memories/..\AGENTS.md`, `/memories\..\AGENTS.md`, `/memories/sub\..\..\AGENTS.md`, `C:\memories\a.md`, "file:///memories/a.md", "~/memories/a.md", "./memories/a.md", "../memories/a.md", "//memories/a.md", " /memories/a.md",
		"/memories/.facts/x.md", "/memories/.hidden/x.md", "/memories/.memkernel/x.md", "/memories/node_modules/x.md", "/memories/notes.txt", "/memories/SESSION-STATE.md", "/memories/working-buffer.md",
		"/memories/link.md", "/memories/up.md", "/memories/folder/outside.md", "/memories/folder/x.md", "/memories/hidden.md", "/memories/source.md", "/memories/chain.md", "/memories/src/source.md", "/memories/loop.md", "/memories/dead.md", "/memories/device.md", "/memories/alias.md",
		"/memories/Memory.md", "/memories/MEMORY.MD", "/memories/mEmOrY.md", "/memories/MEMORY.md/x.md", "/memories/There.md", "/memories/there.md/../../AGENTS.md", "/memories/there.md/x.md",
		"/etc/passwd", "/memories/../../../../../../etc/passwd", "/memories/2020-01-01.md", "/memories/" + strings.Repeat("a", 300) + ".md",
	}
	for _, p := range hostile.Paths() {
		attacks = append(attacks, p)
		if strings.Contains(p, "..") || strings.ContainsAny(p, "\\\x00") {
			attacks = append(attacks, "/memories/"+p)
		}
	}
	for _, name := range hostile.Names() {
		if utf8.ValidString(name) { // no JSON holds another one
			attacks = append(attacks, "/memories/"+name)
		}
	}
	o := tools.Options{Private: true}
	for _, p := range attacks {
		for _, in := range []object{
			{"command": "create", "path": p, "file_text": "planted"},
			{"command": "str_replace", "path": p, "old_str": "outside", "new_str": "x"},
			{"command": "insert", "path": p, "insert_line": 0, "insert_text": "planted"},
			{"command": "delete", "path": p},
			{"command": "rename", "old_path": p, "new_path": "/memories/got.md"},
			{"command": "rename", "old_path": "/memories/there.md", "new_path": p},
		} {
			if got, isError := b.memory(o, in); !isError || strings.Contains(got, hostile.Outside) {
				t.Errorf("%q: %q", in, got)
			}
		}
		if got, isError := b.memory(o, object{"command": "view", "path": p}); strings.Contains(got, hostile.Outside) || !isError && p != "/memories/alias.md" {
			t.Errorf("view %q: %q", p, got)
		}
	}
	if len(attacks) < 60 {
		t.Errorf("%d attacks", len(attacks))
	}
	after := snapshot(t, filepath.Dir(b.dir))
	for p, text := range before {
		if after[p] != text {
			t.Errorf("%s: %q became %q", p, text, after[p])
		}
	}
	for p, text := range after {
		if _, ok := before[p]; !ok {
			t.Errorf("%s was made: %q", p, text)
		}
	}
	// Unusual names are names.
	for _, name := range hostile.Plausible() {
		b.says(object{"command": "create", "path": "/memories/" + name, "file_text": "x"}, "File created successfully at: /memories/"+name)
	}
}

// snapshot are the regular files below a folder, but for the program's state.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".memkernel":
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		raw, err := os.ReadFile(p)
		out[p] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestMemoryToolShared(t *testing.T) {
	b := open(t, map[string]string{"MEMORY.md": "# Mine\n", "USER.md": "me\n", "memory/a.md": "ours\n"})
	if got, _ := b.memory(tools.Options{}, object{"command": "view", "path": "/memories"}); strings.Contains(got, "MEMORY.md") || strings.Contains(got, "USER") || !strings.Contains(got, "/memories/a.md") {
		t.Error(got)
	}
	for _, in := range []object{{"command": "view", "path": "/memories/MEMORY.md"}, {"command": "create", "path": "/memories/MEMORY.md", "file_text": "x"}, {"command": "delete", "path": "/memories/MEMORY.md"},
		{"command": "insert", "path": "/memories/MEMORY.md", "insert_line": 0, "insert_text": "x"}, {"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/MEMORY.md"}} {
		if got, isError := b.memory(tools.Options{}, in); !isError || strings.Contains(got, "Mine") {
			t.Errorf("%v: %q", in, got)
		}
	}
	read := tools.Options{Private: true, ReadOnly: true}
	if got, isError := b.memory(read, object{"command": "view", "path": "/memories/MEMORY.md"}); isError || !strings.Contains(got, "Mine") {
		t.Error(got)
	}
	for _, o := range []tools.Options{read, {Private: true, Disabled: "for a while"}} {
		if got, isError := b.memory(o, object{"command": "create", "path": "/memories/n.md", "file_text": "x"}); !isError {
			t.Error(got)
		}
	}
}

func TestMemoryToolSecrets(t *testing.T) {
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	b := open(t, map[string]string{"memory/key.md": "The key is " + secret + " now.\nMore.\n"})
	for _, in := range []object{{"command": "view", "path": "/memories/key.md"}, {"command": "str_replace", "path": "/memories/key.md", "old_str": "More", "new_str": "Less"},
		{"command": "delete", "path": "/memories/key.md"}, {"command": "rename", "old_path": "/memories/key.md", "new_path": "/memories/k.md"}} {
		got, isError := b.memory(private, in)
		if strings.Contains(got, secret) || isError != (in["command"] != "view") {
			t.Errorf("%v: %q", in, got)
		}
	}
	b.says(object{"command": "create", "path": "/memories/own.md", "file_text": "one\n"}, "File created successfully at: /memories/own.md")
	if got, isError := b.memory(private, object{"command": "str_replace", "path": "/memories/own.md", "old_str": "one", "new_str": "it is " + secret}); isError || strings.Contains(got, secret) || strings.Contains(b.text("memory/own.md"), secret) {
		t.Error(got, b.text("memory/own.md"))
	}
}

// Many agents who insert at once lose no line.
func TestMemoryToolRaces(t *testing.T) {
	b := open(t, nil)
	b.says(object{"command": "create", "path": "/memories/log.md", "file_text": "# Log of the agents\n"}, "File created successfully at: /memories/log.md")
	done := make([]int, 4)
	var wg sync.WaitGroup
	for w := range done {
		wg.Go(func() {
			for i := range 5 {
				for {
					got, isError := b.memory(tools.Options{Private: true, SessionKey: fmt.Sprint("w", w)}, object{"command": "insert", "path": "/memories/log.md", "insert_line": 1, "insert_text": fmt.Sprintf("- line %d of writer %d", i, w)})
					if !isError {
						done[w]++
						break
					}
					if !strings.Contains(got, "not the version that was read") && !strings.Contains(got, "meanwhile") {
						t.Error(got)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	text := b.text("memory/log.md")
	for w := range done {
		for i := range 5 {
			if strings.Count(text, fmt.Sprintf("- line %d of writer %d\n", i, w)) != 1 {
				t.Errorf("line %d of writer %d in\n%s", i, w, text)
			}
		}
	}
}

func TestMemoryToolForgotten(t *testing.T) {
	b := open(t, nil)
	const word = "Hammerfest-9921"
	b.says(object{"command": "create", "path": "/memories/a.md", "file_text": "The ledger of " + word + " is open.\n"}, "File created successfully at: /memories/a.md")
	b.says(object{"command": "delete", "path": "/memories/a.md"}, "Successfully deleted /memories/a.md")
	if _, err := b.k.Forget(context.Background(), api.ForgetRequest{SessionKey: api.DefaultSession, Session: true, Apply: true}); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(b.dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(p)
		if strings.Contains(string(raw), word) {
			t.Errorf("it is in %s", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEditTools(t *testing.T) {
	b := open(t, map[string]string{"memory/theirs.md": "A person's line.\n"})
	if a := b.call(private, "memory_append", object{"text": "The port is 8443.", "path": "memory/ports.md"}); a.Reason != "OK" {
		t.Fatalf("%+v", a)
	}
	got := b.call(private, "memory_get", object{"path": "memory/ports.md"})
	if len(got.Version) != 64 {
		t.Fatalf("%+v", got)
	}
	a := b.call(private, "memory_update", object{"path": "memory/ports.md", "version": got.Version, "from": 1, "text": "The port is 9443."})
	if a.Reason != "OK" || a.Edit == "" || a.StartLine != 1 || a.Version == got.Version || !strings.HasPrefix(b.text("memory/ports.md"), "The port is 9443.\n<!-- mk:") {
		t.Errorf("%+v %q", a, b.text("memory/ports.md"))
	}
	c := b.call(private, "memory_update", object{"path": "memory/ports.md", "version": got.Version, "from": 1, "text": "The port is 7."})
	if c.Reason != "CONFLICT" || c.Current == nil || !strings.HasPrefix(c.Current.Text, "The port is 9443.") || c.Current.Version != a.Version || c.Current.From != 1 {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]struct {
		args object
		tool string
	}{
		"PERSON":   {object{"path": "memory/theirs.md", "old": "A person's line."}, "memory_delete"},
		"DENIED":   {object{"path": "../x.md", "old": "x", "text": "y"}, "memory_update"},
		"REFUSED":  {object{"path": "memory/ports.md", "text": "y"}, "memory_update"},
		"CONFLICT": {object{"path": "memory/none.md", "old": "x"}, "memory_delete"},
	} {
		if a := b.call(private, want.tool, want.args); a.Reason != name || a.Detail == "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	if a := b.call(tools.Options{Private: true, SessionKey: "other"}, "memory_undo", object{}); a.Reason != "REFUSED" {
		t.Errorf("%+v", a)
	}
	if a := b.call(private, "memory_delete", object{"path": "memory/ports.md", "old": "The port is 9443."}); a.Reason != "OK" || a.Version != "" || b.text("memory/ports.md") != "" {
		t.Errorf("%+v", a)
	}
	for _, want := range []string{"The port is 9443.", "The port is 8443."} {
		if a := b.call(private, "memory_undo", object{}); a.Reason != "OK" || !strings.HasPrefix(b.text("memory/ports.md"), want) {
			t.Errorf("%+v %q", a, b.text("memory/ports.md"))
		}
	}
	names := func(o tools.Options, rule api.EditRule) string {
		k, err := kernel.Open(context.Background(), b.dir, &kernel.Options{Memory: kernel.MemoryOptions{Edits: rule}})
		if err != nil {
			t.Fatal(err)
		}
		defer k.Close()
		s, err := tools.New(k, o)
		if err != nil {
			t.Fatal(err)
		}
		list, err := s.Tools("mcp", true)
		if err != nil {
			t.Fatal(err)
		}
		return string(list)
	}
	if got := names(private, api.EditNone); strings.Contains(got, `"memory_update"`) || !strings.Contains(got, `"memory_append"`) {
		t.Error(got)
	}
	if got := names(tools.Options{ReadOnly: true}, api.EditOwn); strings.Contains(got, `"memory_update"`) || strings.Contains(got, `"memory_append"`) {
		t.Error(got)
	}
}
