package hook

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// TestRecorded reads what Claude Code 2.1.330, Codex 0.169.0 and Gemini CLI 0.61.0 wrote of a
// session of three turns, each in a process of its own, with our hooks and tools, on a model
// server of ours (make e2e records it): what the person typed is that and no more, each
// call has its result once, that of a tool which the host searched for too, and each turn is
// committed once, however often the end of a turn is told.
func TestRecorded(t *testing.T) {
	ends := map[Host]string{claude: "Stop", codex: "Stop", gemini: "AfterAgent"}
	want := []string{"mark-000 read the next 8 parts of the report", "mark-001 who deploys the harbour?", "mark-002 read the next 8 parts of the report"}
	for _, h := range allHosts() {
		t.Run(string(h), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", string(h), "recorded.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "session.jsonl")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			n, err := readNews(h, path, seam{})
			if err != nil {
				t.Fatal(err)
			}
			var typed, open []string
			called, results := map[string]bool{}, ""
			all := n.all
			if all == nil {
				all = n.msgs
			}
			for _, m := range all {
				if own, _ := transcript.Typed(m); own != "" {
					typed = append(typed, own)
				}
				for _, p := range m.Parts {
					switch {
					case p.Call != nil:
						if called[p.Call.ID] {
							t.Errorf("call %s stands twice", p.Call.ID)
						}
						called[p.Call.ID] = true
						open = append(open, p.Call.ID)
					case p.Result != nil:
						at := slices.Index(open, p.Result.CallID)
						if at < 0 {
							t.Errorf("a result of %s, which waits for none", p.Result.CallID)
							continue
						}
						open = slices.Delete(open, at, at+1)
						results += textIn(p.Result.Content)
					}
				}
			}
			if d := cmp.Diff(want, typed); d != "" {
				t.Errorf("typed (-want +got): %s", d)
			}
			if len(open) > 0 || len(called) < 3 {
				t.Errorf("%d calls, without a result: %v", len(called), open)
			}
			for _, words := range []string{"row 3 of part 0-0", "row 3 of part 2-0", "Kim deploys the harbour on Tuesdays"} {
				if c := strings.Count(results, words); c != 1 {
					t.Errorf("results hold %q %d times", words, c)
				}
			}
			p := newProject(t, nil)
			for range 3 {
				p.hook(h, map[string]any{"hook_event_name": ends[h], "transcript_path": path, "session_id": "s"})
			}
			keys, err := filepath.Glob(filepath.Join(p.dir, ".memkernel", "sessions", "*"))
			if err != nil || len(keys) != 1 {
				t.Fatalf("sessions: %v, %v", keys, err)
			}
			if turns := p.turns(string(h) + ":" + recordedSession(t, h, keys[0])); turns != 3 {
				t.Errorf("%d turns, want 3", turns)
			}
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

// recordedSession is the id in the name of a session's folder.
func recordedSession(t *testing.T, h Host, dir string) string {
	t.Helper()
	name := strings.TrimPrefix(filepath.Base(dir), string(h)+"_")
	at := strings.LastIndexByte(name, '-')
	if at < 0 {
		t.Fatalf("a session's folder is called %s", dir)
	}
	return name[:at]
}

func textIn(parts []memkernel.Part) (out string) {
	for _, p := range parts {
		out += p.Text
	}
	return out
}
