package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// ended is what retention does a year from now, and so from when the test wrote.
func ended(t fataler, k *kernel.Kernel, apply bool) *api.Retained {
	t.Helper()
	return retain(t, k, api.RetainRequest{Sessions: 30 * day, Now: time.Now().Add(365 * day), Apply: apply})
}

// large plans a session of a key with a blob for each of seed calls, long ago by the
// clock of its host, and gives the page of the last.
func large(t fataler, k *kernel.Kernel, key string, seed int64) string {
	t.Helper()
	c := newConversation(seed)
	c.now = time.Now().Add(-500 * day)
	c.user()
	c.loop(int(seed), 9000)
	req := narrow(c)
	req.SessionKey = key
	p := mustPlan(t, k, req)
	page := ""
	for _, m := range p.Debug.Included {
		if strings.HasPrefix(m.ID, "ev-") {
			page = m.ID
		}
	}
	if page == "" {
		t.Fatalf("no page of a result is shown: %+v", p.Debug.Included)
	}
	return page
}

func getIn(t fataler, k *kernel.Kernel, key, id string) *api.Content {
	t.Helper()
	c, err := k.Get(context.Background(), key, id)
	if err != nil {
		t.Fatalf("get %s: %v", id, err)
	}
	return c
}

// TestSessionsEnd: a session that was not used for so long goes as a whole, with its
// blobs, and pointers into it say so; one that is younger or in use stays.
func TestSessionsEnd(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	page := large(t, k, "old/one", 1)
	kept := large(t, k, "kept", 2)
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	if r := retain(t, k, api.RetainRequest{Sessions: 30 * day, Now: time.Now().Add(29 * day), Apply: true}); len(r.Ended) != 0 {
		t.Fatalf("they are young: %+v", r.Ended)
	}
	// One of them is planned again, and stays in memory.
	large(t, k, "kept", 2)
	before := tree(t, dir)
	preview := ended(t, k, false)
	if now := tree(t, dir); len(now) != len(before) {
		t.Errorf("a preview wrote: %d files were %d", len(now), len(before))
	}
	if len(preview.Ended) != 1 || preview.Ended[0].Session != "old/one" || preview.Ended[0].Bytes == 0 || preview.Blobs == 0 || preview.Orphans != 0 {
		t.Fatalf("%+v", preview)
	}
	done := ended(t, k, true)
	if len(done.Ended) != 1 || done.Blobs != preview.Blobs || done.BlobBytes != preview.BlobBytes {
		t.Errorf("%+v, previewed %+v", done, preview)
	}
	for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
		if strings.Contains(f, "old_one") {
			t.Errorf("%s is left", f)
		}
	}
	if c := getIn(t, k, "old/one", page); c.Reason != api.GetForgotten || !strings.Contains(c.Detail, "ended on") {
		t.Errorf("%+v", c)
	}
	if c := getIn(t, k, "old/one", "hello"); c.Reason != api.GetNoMatch {
		t.Errorf("%+v", c)
	}
	if c := getIn(t, k, "kept", kept); c.Reason != api.GetOK {
		t.Errorf("%+v", c)
	}
	clean(t, k)
	// The host takes the key up again: it is a session like any other.
	if again := large(t, k, "old/one", 1); getIn(t, k, "old/one", again).Reason != api.GetOK {
		t.Error("it can't be taken up again")
	}
	clean(t, k)
	k.Release("old/one")
	if r := ended(t, k, true); len(r.Ended) != 1 {
		t.Errorf("it ends again: %+v", r)
	}
	if r := ended(t, k, true); len(r.Ended) != 0 || r.Blobs != 0 {
		t.Errorf("nothing is left to end: %+v", r)
	}
}

// TestSessionsThatStay: another process holds it, memory names it, retention's own writes
// are no use of it.
func TestSessionsThatStay(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	named := large(t, k, "named", 4)
	for _, key := range []string{"held", "idle"} {
		large(t, k, key, 2)
	}
	k.Close()
	if err := os.WriteFile(filepath.Join(dir, "MEMORY.md"), []byte("# Memory\n\n- The tide table stands in "+named+".\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	year := time.Now().Add(-450 * day)
	for _, f := range tree(t, sessionsDir(dir)) {
		if err := os.Chtimes(f, year, year); err != nil {
			t.Fatal(err)
		}
	}
	lock := flock.New(filepath.Join(sessionsDir(dir), "held", "lock"))
	if ok, err := lock.TryLock(); !ok {
		t.Fatal(err)
	}
	k = openKernel(t, dir)
	defer k.Close()
	// The blobs go first; that is written to the journal today.
	if r := retain(t, k, api.RetainRequest{Blobs: 30 * day, Now: time.Now()}); r.Blobs == 0 {
		t.Fatalf("%+v", r)
	}
	lock.Unlock()
	retain(t, k, api.RetainRequest{Blobs: 30 * day, Now: time.Now(), Apply: true})
	if ok, err := lock.TryLock(); !ok {
		t.Fatal(err)
	}
	r, err := k.Retain(context.Background(), api.RetainRequest{Sessions: 400 * day, Now: time.Now()})
	if err != nil || len(r.Ended) != 2 {
		t.Fatalf("%v, %+v", err, r)
	}
	done := make(chan *api.Retained)
	go func() {
		r, _ := k.Retain(context.Background(), api.RetainRequest{Sessions: 400 * day, Now: time.Now(), Apply: true})
		done <- r
	}()
	for { // what is asked of the other sessions waits for the lock
		if _, err := os.Stat(filepath.Join(sessionsDir(dir), "idle")); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	lock.Unlock()
	r = <-done
	if r == nil || len(r.Ended) != 1 || r.Ended[0].Session != "idle" || len(r.Cited) != 1 || r.Cited[0] != "named" {
		t.Errorf("%+v", r)
	}
	if entries, err := os.ReadDir(sessionsDir(dir)); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// TestEndedBehindMyBack: a process that has a session in memory goes on well after another
// one ended it.
func TestEndedBehindMyBack(t *testing.T) {
	dir := t.TempDir()
	mine := openKernel(t, dir)
	defer mine.Close()
	page := large(t, mine, "s", 1)
	other := openKernel(t, dir)
	defer other.Close()
	if r := ended(t, other, true); len(r.Ended) != 1 {
		t.Fatalf("%+v", r)
	}
	if c := getIn(t, mine, "s", page); c.Reason != api.GetForgotten {
		t.Errorf("%+v", c)
	}
	if again := large(t, mine, "s", 1); getIn(t, other, "s", again).Reason != api.GetOK {
		t.Error("what was planned after it ended is lost")
	}
	clean(t, other)
}

// TestEndedKilledAnywhere kills a process that ends a session before each of its writes:
// the session stands whole or is gone, and the next run comes to an end.
func TestEndedKilledAnywhere(t *testing.T) {
	suite.EveryWrite(t, "TestEndedChild", 25, func(dir string, n int, out []byte) {
		k := openKernel(t, dir)
		defer k.Close()
		clean(t, k)
		page := strings.TrimSpace(string(out))
		if page == "" {
			return // it was not planned yet
		}
		switch c := getIn(t, k, "s", page); c.Reason {
		case api.GetOK, api.GetForgotten:
		default:
			t.Fatalf("killed at %d: %+v", n, c)
		}
		k.Release("s")
		ended(t, k, true)
		if c := getIn(t, k, "s", page); c.Reason != api.GetForgotten {
			t.Fatalf("killed at %d: %+v", n, c)
		}
		for _, f := range tree(t, filepath.Join(dir, ".memkernel")) {
			if strings.Contains(f, "blobs"+string(filepath.Separator)) || strings.HasSuffix(f, "journal.jsonl") {
				t.Fatalf("killed at %d: %s is left", n, f)
			}
		}
		clean(t, k)
	})
}

// TestEndedChild is the process that TestEndedKilledAnywhere kills.
func TestEndedChild(t *testing.T) {
	dir := suite.Child(t)
	k := openKernel(t, dir)
	page := large(t, k, "s", 1)
	os.Stdout.WriteString(page + "\n")
	k.Close()
	k = openKernel(t, dir)
	if r := ended(t, k, true); len(r.Ended) != 1 {
		t.Fatalf("%+v", r)
	}
	k.Close()
}
