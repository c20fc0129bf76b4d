package notes_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/notes"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

var noon = time.Date(2026, 11, 3, 12, 0, 0, 0, time.UTC)

type answers string

func (answers) Name() string { return "small" }
func (a answers) Complete(context.Context, summary.Prompt) (summary.Completion, error) {
	return summary.Completion{Text: string(a)}, nil
}

// desk is a session that counts what is brought to it.
type desk struct {
	stale   bool
	refuses error
	updates []journal.Update
	facts   []summary.Fact
	commits int
}

func (d *desk) Current(context.Context, *notes.Job) bool { return !d.stale }
func (d *desk) Commit(_ *notes.Job, u []journal.Update, f []summary.Fact) error {
	d.updates, d.facts, d.commits = u, f, d.commits+1
	return d.refuses
}

// said is an ended turn in a folder.
func said(dir store.Store) *notes.Said {
	msgs := []memkernel.Message{
		{Key: "k1", Role: memkernel.RoleUser, Time: noon, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Never push to main.", Typed: true}}},
		{Key: "k2", Role: memkernel.RoleAssistant, Time: noon, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "Agreed.", Typed: true}}}}
	hosts := []pagevm.HostMessage{{Key: "k1", Segments: []pagevm.Segment{{Page: "cv-1"}}}, {Key: "k2", Segments: []pagevm.Segment{{Page: "cv-2"}}}}
	st := summary.State{}
	st.Offset.Key = "k2"
	return &notes.Said{Folder: dir.In("s"), Page: "notes/0/", Evidence: "session:s", Messages: msgs, Hosts: hosts, Ended: 2,
		Summary: st, Mask: func(s string) string { return s }, Now: noon.Add(time.Minute)}
}

const answer = `{"ops":[{"op":"add","field":"open_threads","text":"Measure it","evidence":"m1"},{"op":"remember","text":"Nobody pushes to main","evidence":"m1"}]}`

// asked starts a job and waits for what comes of it.
func asked(t *testing.T, dir store.Store, o api.SummaryOptions, d *desk) {
	t.Helper()
	o.Model, o.Timeout, o.DeltaTokens, o.CloseWait = answers(answer), time.Minute, 1000, time.Minute
	if _, err := dir.In("s").Put(store.Unsynced, store.Doc{Name: "journal.jsonl"}); err != nil {
		t.Fatal(err)
	}
	n := notes.NewTaker(o, dir, func() time.Time { return noon })
	if job := n.Job(said(dir)); job != nil {
		n.Start(job, d)
	}
	n.Stop()
	if !n.Busy(dir) {
		t.Error("a taker that was stopped would start")
	}
}

func TestADeltaIsCommittedOnce(t *testing.T) {
	for name, c := range map[string]struct {
		o       api.SummaryOptions
		d       desk
		commits int
		facts   int
	}{
		"old":       {api.SummaryOptions{Tokens: 1 << 20, After: time.Minute}, desk{}, 1, 1},
		"too new":   {api.SummaryOptions{Tokens: 1 << 20, After: time.Hour}, desk{}, 0, 0},
		"overtaken": {api.SummaryOptions{}, desk{stale: true}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := store.Files(t.TempDir())
			asked(t, dir, c.o, &c.d)
			if c.d.commits != c.commits || len(c.d.facts) != c.facts || c.commits > 0 && len(c.d.updates) != 2 {
				t.Errorf("%d commits, updates %+v, facts %+v", c.d.commits, c.d.updates, c.d.facts)
			}
		})
	}
}

// TestUnwrittenNotesCoolDown: an answer that can't be committed leaves the model alone
// for a while, and a delta is not even made then.
func TestUnwrittenNotesCoolDown(t *testing.T) {
	dir := store.Files(t.TempDir())
	d := &desk{refuses: errors.New("the disk is full")}
	asked(t, dir, api.SummaryOptions{}, d)
	asked(t, dir, api.SummaryOptions{}, d)
	all := notes.OpenCooldowns(dir).All()
	if d.commits != 1 || len(all) != 1 || all[0].Reason != summary.ReasonNotWritten || !all[0].Until.Equal(noon.Add(time.Minute)) {
		t.Errorf("%d commits, cool-downs %+v", d.commits, all)
	}
}
