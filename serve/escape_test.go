package serve

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/hostile"
)

// TestNoWayOut: what is not memory is neither read nor written through a call, by
// whatever path, and private memory not by one that doesn't say that it is private.
func TestNoWayOut(t *testing.T) {
	ws := shortDir(t)
	const secret = "outside-7c1f4e"
	outside := filepath.Join(shortDir(t), "outside.md")
	for path, text := range map[string]string{outside: secret, filepath.Join(ws, "AGENTS.md"): secret, filepath.Join(ws, "MEMORY.md"): secret, filepath.Join(ws, "memory", "a.md"): "inside"} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link.md": outside} {
		if err := os.Symlink(to, filepath.Join(ws, "memory", name)); err != nil {
			t.Skip("links can't be made here")
		}
	}
	started(t, daemon(ws))
	c := connect(t, ws)
	paths := []string{"", ".", "..", "/", "/etc/passwd", outside, "../outside.md", "memory/../../outside.md", "memory/../AGENTS.md", "AGENTS.md", "MEMORY.md", "USER.md",
		"memory/link.md", `memory\..\..\outside.md`, "memory/x.md\x00", ".memkernel/serve.json", ".memkernel/serve.sock", "file:///etc/passwd", "~/outside.md", "%2e%2e/outside.md"}
	for _, name := range hostile.Names() {
		for _, path := range []string{"memory/" + name, "memory/" + name + "/x.md", "sessions/main/" + name} {
			raw, err := json.Marshal(path)
			if err != nil || !utf8.ValidString(path) {
				continue
			}
			for method, more := range map[string]string{"read": "", "remember": `,"text":"planted"`} {
				r := c.call(method, fmt.Sprintf(`{"path":%s%s}`, raw, more))
				if r.Error == nil && (method != "read" || r.Result["text"] != "") || r.Error != nil && r.Error.Code == codes["INVALID_PARAMS"] {
					t.Errorf("%s %s: %+v", method, raw, r)
				}
			}
			for tool, more := range map[string]string{"memory_update": `,"text":"planted"`, "memory_delete": ""} {
				r := c.call("tools.call", fmt.Sprintf(`{"name":%q,"arguments":{"old":"inside","path":%s%s}}`, tool, raw, more))
				if r.Error == nil && r.Result["content"].(map[string]any)["reason"] == "OK" || r.Error != nil && r.Error.Code == codes["INVALID_PARAMS"] {
					t.Errorf("%s %s: %+v", tool, raw, r)
				}
			}
		}
	}
	for _, path := range paths {
		r := c.call("read", fmt.Sprintf(`{"path":%q}`, strings.ReplaceAll(path, "\x00", "0")))
		if r.Error == nil && r.Result["text"] != "" {
			t.Errorf("read %q: %v", path, r.Result)
		}
		if path == "" {
			continue // the day's log
		}
		r = c.call("remember", fmt.Sprintf(`{"session_key":"s","text":"planted","path":%q}`, strings.ReplaceAll(path, "\x00", ".txt")))
		if r.Error == nil {
			t.Errorf("remember in %q: %v", path, r.Result)
		}
		for tool, more := range map[string]string{"memory_update": `,"text":"planted"`, "memory_delete": ""} {
			if r = c.call("tools.call", fmt.Sprintf(`{"session_key":"s","name":%q,"arguments":{"old":%q,"path":%q%s}}`, tool, secret, strings.ReplaceAll(path, "\x00", ".txt"), more)); r.Error == nil && r.Result["content"].(map[string]any)["reason"] == "OK" {
				t.Errorf("%s of %q: %v", tool, path, r.Result)
			}
		}
	}
	for path, want := range map[string]string{outside: secret, filepath.Join(ws, "AGENTS.md"): secret, filepath.Join(ws, "MEMORY.md"): secret} {
		if data, err := os.ReadFile(path); err != nil || strings.TrimSpace(string(data)) != want {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	for _, dir := range []string{ws, filepath.Dir(outside)} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !slices.Contains([]string{"AGENTS.md", "MEMORY.md", "memory", ".memkernel", "outside.md"}, e.Name()) {
				t.Errorf("%s was made", filepath.Join(dir, e.Name()))
			}
		}
	}
	if r := c.call("read", `{"path":"MEMORY.md","private":true}`); r.Error != nil || !strings.Contains(fmt.Sprint(r.Result["text"]), secret) {
		t.Errorf("a private session can't read its memory: %+v", r)
	}
	// The session's key names a folder of the state directory, never one above it.
	if r := c.call("observe_turn", turn("../../../escaped", 1)); r.Result["outcome"] != "committed" {
		t.Errorf("got %+v", r)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(ws), "escaped*")); len(left) > 0 {
		t.Errorf("made %v", left)
	}
}
