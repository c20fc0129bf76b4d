package hook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// memoryFiles is the memory of the golden conversations.
var memoryFiles = map[string]string{
	"MEMORY.md":         "# Memory\n\nThe deploy window is Tuesday at nine, never on Fridays.\n",
	"memory/deploys.md": "# Deploys\n\nThe ledger is deployed by Kim with make ship.\n",
}

// step is one event of a recorded conversation and how many lines its transcript had
// by then.
type step struct {
	Lines int             `json:"lines"`
	Event json.RawMessage `json:"event"`
}

// TestConversations plays each host's conversation and holds every answer, byte for
// byte. Claude Code's was recorded with version 2.1.329: two turns, /compact, a third.
func TestConversations(t *testing.T) {
	turns := map[Host]int{claude: 3, codex: 2, gemini: 2}
	for _, h := range allHosts() {
		t.Run(string(h), func(t *testing.T) {
			p := newProject(t, memoryFiles)
			got := play(t, p, h)
			golden := filepath.Join("testdata", string(h), "answers.golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("answers differ from %s; if they should, run go test -update (-want +got):\n%s", golden, diff)
			}
			key := map[Host]string{claude: "claude:decce692-7c43-4ce5-8efa-2aaa39b8a924", codex: "codex:cx-1", gemini: "gemini:gm-1"}[h]
			if n := p.turns(key); n != turns[h] {
				t.Errorf("%d turns committed, want %d", n, turns[h])
			}
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// play runs the events of a host's conversation, its transcript growing beside it.
func play(t *testing.T, p *project, h Host) string {
	t.Helper()
	read := func(name string) [][]byte {
		data, err := os.ReadFile(filepath.Join("testdata", string(h), name))
		if err != nil {
			t.Fatal(err)
		}
		return bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	}
	records := read("transcript.jsonl")
	transcript := filepath.Join(t.TempDir(), "transcript.jsonl")
	var out strings.Builder
	for _, line := range read("events.jsonl") {
		var s step
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		if s.Lines > 0 {
			data := append(bytes.TrimSuffix(bytes.Join(records[:s.Lines], nil), []byte("\n")), '\n')
			if err := os.WriteFile(transcript, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		in := strings.NewReplacer("$TRANSCRIPT", transcript, "$PROJECT", p.dir).Replace(string(s.Event))
		var e event
		if err := json.Unmarshal(s.Event, &e); err != nil {
			t.Fatal(err)
		}
		answer := p.raw(h, in)
		checkAnswer(t, h, &e, answer)
		answer = strings.ReplaceAll(answer, transcript, "$TRANSCRIPT")
		fmt.Fprintf(&out, "== %s %s\n%s\n", e.Name, e.Source+e.Trigger, strings.TrimSuffix(answer, "\n"))
	}
	return out.String()
}

// checkAnswer holds an answer to what the host's schema allows at the event.
func checkAnswer(t *testing.T, h Host, e *event, out string) {
	t.Helper()
	if h == claude && (out == "" || e.Name == "PreCompact" && !strings.HasPrefix(out, "{")) {
		return
	}
	var doc map[string]map[string]string
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatalf("%s %s: %v: %q", h, e.Name, err, out)
	}
	at := h.row().moments[e.Name]
	for name := range doc {
		if name != "hookSpecificOutput" || at != sessionStart && at != userPrompt {
			t.Errorf("%s %s: member %s is not allowed", h, e.Name, name)
		}
	}
	for name, text := range doc["hookSpecificOutput"] {
		if name != "hookEventName" && name != "additionalContext" || name == "hookEventName" && text != e.Name {
			t.Errorf("%s %s: member %s %q is not allowed", h, e.Name, name, text)
		}
	}
}

// allHosts lists all hosts.
func allHosts() (out []Host) {
	for i := range hosts {
		out = append(out, hosts[i].name)
	}
	return out
}
