package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func lay(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestFind: a host is found by its folder, its program or its files in the project, its
// sessions of this folder are counted and no other's, and what a home holds otherwise, or
// none, does no harm.
func TestFind(t *testing.T) {
	in := site(t, t.TempDir(), "codex")
	in.Workspace = filepath.Join(filepath.Dir(in.Workspace), "Prüf stand_1.0")
	if err := os.MkdirAll(in.Workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	codexLine := func(dir string) string {
		line, err := json.Marshal(map[string]any{"type": "session_meta", "payload": map[string]any{"cwd": dir, "instructions": strings.Repeat("x", 5000)}})
		if err != nil {
			t.Fatal(err)
		}
		return string(line) + "\n{}\n"
	}
	flat := strings.NewReplacer("/", "-", "ü", "-", " ", "-", "_", "-", ".", "-").Replace(in.Workspace)
	sum := sha256.Sum256([]byte(in.Workspace))
	for name, text := range map[string]string{
		".claude/projects/" + flat + "/a.jsonl":                                                 "{}",
		".claude/projects/" + flat + "/b.jsonl":                                                 "{}",
		".claude/projects/" + flat + "/b/sub.jsonl":                                             "{}",
		".claude/projects/" + flat + "-other/c.jsonl":                                           "{}",
		".codex/sessions/2026/11/22/rollout-1.jsonl":                                            codexLine(in.Workspace),
		".codex/sessions/2026/11/21/rollout-2.jsonl":                                            codexLine(in.Workspace + "/sub"),
		".codex/sessions/2026/11/21/rollout-3.jsonl":                                            "not json",
		".codex/archived_sessions/rollout-4.jsonl":                                              codexLine(in.Workspace + "/"),
		".gemini/tmp/" + hex.EncodeToString(sum[:]) + "/chats/session-1.json":                   "{}",
		".gemini/tmp/slug/.project_root":                                                        in.Workspace + "\n",
		".gemini/tmp/slug/chats/session-2.jsonl":                                                "{}",
		".gemini/tmp/other/chats/session-3.json":                                                "{}",
		".pi/agent/sessions/--" + strings.ReplaceAll(in.Workspace[1:], "/", "-") + "--/x.jsonl": "{}",
		".copilot/session-state/a/events.jsonl":                                                 `{"type":"session.start","data":{"context":{"cwd":"` + in.Workspace + `"}}}`,
		".copilot/session-state/b/events.jsonl":                                                 `{"type":"session.start","data":{"context":{"cwd":"/elsewhere"}}}`,
	} {
		lay(t, filepath.Join(in.Home, filepath.FromSlash(name)), text)
	}
	lay(t, filepath.Join(in.Workspace, "opencode.jsonc"), "{}")
	found, err := in.Find(nil)
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, h := range found {
		n := "?"
		if h.Sessions != nil {
			n = fmt.Sprint(*h.Sessions)
		}
		got += fmt.Sprintf("%s %s %s\n", h.Name, n, strings.Join(h.FoundBy, ", "))
	}
	want := "claude 2 ~/.claude\ncodex 2 ~/.codex, codex on the PATH\ngemini 2 ~/.gemini\nopencode ? opencode.jsonc\npi 1 ~/.pi\ncopilot 1 ~/.copilot\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	in.Home = ""
	if found, err = in.Find(nil); err != nil || len(found) != 2 || found[0].Sessions != nil {
		t.Errorf("without a home: %v, %+v", err, found)
	}
	in.Getenv = func(name string) string {
		if name == "CLAUDE_CONFIG_DIR" {
			return filepath.Join(filepath.Dir(in.Workspace), "home", ".claude")
		}
		return ""
	}
	if found, err = in.Find(nil); err != nil || len(found) != 3 || found[0].Name != "claude" {
		t.Errorf("by the environment: %v, %+v", err, found)
	}
	if _, err := in.Find([]string{"claude", "clade"}); err == nil || !strings.Contains(err.Error(), strings.Join(Names(), ", ")) {
		t.Errorf("%v", err)
	}
}
