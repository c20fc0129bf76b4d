package kernel_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// hook is one of the lifecycle's calls.
type hook func(context.Context, api.Boundary) (*api.Passed, error)

func pass(t fataler, h hook, b api.Boundary) *api.Passed {
	t.Helper()
	b.SessionKey, b.Model = "s", model
	p, err := h(context.Background(), b)
	if err != nil {
		t.Fatalf("boundary: %v", err)
	}
	return p
}

func TestEveryBoundaryCommits(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer func() { k.Close() }()
	c := session(31, 2, 2, 2000)
	if p := pass(t, k.StartSession, api.Boundary{}); p.Outcome != api.Committed || p.Epoch != 0 {
		t.Errorf("start: %+v", p)
	}
	for _, step := range []struct {
		name string
		of   func(*kernel.Kernel) hook
	}{{"flush", func(k *kernel.Kernel) hook { return k.Flush }}, {"compact", func(k *kernel.Kernel) hook { return k.Compact }},
		{"end", func(k *kernel.Kernel) hook { return k.EndSession }}} {
		c.loop(1, 1500)
		p := pass(t, step.of(k), api.Boundary{Messages: c.msgs})
		if p.Outcome != api.Committed || p.Ingested == 0 || len(p.Faults) > 0 {
			t.Errorf("%s: %+v", step.name, p)
		}
		if p := pass(t, step.of(k), api.Boundary{Messages: c.msgs}); p.Outcome != api.Duplicate {
			t.Errorf("%s again: %+v", step.name, p)
		}
		k.Close()
		k = openKernel(t, dir)
	}
	journal := read(t, dir, ".memkernel/sessions/s/journal.jsonl")
	for _, point := range []string{"flush", "compaction", "session_end"} {
		if !strings.Contains(journal, `"point":"`+point+`"`) {
			t.Errorf("the journal has no commit point %s", point)
		}
	}
	if !strings.Contains(journal, `"checkpoint":"cp_001"`) {
		t.Error("no boundary names the checkpoint that stood")
	}
}

// A reset begins anew and loses nothing: pages and pins stay, the summary and the
// projection are empty, also for a process that reads the session later.
func TestResetBeginsAnEpoch(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(32, 8, 3, 9000)
	write(t, k, pin("r1", "Never touch prod."))
	p := mustPlan(t, k, request(c))
	if len(p.Reduced) == 0 {
		t.Fatal("nothing was reduced: the window is too large for this test")
	}
	out := pass(t, k.Reset, api.Boundary{Messages: c.msgs})
	if out.Epoch != 1 || len(out.Pinned) != 1 || len(out.Faults) > 0 {
		t.Errorf("reset: %+v", out)
	}
	for range 2 {
		fresh := newConversation(33)
		fresh.user()
		q := mustPlan(t, k, request(fresh))
		if q.Generation != 0 || len(q.Layout.Cuts) > 0 || len(q.Faults) > 0 {
			t.Errorf("after the reset: generation %d, cuts %v, faults %v", q.Generation, q.Layout.Cuts, q.Faults)
		}
		if text := stream(q); !strings.Contains(text, "Never touch prod.") || strings.Contains(text, "Context kept by memkernel") {
			t.Errorf("after the reset the prompt says\n%s", text)
		}
		checkPlan(t, q, fresh.msgs)
		for _, r := range p.Reduced {
			if got, err := k.Get(context.Background(), "s", r.Page); err != nil || got.Reason != api.GetOK {
				t.Fatalf("page %s is gone after the reset: %+v %v", r.Page, got, err)
			}
		}
		k.Close()
		k = openKernel(t, dir)
	}
	k.Close()
}

// A host that resets without a word of what it held: what was planned is taken
// from memory; after a restart the kernel says what it could not sum up.
func TestBoundaryWithoutMessages(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(34, 2, 2, 2000)
	mustPlan(t, k, request(c))
	if p := pass(t, k.Flush, api.Boundary{}); len(p.Faults) > 0 {
		t.Errorf("in one process: %+v", p)
	}
	c.loop(1, 1000)
	mustPlan(t, k, request(c))
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	p := pass(t, k.Reset, api.Boundary{})
	if len(p.Faults) != 1 || p.Faults[0].Code != "flush_miss" {
		t.Errorf("after a restart: %+v", p)
	}
}

// TestSummaryIsCommittedBeforeACut: what a cut lets go is summed up in the journal,
// although no turn was ever observed.
func TestSummaryIsCommittedBeforeACut(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(35, 8, 3, 9000)
	if p := mustPlan(t, k, request(c)); p.Layout.Made == nil {
		t.Fatal("no cut was made: the window is too large for this test")
	}
	k.Close()
	journal := read(t, dir, ".memkernel/sessions/s/journal.jsonl")
	if !strings.Contains(journal, `"point":"eviction"`) && !strings.Contains(journal, `"point":"downgrade"`) {
		t.Error("the journal has no commit point for the cut")
	}
	if err := os.Remove(filepath.Join(dir, ".memkernel/sessions/s/projection.jsonl")); err != nil {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs})
	last := lastSummary(t, dir)
	if !strings.Contains(last, "list/") {
		t.Errorf("the turn's summary is not a delta of members: %.300s", last)
	}
	if strings.Contains(last, "state/goal") {
		t.Errorf("the goal was written again though the cut had committed it: %.300s", last)
	}
}

// lastSummary is the value of the newest update of a summary page.
func lastSummary(t *testing.T, dir string) string {
	t.Helper()
	last := ""
	for line := range strings.SplitSeq(read(t, dir, ".memkernel/sessions/s/journal.jsonl"), "\n") {
		var l struct {
			Rec struct {
				Op   string
				Body struct {
					Updates []struct {
						Type  string
						Value json.RawMessage
					}
				}
			}
		}
		if json.Unmarshal([]byte(line), &l) != nil || l.Rec.Op != "staged" {
			continue
		}
		for _, u := range l.Rec.Body.Updates {
			if u.Type == "summary" {
				last = string(u.Value)
			}
		}
	}
	return last
}

// TestOpaqueTurnsAreRead opens a session that was written before turns were
// written back.
func TestOpaqueTurnsAreRead(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, ".memkernel/sessions/s")
	if err := os.CopyFS(to, os.DirFS("testdata/opaque-turns")); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	c := session(7, 2, 1, 300)
	for i := range c.msgs { // the words of that time
		for j := range c.msgs[i].Parts {
			p := &c.msgs[i].Parts[j]
			p.Text = strings.ReplaceAll(p.Text, "Shall I look at the next service?", "Shall I go on?")
		}
	}
	if o := observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]}); o.Outcome != api.Duplicate || o.Turns != 1 {
		t.Errorf("the old turn: %+v", o)
	}
	c.loop(1, 300)
	c.say()
	if o := observe(t, k, api.Turn{Messages: c.msgs}); o.Outcome != api.Committed || o.Turns != 2 {
		t.Errorf("a new turn: %+v", o)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if f, err := k.Check(context.Background()); err != nil || len(f) > 0 {
		t.Errorf("check: %v %v", f, err)
	}
	if o := observe(t, k, api.Turn{Messages: c.msgs}); o.Outcome != api.Duplicate || o.Turns != 2 {
		t.Errorf("the new turn again: %+v", o)
	}
}

// A journal that another process compacted is read anew, and says the same.
func TestCompactedByAnotherProcess(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(36, 3, 1, 500)
	write(t, k, pin("r1", "Keep the API stable."))
	observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]})
	j, err := journal.OpenJournalIn(store.Files(filepath.Join(dir, ".memkernel/sessions/s")), "journal.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Compact(); err != nil {
		t.Fatal(err)
	}
	if o := observe(t, k, api.Turn{Messages: c.msgs[:len(c.msgs)-1]}); o.Outcome != api.Duplicate || o.Turns != 1 {
		t.Errorf("after the compaction: %+v", o)
	}
	if p := mustPlan(t, k, request(c)); !strings.Contains(stream(p), "Keep the API stable.") {
		t.Error("the pin is gone after the compaction")
	}
}

func write(t fataler, k *kernel.Kernel, updates ...journal.Update) *journal.Receipt {
	t.Helper()
	r, err := k.Write(context.Background(), api.WriteRequest{SessionKey: "s", Updates: updates, Project: true,
		Now: time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	return r
}

// pin is a constraint of the session s.
func pin(key, text string) journal.Update {
	raw, _ := json.Marshal(text)
	return journal.Update{Key: key, Type: pagevm.Constraint, Field: "text", Op: journal.OpSetWithVersion, Value: raw,
		Scope: memkernel.ScopeSession, EvidenceRef: "session:s"}
}
