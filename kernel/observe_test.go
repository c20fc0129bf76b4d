package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
)

func observe(t fataler, k *kernel.Kernel, turn api.Turn) *api.Observation {
	t.Helper()
	turn.SessionKey, turn.Model = "s", model
	o, err := k.ObserveTurn(context.Background(), turn)
	if err != nil {
		t.Fatalf("observe: %v", err)
	}
	return o
}

func TestObserveTurnIsIdempotent(t *testing.T) {
	dir := t.TempDir()
	c := session(7, 2, 2, 2000)
	whole := c.msgs[:len(c.msgs)-1]
	k := openKernel(t, dir)
	if o := observe(t, k, api.Turn{Messages: whole}); o.Outcome != api.Committed || o.Turns != 1 {
		t.Fatalf("first delivery: %+v", o)
	}
	if o := observe(t, k, api.Turn{Messages: whole}); o.Outcome != api.Duplicate || o.Turns != 1 {
		t.Errorf("second delivery: %+v", o)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if o := observe(t, k, api.Turn{Messages: whole}); o.Outcome != api.Duplicate {
		t.Errorf("after reopening: %+v", o)
	}
	other := append([]memkernel.Message(nil), whole...)
	other[len(other)-1].Parts = []memkernel.Part{words("something else")}
	if o := observe(t, k, api.Turn{Messages: other}); o.Outcome != api.Conflict {
		t.Errorf("same key, other content: %+v", o)
	}
}

func TestOpenTurnIsIngestedNotCommitted(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(8)
	c.user()
	c.loop(2, 3000)
	o := observe(t, k, api.Turn{Messages: c.msgs})
	if o.Outcome != api.OpenTurn || o.Turns != 0 || o.Ingested == 0 {
		t.Fatalf("open turn: %+v", o)
	}
	c.say()
	if o := observe(t, k, api.Turn{Messages: c.msgs}); o.Outcome != api.Committed || o.Turns != 1 {
		t.Errorf("ended turn: %+v", o)
	}
}

func TestUsageAnchorsTheNextPlan(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(9, 1, 1, 4000)
	p := mustPlan(t, k, request(c))
	c.say()
	billed := p.Budgets.PlannedInputTokens + 777
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Usage: &memkernel.Usage{CacheWrite5mTokens: billed}})
	c.user()
	q := mustPlan(t, k, request(c))
	grown := 0
	for _, row := range q.Debug.Included {
		if row.Kind == "anchor" {
			grown = row.Tokens
		}
	}
	if grown < 700 || grown > 850 {
		t.Errorf("the anchor moves the count by %d, want about 777", grown)
	}
	checkPlan(t, q, c.msgs)
}

func TestPageRestoresByteForByte(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(10, 8, 3, 9000)
	p := mustPlan(t, k, request(c))
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if len(p.Reduced) == 0 {
		t.Fatal("nothing was reduced: the window is too large for this test")
	}
	want := map[string]string{}
	for i := range c.msgs {
		for _, part := range c.msgs[i].Parts {
			if part.Result != nil {
				want[part.Result.CallID] = part.Result.Content[0].Text
			}
		}
	}
	for _, r := range p.Reduced {
		if r.CallID == "" {
			continue
		}
		got, err := k.Get(context.Background(), "s", r.Page)
		if err != nil {
			t.Fatal(err)
		}
		if got.Text != want[r.CallID] {
			t.Errorf("page %s of %s does not restore", r.Page, r.CallID)
		}
		if h, err := k.Get(context.Background(), "s", r.Handle); err != nil || h.Reason != api.GetOK {
			t.Errorf("handle %s: %v %v", r.Handle, h, err)
		}
	}
}

func TestUnknownPageSaysSo(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c, err := k.Get(context.Background(), "s", "ev-0000000000000000")
	if err != nil || c.Reason != api.GetNoMatch || c.Text != "" {
		t.Errorf("got %+v, %v", c, err)
	}
}

func TestCheckIsCleanAndFindsDamage(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(11, 8, 3, 9000)
	mustPlan(t, k, request(c))
	findings, err := k.Check(context.Background())
	if err != nil || len(findings) != 0 {
		t.Fatalf("check of a sound state: %v, %v", findings, err)
	}
	k.Close()
	damageOneBlob(t, dir)
	k = openKernel(t, dir)
	defer k.Close()
	if findings, err = k.Check(context.Background()); err != nil || len(findings) == 0 {
		t.Errorf("check of a damaged blob: %v, %v", findings, err)
	}
}

// A blob that somebody deleted is named where it is asked for and by Check; plans go
// on, what was sent keeps its bytes, and everything else restores.
func TestBlobDeletedBehindOurBack(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(12, 8, 3, 9000)
	before := mustPlan(t, k, request(c))
	k.Close()
	gone := map[string]bool{}
	for i, f := range tree(t, filepath.Join(dir, ".memkernel", "blobs")) {
		if i%2 == 0 {
			gone[filepath.Base(f)] = true
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	k = openKernel(t, dir)
	defer k.Close()
	asked, restored := 0, 0
	for _, row := range before.Debug.Included {
		c, err := k.Get(context.Background(), "s", row.ID)
		switch {
		case err != nil:
			t.Fatal(err)
		case c.Reason == api.GetBackendError:
			if f := c.Fault; f == nil || f.Code != fault.SilentRecall || !strings.Contains(c.Detail, row.ID) || c.Text != "" {
				t.Errorf("%s: %+v", row.ID, c)
			}
			asked++
		case c.Page != nil && c.Page.Blob != "":
			restored++
			if gone[c.Page.Blob] {
				t.Errorf("%s restores from a blob that is gone", row.ID)
			}
		}
	}
	if asked == 0 || restored == 0 {
		t.Errorf("%d pages lost, %d restored: nothing was tried", asked, restored)
	}
	findings, err := k.Check(context.Background())
	if err != nil || len(findings) < asked {
		t.Errorf("check finds %d of %d: %v %v", len(findings), asked, findings, err)
	}
	c.loop(1, 500)
	after := mustPlan(t, k, request(c))
	if !strings.HasPrefix(stream(after), stream(before)) {
		t.Error("bytes changed for a blob that is gone")
	}
	checkPlan(t, after, c.msgs)
}
