package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// oldState is a copy of a folder of testdata/state: a workspace with the state folder that an
// earlier program kept next to it. The README there lists the history of each.
type oldState struct {
	*testing.T
	dir, workspace, state string
	opts                  kernel.Options
	k                     *kernel.Kernel
}

const oldStates = "../testdata/state"

func openOldState(t *testing.T, name string, opts kernel.Options) *oldState {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(oldStates, name))); err != nil {
		t.Fatal(err)
	}
	o := &oldState{T: t, dir: dir, workspace: filepath.Join(dir, "workspace"), state: filepath.Join(dir, "state"), opts: opts}
	o.opts.StateDir = o.state
	o.open()
	return o
}

func (o *oldState) open() {
	o.Helper()
	if o.k != nil {
		o.k.Close()
	}
	k, err := kernel.Open(context.Background(), o.workspace, &o.opts)
	if err != nil {
		o.Fatal(err)
	}
	o.k = k
	o.Cleanup(func() { k.Close() })
}

// conversation reads a transcript of the folder.
func (o *oldState) conversation(name string) []memkernel.Message {
	o.Helper()
	s, err := transcript.LoadFile(filepath.Join(o.dir, name), nil)
	if err != nil {
		o.Fatal(err)
	}
	return s.View(transcript.Full)
}

// gets checks that Get returns reason for an id, and a text that contains text. If text is "", Get
// must return no text.
func (o *oldState) gets(key, id, reason, text string) {
	o.Helper()
	got, err := o.k.Get(context.Background(), key, id)
	if err != nil {
		o.Fatal(err)
	}
	if got.Reason != reason || !strings.Contains(got.Text, text) || text == "" && got.Text != "" {
		o.Errorf("%s: %s, %.60q", id, got.Reason, got.Text)
	}
}

// restores checks that the restore text of a session contains text.
func (o *oldState) restores(key, text string) {
	o.Helper()
	got, err := o.k.Restore(context.Background(), api.RestoreRequest{SessionKey: key})
	if err != nil || !strings.Contains(got.Text, text) {
		o.Errorf("restore %s: %v, %+v", key, err, got)
	}
}

// sound holds that check finds nothing.
func (o *oldState) sound() {
	o.Helper()
	findings, err := o.k.Check(context.Background())
	if err != nil {
		o.Fatal(err)
	}
	for _, f := range findings {
		o.Errorf("check: %s: %s", f.Session, f.What)
	}
}

// morning is the conversation of the session that was cut.
func (o *oldState) morning() []memkernel.Message {
	o.Helper()
	data, err := os.ReadFile("../testdata/session.jsonl")
	if err != nil {
		o.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	s, err := transcript.Load(strings.NewReader(strings.Join(lines[:132], "")), "morning", nil)
	if err != nil {
		o.Fatal(err)
	}
	return s.View(transcript.Full)
}

const (
	oldMorning = "morning"
	oldHarbour = "harbour/night shift"
)

// planMorning plans the call behind what was planned last.
func (o *oldState) planMorning(msgs []memkernel.Message) *api.ContextPlan {
	o.Helper()
	now := msgs[len(msgs)-1].Time.Add(time.Second)
	p, err := o.k.PlanContext(context.Background(), api.PlanRequest{SessionKey: oldMorning, Model: "claude-opus-4-5-20251101", ContextWindow: 36_000, Reserve: 6_000, FixedTokens: 2_000,
		Messages: msgs, Now: now, Resolver: "memory_get", Private: true})
	if err != nil {
		o.Fatal(err)
	}
	checkPlan(o, p, msgs)
	return p
}

// TestOldStateOpens: what a program of before kept is found as it left it.
func TestOldStateOpens(t *testing.T) {
	o := openOldState(t, "2026-11", kernel.Options{})
	ctx := context.Background()
	o.sound()
	o.gets(oldHarbour, "ev-2c68b677ea1a46e2", api.GetOK, "berth 3: taken by vessel 21")
	o.gets(oldHarbour, "ev-64ea8e93b4b9d86a", api.GetForgotten, "")
	res, err := o.k.Search(ctx, api.SearchRequest{Query: "which berth is for the pilot boat", Private: true})
	if err != nil || len(res.Hits) == 0 {
		t.Fatalf("search: %v, %+v", err, res)
	}
	if res.Reason != retrieval.OK && res.Reason != retrieval.StaleIndex {
		t.Errorf("search: %s", res.Reason)
	}
	o.restores(oldMorning, "reproduce the race")
}

// TestOldStateGoesOn: both sessions are planned and observed further, and what
// comes of it is sound, in the same process and in the next.
func TestOldStateGoesOn(t *testing.T) {
	o := openOldState(t, "2026-11", kernel.Options{})
	ctx := context.Background()
	before, err := o.k.Status(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := o.morning()
	at := msgs[len(msgs)-1].Time
	msgs = append(msgs, memkernel.Message{Key: "next-user", Role: memkernel.RoleUser, Time: at.Add(time.Minute), Parts: []memkernel.Part{words("And the deployment?")}})
	first := o.planMorning(msgs)
	for _, f := range first.Faults {
		if f.Code == "not_recorded" {
			t.Errorf("plan: %+v", f)
		}
	}
	msgs = append(msgs, memkernel.Message{Key: "next-agent", Role: memkernel.RoleAssistant, Time: at.Add(2 * time.Minute), Model: "claude-opus-4-5-20251101", Parts: []memkernel.Part{words("It is prepared for Tuesday.")}})
	for _, want := range []api.Outcome{api.Committed, api.Duplicate} {
		ob, err := o.k.ObserveTurn(ctx, api.Turn{SessionKey: oldMorning, Model: "claude-opus-4-5-20251101", Messages: msgs, PlanID: first.ID, Now: at.Add(3 * time.Minute), Private: true})
		if err != nil || ob.Outcome != want || ob.Turns != 3 {
			t.Fatalf("observe: %v, %+v", err, ob)
		}
	}
	h := o.conversation("harbour.jsonl")
	end := h[len(h)-1].Time
	if ob, err := o.k.ObserveTurn(ctx, api.Turn{SessionKey: oldHarbour, Model: "claude-sonnet-4-5", Messages: h, Now: end, Private: true}); err != nil || ob.Outcome != api.Duplicate {
		t.Fatalf("observe: %v, %+v", err, ob)
	}
	if _, err := o.k.Flush(ctx, api.Boundary{SessionKey: oldHarbour, Now: end.Add(time.Hour)}); err != nil {
		t.Fatal(err)
	}
	o.sound()
	o.open()
	o.sound()
	after, err := o.k.Status(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(after.Sessions) != len(before.Sessions) {
		t.Errorf("%d sessions became %d", len(before.Sessions), len(after.Sessions))
	}
	o.gets(oldHarbour, "ev-64ea8e93b4b9d86a", api.GetForgotten, "") // and does not come back
	// In a new process the prompt goes on where the last one stood.
	msgs = append(msgs, memkernel.Message{Key: "last-user", Role: memkernel.RoleUser, Time: at.Add(4 * time.Minute), Parts: []memkernel.Part{words("Thanks. And the notes?")}})
	if second := o.planMorning(msgs); !strings.HasPrefix(stream(second), stream(first)) {
		t.Error("the next plan does not extend the one before it")
	}
}
