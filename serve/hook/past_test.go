package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// TestTakeIn: a past session is read in once under the key of its hooks, what it has grown by
// is read the next time, and what a killed process had committed is recognised.
func TestTakeIn(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	state := filepath.Join(dir, ".memkernel")
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state, Life: kernel.LifeOptions{Off: true, NoFlush: true}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	var text []byte
	parent := any(nil)
	say := func(id, role string) {
		m := map[string]any{"role": role, "content": "remember that the harbour closes: " + id}
		if role == "assistant" {
			m = map[string]any{"id": id, "type": "message", "model": "m", "role": role, "content": []any{map[string]any{"type": "text", "text": "yes " + id}}, "stop_reason": "end_turn"}
		}
		line, err := json.Marshal(map[string]any{"type": role, "uuid": id, "parentUuid": parent, "sessionId": "another", "timestamp": "2026-11-01T10:00:00Z", "message": m})
		if err != nil {
			t.Fatal(err)
		}
		parent, text = id, append(append(text, line...), '\n')
	}
	take := func(want bool, turns int) {
		t.Helper()
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := Unread(state, claude, path, int64(len(text))); got != want {
			t.Errorf("unread: %v", got)
		}
		if got, lost, err := TakeIn(ctx, k, state, claude, path); err != nil || len(lost) > 0 || (got > 0) != want {
			t.Errorf("read: %v, %v", got, err)
		}
		if st, _, err := k.SessionStatus(ctx, "claude:s1"); err != nil || st.Turns != turns {
			t.Errorf("%+v, %v; want %d turns", st, err, turns)
		}
	}
	say("u1", "user")
	say("a1", "assistant")
	say("u2", "user")
	say("a2", "assistant")
	take(true, 2)
	take(false, 2)
	say("u3", "user")
	say("a3", "assistant")
	take(true, 3)
	if err := os.RemoveAll(filepath.Join(state, "hook")); err != nil {
		t.Fatal(err)
	}
	take(true, 3) // as after a kill before the record was written
	if names, err := filepath.Glob(filepath.Join(dir, "[^.]*")); err != nil || len(names) > 0 {
		t.Errorf("written to the workspace: %v, %v", names, err)
	}
}

// pastSessions are the ids of the small sessions in testdata, as hosts write them.
var pastSessions = map[Host]string{claude: "decce692-7c43-4ce5-8efa-2aaa39b8a924", codex: "cx-1", gemini: "gm-1", "pi": "pi-1"}

// inventory is all that a session has: its turns, and what was said in it, by role, time
// and content, whatever it is called.
func (p *project) inventory(key string) []string {
	p.Helper()
	out := []string{fmt.Sprintf("%d turns", p.turns(key))}
	paths, err := filepath.Glob(filepath.Join(p.state, "sessions", "*", "journal.jsonl"))
	if err != nil || len(paths) > 1 {
		p.Fatalf("%q, %v", paths, err)
	}
	for _, path := range paths {
		_, err := journal.OpenJournalIn(store.Files(filepath.Dir(path)), "journal.jsonl", &journal.Options{ReadOnly: true, Each: func(r store.Record) error {
			var body struct {
				Pages []struct {
					ID, Role string
					Created  time.Time
				} `json:"pages"`
				Content map[string]string `json:"content"`
			}
			if r.Op != "ingest" {
				return nil
			}
			err := json.Unmarshal(r.Body, &body)
			for _, page := range body.Pages {
				out = append(out, fmt.Sprintf("%s %s %s", page.Created.Format(time.RFC3339), page.Role, body.Content[page.ID]))
			}
			return err
		}})
		if err != nil {
			p.Fatal(err)
		}
	}
	slices.Sort(out[1:])
	return out
}

// TestTakeInThenResumed: of each host, whatever a past session held when it was read in,
// and whoever reads what follows, its hook or another init: the session comes to what the
// whole of it does at once. Nothing is doubled, nothing is lost.
func TestTakeInThenResumed(t *testing.T) {
	for h, id := range pastSessions {
		t.Run(string(h), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", string(h), "transcript.jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
			path := filepath.Join(t.TempDir(), id+".jsonl")
			take := func(p *project, n int) error {
				t.Helper()
				if err := os.WriteFile(path, append(bytes.TrimSuffix(bytes.Join(lines[:n], nil), []byte("\n")), '\n'), 0o600); err != nil {
					t.Fatal(err)
				}
				k := p.kernel()
				defer k.Close()
				_, lost, err := TakeIn(context.Background(), k, p.state, h, path)
				return errors.Join(append(lost, err)...)
			}
			at := newProject(t, nil)
			if err := take(at, len(lines)); err != nil {
				t.Fatal(err)
			}
			want := at.inventory(h.Key(id))
			if all := strings.Join(want, "\n"); strings.HasPrefix(all, "0 turns") || !strings.Contains(all, "who deploys the ledger?") {
				t.Fatalf("not read in:\n%s", all)
			}
			for n := 1; n <= len(lines); n += suite.Pick(3, 1) {
				p := newProject(t, nil)
				if err := take(p, n); err != nil && !errors.Is(err, errNoTranscript) {
					t.Fatalf("%d lines: %v", n, err)
				}
				if err := os.WriteFile(path, data, 0o600); err != nil {
					t.Fatal(err)
				}
				if end := eventAt(h, turnEnd); end != "" {
					for range 2 {
						p.hook(h, map[string]any{"session_id": id, "hook_event_name": end, "transcript_path": path})
					}
				} else if err := take(p, len(lines)); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, p.inventory(h.Key(id))); diff != "" {
					t.Errorf("%d lines were read in first (-at once +resumed):\n%s", n, diff)
				}
				if err := take(p, len(lines)); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(want, p.inventory(h.Key(id))); diff != "" {
					t.Errorf("%d lines, and init once more (-want +got):\n%s", n, diff)
				}
				if log := p.log(); log != "" {
					t.Errorf("%d lines: log: %s", n, log)
				}
			}
		})
	}
}

// TestNumberedAnew: where a server numbers the calls of each answer anew, the end of a
// transcript does not tell which call is which, so all of it is read; else only what is new.
func TestNumberedAnew(t *testing.T) {
	for _, id := range []string{"Bash:0", "toolu_01AbCdEfGhIjKlMnOpQr#"} {
		p, path, lines := newProject(t, nil), filepath.Join(t.TempDir(), "s1.jsonl"), []string{}
		line := func(typ, message string) {
			lines = append(lines, fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"s1","timestamp":"2026-10-01T08:00:%02dZ","message":%s}`, typ, len(lines), len(lines), message))
		}
		for turn := range 3 {
			call := strings.Replace(id, "#", fmt.Sprint(turn), 1)
			line("user", fmt.Sprintf(`{"role":"user","content":"look %d"}`, turn))
			line("assistant", fmt.Sprintf(`{"role":"assistant","id":"m%d","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"n":%d}}]}`, turn, call, turn))
			line("user", fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":"heron %d"}]}`, call, turn))
			line("assistant", fmt.Sprintf(`{"role":"assistant","id":"e%d","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"}`, turn))
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			r, _ := readRecord(p.state, "claude:s1")
			from := seam{}
			if r != nil {
				from = r.Seam
			}
			n, err := readNews(claude, path, from)
			if err != nil {
				t.Fatal(err)
			}
			want := len(lines) // with the turn before
			if strings.HasPrefix(id, "toolu") {
				want = min(want, 8)
			}
			if len(n.msgs) != want {
				t.Errorf("%s, turn %d: %d messages are read, want %d", id, turn, len(n.msgs), want)
			}
			p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
			if got := p.turns("claude:s1"); got != turn+1 {
				t.Errorf("%s: %d turns are committed, want %d: %s", id, got, turn+1, p.log())
			}
		}
	}
}

// TestLostIsNamed: what can't be read of the end of a transcript is named by its place in the
// file, and the record after it on its line is read.
func TestLostIsNamed(t *testing.T) {
	p, path := newProject(t, nil), filepath.Join(t.TempDir(), "s1.jsonl")
	line := func(n int, typ, rest string) string {
		return fmt.Sprintf(`{"type":%q,"uuid":"u%d","sessionId":"s1","timestamp":"2026-10-01T08:00:%02dZ","message":{"role":%q,%s}}`, typ, n, n, typ, rest)
	}
	answer := `"id":"m","content":[{"type":"text","text":"done"}],"stop_reason":"end_turn"`
	text := ""
	for turn := range 3 {
		text += line(2*turn, "user", fmt.Sprintf(`"content":"look %d"`, turn)) + "\n"
		torn := line(9, "user", `"content":"cut in the middle"`)[:120]
		if turn == 2 {
			text += torn
		}
		text += line(2*turn+1, "assistant", strings.Replace(answer, `"m"`, fmt.Sprintf(`"m%d"`, turn), 1)) + "\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := readRecord(p.state, "claude:s1")
		if err != nil || r == nil {
			r = &record{}
		}
		n, err := readNews(claude, path, r.Seam)
		if err != nil || len(n.lost) != turn/2 {
			t.Fatalf("turn %d: lost %v, %v", turn, n.lost, err)
		}
		from := strings.Index(text, torn)
		if want := fmt.Sprintf("%s:6: bytes %d to %d: record breaks off", path, from, from+len(torn)); turn == 2 && (r.Seam.Offset == 0 || len(n.msgs) != 4 || !strings.Contains(n.lost[0].Error(), want)) {
			t.Errorf("seam %+v, %d messages, lost %v, want %s", r.Seam, len(n.msgs), n.lost, want)
		}
		p.hook(claude, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
	}
}
