package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/internal/imports"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/kernel/internal/turn"
	"github.com/memkernel/memkernel/sessions"
)

const (
	oldNight = "harbour/night watch"
	oldModel = "claude-opus-4-5-20251101"
)

// openKept opens the folder that holds every kind of file. The folder of the host's logs, from
// which past sessions were made, can't be listed.
func openKept(t *testing.T) *oldState {
	t.Helper()
	return openOldState(t, "2026-11-29", kernel.Options{Memory: kernel.MemoryOptions{
		Sessions: kernel.PastOptions{Enabled: true, Sources: []sessions.Source{{Path: "/srv/harbour/logs"}}}}})
}

// sessions describes each session by its journal, projections, checkpoints and bills.
func (o *oldState) sessions() (out []string) {
	o.Helper()
	ctx := context.Background()
	st, err := o.k.Status(ctx, nil)
	if err != nil {
		o.Fatal(err)
	}
	for i := range st.Sessions {
		s := &st.Sessions[i]
		u, err := o.k.Usage(ctx, billing.Options{Session: s.Key})
		if err != nil {
			o.Fatal(err)
		}
		row := fmt.Sprintf("%s: %d pages, %d turns, %d spans, epoch %d, %d compactions, checkpoints %v, %d flushed, %d bills",
			s.Key, s.Pages, s.Turns, s.Spans, s.Life.Epoch, s.Life.Compactions, s.Life.Checkpoints, s.Life.Flushed, len(u.Calls))
		for _, l := range s.Lines {
			row += fmt.Sprintf("; line %q of %d messages, %d cuts", l.Branch, l.Messages, l.Cuts)
		}
		for _, n := range s.ModelSummaries {
			row += fmt.Sprintf("; %d notes", n.Notes)
		}
		out = append(out, row)
	}
	slices.Sort(out)
	return out
}

// TestOldStateIsKept: every kind of file that the program of 2026-11-29 wrote is found and read.
func TestOldStateIsKept(t *testing.T) {
	o := openKept(t)
	ctx := context.Background()
	o.sound()
	want := []string{
		`chatgpt:6f1f7f0e-harbour: 2 pages, 1 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 0 bills`,
		`claude:hooked: 3 pages, 1 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 1 bills`,
		`crane: 11 pages, 1 turns, 1 spans, epoch 0, 1 compactions, checkpoints [cp_001], 0 flushed, 3 bills; line "" of 5 messages, 1 cuts`,
		`gone: 0 pages, 0 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 0 bills`,
		`harbour/night watch: 21 pages, 4 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 6 bills; line "" of 7 messages, 0 cuts; line "agent-7" of 3 messages, 0 cuts`,
		`import:mcp-memory: 0 pages, 0 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 0 bills`,
		`lamp: 9 pages, 2 turns, 0 spans, epoch 0, 0 compactions, checkpoints [], 0 flushed, 2 bills; line "" of 3 messages, 0 cuts; 1 notes`,
		`morning: 17 pages, 3 turns, 0 spans, epoch 0, 0 compactions, checkpoints [cp_002 cp_001], 1 flushed, 6 bills; line "" of 11 messages, 0 cuts`,
		`tides: 12 pages, 3 turns, 0 spans, epoch 1, 0 compactions, checkpoints [cp_001], 1 flushed, 4 bills`,
	}
	if got := o.sessions(); !slices.Equal(got, want) {
		t.Errorf("sessions:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	o.gets("morning", "ev-420a5ff0514f9915", api.GetOK, "berth 56: vessel")
	o.gets("crane", "ev-c339c9bf09720b9b", api.GetOK, "lift 56: vessel")
	o.gets("crane", "sp-241342fccebdaaf2", api.GetOK, "Check the crane's log.")
	o.gets("tides", "ev-bcfe4dc669417764", api.GetForgotten, "")     // retired
	o.gets(oldNight, "ev-dcd23582a52ab77b", api.GetForgotten, "")    // a page
	o.gets("gone", "cv-00ceac9d199fd094", api.GetForgotten, "")      // a session
	o.gets("old ferry", "ev-47d658316caca56d", api.GetForgotten, "") // an ended session
	o.restores("morning", "dredge berth 7")
	o.restores("crane", "crane.txt")
	o.restores("tides", "tables of Kalvik")

	// Past sessions come from the documents: the host's log is out of reach.
	res, err := o.k.Search(ctx, api.SearchRequest{Query: "where are the spare buoys kept", Private: true, Wait: -1})
	if err != nil || len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "lighter Marguerite") {
		t.Errorf("search: %v, %+v", err, res)
	}

	k := o.k.Maintenance()
	night := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	if n, err := k.Nightly(ctx, api.NightlyRequest{Once: 20 * time.Hour, Now: night}); err != nil || n.Skipped == "" {
		t.Errorf("nightly: %v, %+v", err, n)
	}
	if h, err := k.History(ctx, api.HistoryRequest{Path: "MEMORY.md"}); err != nil || h.Total != 3 || h.Unkept != 0 {
		t.Errorf("history: %v, %+v", err, h)
	}
	if u, err := o.k.Editor().Undo(ctx, api.UndoRequest{Voice: api.VoicePerson, Now: night.Add(72 * time.Hour)}); err != nil || !slices.ContainsFunc(u.Files, func(f api.EditedFile) bool { return f.Path == "MEMORY.md" }) {
		t.Errorf("undo: %v, %+v", err, u)
	}
	if text, err := os.ReadFile(filepath.Join(o.workspace, "MEMORY.md")); err != nil || !strings.Contains(string(text), "- Boat 1: ") {
		t.Errorf("undo: %v, %.200q", err, text)
	}
}

// TestOldStateDocuments: small documents next to the sessions are read.
func TestOldStateDocuments(t *testing.T) {
	o := openKept(t)
	ctx := context.Background()
	st, err := o.k.Status(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m := st.SummaryModels; len(m) != 1 || m[0].Failures != 1 {
		t.Errorf("models of notes: %+v", m)
	}
	_, m, err := o.k.SessionStatus(ctx, "morning")
	if err != nil {
		t.Fatal(err)
	}
	if m.Sync.Last == nil {
		t.Error("the last update of the index is not known")
	}
	if m.LeftOut.Files != 1 {
		t.Errorf("left out: %+v", m.LeftOut)
	}
	if m.Sessions.Forgotten != 1 || m.Sessions.Sessions != 9 {
		t.Errorf("past sessions: %+v", m.Sessions)
	}
	if did := turn.HabitsIn(store.Files(o.state)).Earlier("", "another"); len(did) != 1 || len(did[0].Idle) != 2 {
		t.Errorf("habits: %+v", did)
	}

	ledger, err := imports.OpenLedger(o.state)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = imports.Read(ctx, filepath.Join(o.dir, "imports"), &imports.Options{All: true}, &imports.Found{
		Session: func(s *imports.Session) error {
			if n++; !ledger.Has(s) {
				t.Errorf("session %s would be imported again", s.Key())
			}
			return nil
		},
		Fact: func(f *imports.Fact) error {
			n++
			if has, err := ledger.HasFact(f); err != nil || !has {
				t.Errorf("fact %q would be imported again: %v", f.Text, err)
			}
			return nil
		},
		Lost: func(f imports.Format, err error) { t.Errorf("%s: %v", f, err) },
		Left: func(f imports.Format, place, why string) { t.Errorf("%s: %s was not read: %s", f, place, why) },
	})
	if err != nil || n != 4 {
		t.Errorf("%d sessions and facts: %v", n, err)
	}

	for _, name := range []string{"trace.1.jsonl", "trace.jsonl"} {
		f, err := os.Open(filepath.Join(o.state, "sessions/lamp", name))
		if err != nil {
			t.Fatal(err)
		}
		r, err := kernel.Stored.ReplayTrace(name, f)
		f.Close()
		if err != nil || r.Plans+r.Skipped != 1 || r.Difference != nil {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

// TestOldStateGrows: sessions are planned and observed further, in two processes. Their prompts
// begin with the last prompt of the old program.
func TestOldStateGrows(t *testing.T) {
	o := openKept(t)
	ctx := context.Background()
	for _, c := range []struct {
		key, branch, prompt string
		files               []string
		window              int
		private             bool
		turns               int
	}{
		{"morning", "", "morning", []string{"morning.jsonl"}, 14_000, true, 4},
		{"crane", "", "crane", []string{"crane.jsonl"}, 20_000, false, 2}, // a compaction, and a turn that is open
		{"lamp", "", "lamp", []string{"lamp.jsonl"}, 20_000, false, 3},    // its first projection was damaged
		{"tides", "", "", []string{"tides-2.jsonl"}, 20_000, false, 4},    // its prompt was retired with a page
		{oldNight, "", "night", []string{"night.jsonl", "night-2.jsonl"}, 30_000, true, 5},
		{oldNight, "agent-7", "night-agent-7", []string{"night-agent-7.jsonl"}, 30_000, true, 7},
	} {
		var last []byte
		if c.prompt != "" {
			var err error
			if last, err = os.ReadFile(filepath.Join(o.dir, "prompts", c.prompt)); err != nil {
				t.Fatal(err)
			}
		}
		var msgs []memkernel.Message
		for _, name := range c.files {
			msgs = append(msgs, o.conversation("conversations/"+name)...)
		}
		before := string(last)
		for i := range 2 {
			at := msgs[len(msgs)-1].Time
			if msgs[len(msgs)-1].Role == memkernel.RoleAssistant {
				msgs = append(msgs, memkernel.Message{Key: fmt.Sprint("next-user-", i), Role: memkernel.RoleUser, Time: at.Add(time.Minute), Parts: []memkernel.Part{words("And then?")}})
			}
			p, err := o.k.PlanContext(ctx, api.PlanRequest{SessionKey: c.key, Branch: c.branch, Model: oldModel, ContextWindow: c.window, Reserve: 2_000, FixedTokens: 1_000,
				Messages: msgs, Now: at.Add(time.Minute), Resolver: "memory_get", Private: c.private})
			if err != nil {
				t.Fatal(err)
			}
			checkPlan(t, p, msgs)
			if len(p.Faults) > 0 {
				t.Errorf("%s: %+v", c.key, p.Faults)
			}
			if p.Budgets.TokensAre != budget.Calibrated {
				t.Errorf("%s: tokens are %s", c.key, p.Budgets.TokensAre)
			}
			if !strings.HasPrefix(stream(p), before) {
				t.Errorf("%s: plan %d does not extend the prompt before it:\n%s\nbefore:\n%s", c.key, i, stream(p), before)
			}
			before = stream(p)
			msgs = append(msgs, memkernel.Message{Key: fmt.Sprint("next-agent-", i), Role: memkernel.RoleAssistant, Time: at.Add(2 * time.Minute), Model: oldModel, Parts: []memkernel.Part{words("The next one.")}})
			ob, err := o.k.ObserveTurn(ctx, api.Turn{SessionKey: c.key, Branch: c.branch, Model: oldModel, Messages: msgs, PlanID: p.ID, Now: at.Add(2 * time.Minute), Private: c.private})
			if err != nil || ob.Outcome != api.Committed || ob.Turns != c.turns+i {
				t.Errorf("%s: observe: %v, %+v", c.key, err, ob)
			}
			o.open()
		}
	}
	o.sound()
	if _, err := os.Stat(filepath.Join(o.state, "sessions/lamp/projection.jsonl.damaged-1")); err != nil {
		t.Errorf("the damaged projection: %v", err)
	}
	o.gets(oldNight, "ev-dcd23582a52ab77b", api.GetForgotten, "")
	err := filepath.WalkDir(o.state, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "mackerel-77") {
			t.Errorf("%s holds the forgotten text", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
