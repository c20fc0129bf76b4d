package install

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
)

// The extensions for hosts have the same entries that init writes into a project. In addition,
// their hooks have the flag that makes them do nothing where init was never run.
func TestExtensionsAreWhatInitWrites(t *testing.T) {
	dir := t.TempDir()
	in := &Installer{
		Site: &Site{Workspace: dir, Program: "memkernel", Shell: "memkernel", Getenv: func(string) string { return "" },
			LookPath: func(string) (string, error) { return "", os.ErrNotExist }},
		State: store.Files(filepath.Join(dir, ".memkernel")),
	}
	release, err := in.Lock(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	changes, err := in.Put([]string{"claude", "codex", "gemini"}, true)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		if c.Error != "" || !c.Done {
			t.Errorf("%+v", c)
		}
	}
	for ours, its := range map[string]string{
		"claude-code/hooks/hooks.json": ".claude/settings.json", "claude-code/.mcp.json": ".mcp.json",
		"codex/hooks.json": ".codex/hooks.json", "codex/config.toml": ".codex/config.toml",
	} {
		a, errA := os.ReadFile(filepath.Join("../../integrations", ours))
		b, errB := os.ReadFile(filepath.Join(dir, its))
		if strings.HasSuffix(ours, "hooks.json") {
			if n := bytes.Count(a, []byte(" hook --extension --host ")); n != bytes.Count(b, []byte(" hook --host ")) {
				t.Errorf("integrations/%s: %d hooks are held back", ours, n)
			}
			a = bytes.ReplaceAll(a, []byte(" --extension"), nil)
		}
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("integrations/%s is not what init writes to %s: %v %v\n%s\n%s", ours, its, errA, errB, a, b)
		}
	}
	var settings, own, extension map[string]any
	for path, into := range map[string]*map[string]any{
		filepath.Join(dir, ".gemini/settings.json"):                      &settings,
		filepath.Join("../../integrations/gemini/hooks/hooks.json"):      &own,
		filepath.Join("../../integrations/gemini/gemini-extension.json"): &extension,
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	got, want := fmt.Sprint(own["hooks"], extension["mcpServers"]), fmt.Sprint(settings["hooks"], settings["mcpServers"])
	if strings.ReplaceAll(got, " --extension", "") != want || strings.Count(got, " hook --extension ") != strings.Count(want, " hook ") {
		t.Errorf("the extension of Gemini CLI is\n%s\nwant\n%s", got, want)
	}
}

// A program that npx or pipx has in its cache is there today: one that stays takes its
// place in the entries of servers, and never the other way round.
func TestProgramInACache(t *testing.T) {
	for path, want := range map[string]bool{
		"/home/a/.npm/_npx/0f1e/node_modules/@memkernel/linux-x64/bin/memkernel": true,
		"/home/a/.cache/uv/archive-v0/x/bin/memkernel":                           true,
		"/home/a/.local/share/pipx/.cache/8c2/bin/memkernel":                     true,
		"/Users/a/Library/Caches/pipx/8c2/bin/memkernel":                         true,
		"/usr/lib/node_modules/@memkernel/linux-x64/bin/memkernel":               false,
		"/home/a/cached/memkernel":                                               false,
		"memkernel":                                                              false,
	} {
		if got := InCache(path); got != want {
			t.Errorf("%s is in a cache: %v", path, got)
		}
	}
	dir := t.TempDir()
	const cached, good = "/home/a/.cache/x/memkernel", "/usr/bin/memkernel"
	put := func(program string) {
		t.Helper()
		in := &Installer{
			Site: &Site{Workspace: dir, Program: program, Shell: program, Getenv: func(string) string { return "" },
				LookPath: func(name string) (string, error) { return name, nil }},
			State: store.Files(filepath.Join(dir, ".memkernel")),
		}
		changes, err := in.Put([]string{"claude", "codex", "gemini"}, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			if c.Error != "" {
				t.Errorf("%+v", c)
			}
		}
	}
	for _, step := range []struct{ program, want string }{{cached, cached}, {good, good}, {cached, good}} {
		put(step.program)
		for _, name := range []string{".mcp.json", ".codex/config.toml", ".gemini/settings.json"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil || !bytes.Contains(text, []byte(`"`+step.want+`"`)) {
				t.Errorf("after an init by %s, %s is not called in %s: %v\n%s", step.program, step.want, name, err, text)
			}
		}
	}
}
