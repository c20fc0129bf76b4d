package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sayIn writes a transcript of a folder with a prompt and an answer.
func sayIn(t *testing.T, path, cwd, prompt, answer string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := fmt.Sprintf(`{"type":"user","uuid":"u","cwd":%q,"sessionId":"s","timestamp":"2026-11-03T09:00:00Z","message":{"role":"user","content":%q}}
{"type":"assistant","uuid":"a","parentUuid":"u","cwd":%q,"sessionId":"s","timestamp":"2026-11-03T09:00:05Z","message":{"id":"m","role":"assistant","model":"claude-sonnet-4-6","content":[{"type":"text","text":%q}]}}
`, cwd, prompt, cwd, answer)
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Words are found in what was said, not in first prompts alone: with the place, masked, and, if no
// session of the folder has them, in those of others.
func TestFind(t *testing.T) {
	here, homes := t.TempDir(), t.TempDir()
	mine, theirs := filepath.Join(here, "mine.jsonl"), filepath.Join(homes, "projects", "-quay", "theirs.jsonl")
	sayIn(t, mine, "/harbour", "What is new?", "The crane at berth nine is broken. The key is "+token+".")
	sayIn(t, theirs, "/quay", "And the tide?", "High water is at noon, said “Ödön”.")
	o := openWindow(t, Options{Transcripts: files(sample, mine), Elsewhere: files(homes, here)})
	o.enter(t)
	d := get[findJSON](t, o, "/api/find?q=CRANE+broken")
	if len(d.Found) != 1 || len(d.Elsewhere) != 0 || d.Found[0].Item != 2 || d.Found[0].Kind != "answer" || !strings.HasPrefix(d.Found[0].Text, "The crane") || strings.Contains(d.Found[0].Text, token) {
		t.Errorf("%+v", d)
	}
	if talk := get[talkJSON](t, o, fmt.Sprintf("/api/talk?limit=1&from=%d&session=%s", d.Found[0].Item, d.Found[0].Session)); !strings.Contains(talk.Items[0].Text, "crane") {
		t.Errorf("the place is %+v", talk.Items)
	}
	if d := get[findJSON](t, o, "/api/find?q=waitlist+offers"); len(d.Found) != 1 || d.Found[0].Prompt == "" {
		t.Errorf("the sample: %+v", d)
	}
	for _, q := range []string{"tide", "%C3%B6d%C3%B6n+noon"} {
		d = get[findJSON](t, o, "/api/find?q="+q)
		if len(d.Found) != 0 || len(d.Elsewhere) != 1 || d.Elsewhere[0].Folder != "/quay" || d.Elsewhere[0].Prompt != "And the tide?" || d.Elsewhere[0].Session != "" {
			t.Errorf("%s: %+v", q, d)
		}
	}
	if d := get[findJSON](t, o, "/api/find?q=zeppelin"); len(d.Found)+len(d.Elsewhere) != 0 {
		t.Errorf("%+v", d)
	}
}
