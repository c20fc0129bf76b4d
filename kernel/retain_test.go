package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/billing"
)

const day = 24 * time.Hour

func retain(t fataler, k *kernel.Kernel, req api.RetainRequest) *api.Retained {
	t.Helper()
	r, err := k.Retain(context.Background(), req)
	if err != nil {
		t.Fatalf("retain: %v", err)
	}
	return r
}

// aged is a session of which a part left at a cut, and whose last call is hours
// old, with usage.
func aged(t fataler, k *kernel.Kernel) *conversation {
	t.Helper()
	c := session(5, 6, 3, 9000)
	p := mustPlan(t, k, narrow(c))
	c.say()
	observe(t, k, api.Turn{Messages: c.msgs, PlanID: p.ID, Model: model, Usage: &memkernel.Usage{InputTokens: 9000}, Now: c.now})
	c.user()
	mustPlan(t, k, narrow(c))
	return c
}

// TestRetain: old contents go when no prompt or memory points to them, and only
// then; what went is told from what is lost, and comes back with its message.
func TestRetain(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := aged(t, k)
	pages := forget(t, k, false)
	blobs := len(pages.Blobs)
	req := api.RetainRequest{Blobs: 30 * day, Usage: 30 * day, Traces: 30 * day, Now: c.now.Add(10 * day), Apply: true}
	if r := retain(t, k, req); len(r.Sessions) != 0 || r.Blobs != 0 {
		t.Errorf("nothing is old: %+v", r)
	}
	// Old, but the prompt stands: it was planned hours ago.
	young := req
	young.Blobs, young.Now = time.Second, c.now.Add(time.Second)
	if r := retain(t, k, young); len(r.Sessions) != 1 || r.Sessions[0].Pages != 0 || r.Sessions[0].Pointed == 0 || r.Blobs != 0 {
		t.Errorf("the prompt stands: %+v", r)
	}
	// A memory that cites a page keeps it for ever.
	var cited string
	for _, p := range pages.Pages {
		if p.Tool == "Read" && p.Bytes > 8000 {
			cited = p.ID
		}
	}
	u := pin("r1", "What was read binds.")
	u.EvidenceRef = cited
	write(t, k, u)
	req.Now, req.Apply = c.now.Add(40*day), false
	preview := retain(t, k, req)
	req.Apply = true
	before := len(tree(t, filepath.Join(dir, ".memkernel", "blobs")))
	if before != blobs || preview.Blobs != blobs-1 || preview.Orphans != 0 || preview.Sessions[0].Pointed != 1 || !preview.Sessions[0].Idle || preview.Sessions[0].UsageRows != 1 {
		t.Fatalf("%d files, preview: %+v", before, preview)
	}
	done := retain(t, k, req)
	if after := len(tree(t, filepath.Join(dir, ".memkernel", "blobs"))); after != 1 || done.Blobs != preview.Blobs {
		t.Errorf("%d of %d blobs are left, %+v", after, before, done)
	}
	clean(t, k)
	gone := 0
	for _, p := range pages.Pages {
		switch g := fetch(t, k, p.ID); {
		case g.Reason == api.GetForgotten && p.ID != cited:
			gone++
		case g.Reason != api.GetOK:
			t.Errorf("%+v", g)
		}
	}
	if gone < blobs/2 {
		t.Errorf("%d pages went", gone)
	}
	if st, err := k.Usage(context.Background(), billing.Options{}); err != nil || st.Total.Calls != 0 {
		t.Errorf("%+v, %v", st, err)
	}
	// The host takes the session up again: it stands as before, and restores.
	q := planned(t, k, narrow(c))
	for _, r := range q.Reduced {
		if g := fetch(t, k, r.Page); g.Reason != api.GetOK {
			t.Errorf("%s is shown as %s and does not restore: %+v", r.Page, r.Level, g)
		}
	}
	clean(t, k)
	if r := retain(t, k, api.RetainRequest{Blobs: 30 * day, Now: c.now.Add(time.Hour), Apply: true}); r.Blobs != 0 {
		t.Errorf("%+v", r)
	}
}

// A blob that nothing holds is found and removed, whatever its age; what is no blob
// stays.
func TestRetainOrphans(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	mustPlan(t, k, request(session(6, 1, 2, 9000)))
	blobs := filepath.Join(dir, ".memkernel", "blobs")
	before := len(tree(t, blobs))
	const orphan = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of hello
	os.MkdirAll(filepath.Join(blobs, "2c"), 0o700)
	os.WriteFile(filepath.Join(blobs, "2c", orphan), []byte("hello"), 0o600)
	os.WriteFile(filepath.Join(blobs, "2c", "README"), []byte("not ours"), 0o600)
	for _, apply := range []bool{false, true} {
		r := retain(t, k, api.RetainRequest{Apply: apply})
		if r.Orphans != 1 || r.OrphanBytes != 5 || r.Blobs != 1 || len(r.Sessions) != 0 {
			t.Errorf("%+v", r)
		}
	}
	if after := len(tree(t, blobs)); after != before+1 {
		t.Errorf("%d files, %d before", after, before)
	}
	if r := retain(t, k, api.RetainRequest{Apply: true}); r.Orphans != 0 {
		t.Errorf("%+v", r)
	}
	clean(t, k)
}

// TestRetainKilledAnywhere kills a session that retains before each of its writes:
// check is clean, and what the next plan shows restores.
func TestRetainKilledAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestRetainChild", 30, func(dir string, n int, _ []byte) {
		k := openKernel(t, dir)
		defer k.Close()
		clean(t, k)
		c := session(5, 2, 2, 9000)
		p := mustPlan(t, k, narrow(c))
		for _, r := range p.Reduced {
			if g := fetch(t, k, r.Page); g.Reason != api.GetOK {
				t.Fatalf("killed at %d: %+v", n, g)
			}
		}
		clean(t, k)
	})
}

// TestRetainChild is the session that TestRetainKilledAnywhere kills.
func TestRetainChild(t *testing.T) {
	k := openKernel(t, suite.Child(t))
	c := session(5, 2, 2, 9000)
	mustPlan(t, k, narrow(c))
	if r := retain(t, k, api.RetainRequest{Blobs: day, Now: c.now.Add(3 * day), Apply: true}); r.Blobs == 0 {
		t.Fatalf("%+v", r)
	}
	k.Close()
}
