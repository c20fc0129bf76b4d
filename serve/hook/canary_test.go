package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/hostile"
	"github.com/memkernel/memkernel/internal/suite"
)

// TestHooksWriteNoSecret: a transcript full of secrets, prompts with them, and a
// failure that quotes them leave none in the folder of the state or the workspace.
func TestHooksWriteNoSecret(t *testing.T) {
	texts := suite.Some(hostile.Texts(hostile.SecretKinds, 21), 60)
	p := newProject(t, memoryFiles)
	var lines strings.Builder
	parent := "null"
	put := func(role string, content any) {
		id := fmt.Sprintf("m%d", strings.Count(lines.String(), "\n"))
		raw, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, `{"parentUuid":%s,"uuid":%q,"type":%q,"sessionId":"s1","cwd":%q,"timestamp":"2026-11-20T08:00:00Z","message":{"id":%q,"role":%q,"model":"claude-opus-4-5","content":%s}}`+"\n", parent, id, role, p.dir, id, role, raw)
		parent = fmt.Sprintf("%q", id)
	}
	for some := range slices.Chunk(texts, 30) { // a turn for so many
		var calls, results []any
		for i, c := range some {
			id := fmt.Sprint("toolu_", lines.Len(), "_", i)
			calls = append(calls, map[string]any{"type": "tool_use", "id": id, "name": "Bash", "input": map[string]string{"command": c.Text}})
			results = append(results, map[string]any{"type": "tool_result", "tool_use_id": id, "content": c.Text})
		}
		put("user", some[0].Text)
		put("assistant", calls)
		put("user", results)
		put("assistant", []any{map[string]any{"type": "text", "text": some[len(some)-1].Text}})
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	if err := os.WriteFile(path, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	p.hook(claude, map[string]any{"hook_event_name": "SessionStart", "source": "startup", "transcript_path": path})
	for i := 0; i < len(texts); i += 100 {
		p.hook(claude, map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": texts[i].Text, "transcript_path": path})
	}
	for _, event := range []string{"Stop", "PreCompact", "SessionEnd"} {
		p.hook(claude, map[string]any{"hook_event_name": event, "trigger": "auto", "reason": "exit", "transcript_path": path})
	}
	if p.turns(claude.Key("s1")) == 0 {
		t.Error("no turn was observed")
	}
	for _, c := range texts {
		if err := logLine(p.state, now, errors.New("open it: "+c.Text).Error()); err != nil {
			t.Fatal(err)
		}
	}
	err := filepath.WalkDir(p.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		for _, c := range texts {
			for _, s := range c.Secrets {
				if i := strings.Index(string(b), s); len(s) >= 8 && i >= 0 {
					t.Errorf("%s holds a secret, %s: …%q", path, c.Kind, b[max(0, i-80):i+len(s)])
				}
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
