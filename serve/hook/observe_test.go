package hook

import (
	"bytes"
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/transcript"
)

// stops are the lengths that a transcript had when its turns ended: right before
// each message that opens a turn, and at its end.
func stops(t *testing.T, h Host, data []byte) (out []int64) {
	t.Helper()
	for rec, err := range transcript.Stream(bytes.NewReader(data), &transcript.Options{Dialect: h.row().dialect}) {
		if err != nil {
			t.Fatal(err)
		}
		if m := rec.Message; m != nil && m.Branch == "" && transcript.PlainUser(*m) && rec.Offset > 0 {
			out = append(out, rec.Offset)
		}
	}
	return append(out, int64(len(data)))
}

// whole is what a session comes to that is observed at once.
func whole(t *testing.T, h Host, path string) (turns, pages int) {
	p := newProject(t, nil)
	p.hook(h, map[string]any{"hook_event_name": "Stop", "transcript_path": path})
	st, _, err := p.kernel().SessionStatus(context.Background(), h.Key("s1"))
	if err != nil {
		t.Fatal(err)
	}
	if log := p.log(); log != "" {
		t.Errorf("log: %s", log)
	}
	return st.Turns, st.Pages
}

// TestGrowing has a transcript grow turn by turn, with a Stop after each: it comes
// to what the whole of it does, and only its end is read.
func TestGrowing(t *testing.T) {
	files := map[string]Host{sample: claude}
	for _, h := range suite.Pick([]Host{codex}, []Host{claude, codex}) { // the sample is Claude's
		found, _ := filepath.Glob("../../../shared/data/transcripts/" + string(h.row().dialect) + "/*.jsonl")
		slices.SortFunc(found, func(a, b string) int { return int(size(t, a) - size(t, b)) })
		for _, f := range found[:min(len(found), 1)] {
			files[f] = h
		}
	}
	for path, h := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wantTurns, wantPages := whole(t, h, path)
			p := newProject(t, nil)
			growing := filepath.Join(t.TempDir(), "transcript.jsonl")
			all := stops(t, h, data)
			last := len(all) - 1
			for _, n := range append(suite.Some(all[:last], 5), all[last]) {
				if err := os.WriteFile(growing, data[:n], 0o600); err != nil {
					t.Fatal(err)
				}
				if out := p.hook(h, map[string]any{"hook_event_name": "Stop", "transcript_path": growing}); h == claude && out != "" || h == codex && out != "{}\n" {
					t.Errorf("Stop answered %q", out)
				}
			}
			st, _, err := p.kernel().SessionStatus(context.Background(), h.Key("s1"))
			if err != nil {
				t.Fatal(err)
			}
			if st.Turns != wantTurns || st.Pages != wantPages || wantTurns == 0 {
				t.Errorf("%d turns and %d pages, want %d and %d", st.Turns, st.Pages, wantTurns, wantPages)
			}
			r, err := readRecord(p.state, h.Key("s1"))
			if err != nil || wantTurns > 1 && r.Seam.Offset == 0 {
				t.Errorf("seam %+v, %v", r.Seam, err)
			}
			if log := p.log(); log != "" {
				t.Errorf("log: %s", log)
			}
		})
	}
}

func size(t *testing.T, path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Size()
}

// TestCheckpointsNameTheHost: a hook's checkpoint names the transcript, the host, the kind
// of agent, and what the provider billed last.
func TestCheckpointsNameTheHost(t *testing.T) {
	for _, h := range allHosts() {
		end := cmp.Or(eventAt(h, sessionEnd), eventAt(h, beforeCompaction))
		if end == "" {
			continue // it holds neither, and no checkpoint is due
		}
		p := newProject(t, nil)
		path, err := filepath.Abs(filepath.Join("testdata", string(h), "transcript.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		p.hook(h, map[string]any{"hook_event_name": end, "transcript_path": path, "agent_type": "reviewer"})
		c, err := p.kernel().Get(context.Background(), h.Key("s1"), "cp_001")
		if err != nil || c.Reason != "OK" {
			t.Fatalf("%s: %+v, %v, log: %s", h, c, err, p.log())
		}
		for _, want := range []string{`session_file: "` + path + `"`, `channel: "` + string(h) + `"`, `agent_id: "reviewer"`, `source: "provider"`} {
			if !strings.Contains(c.Text, want) {
				t.Errorf("%s: no %s in:\n%s", h, want, c.Text)
			}
		}
	}
}
