package kernel_test

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// driver is told of a syncer's runs.
type driver struct{ runs chan api.SyncRun }

func drive(o *kernel.SyncOptions) *driver {
	d := &driver{runs: make(chan api.SyncRun, 100)}
	o.Report = func(r api.SyncRun) { d.runs <- r }
	return d
}

// synced opens a kernel whose syncer tells a test of its runs.
func synced(t *testing.T, o kernel.SyncOptions) (*kernel.Kernel, string, *driver) {
	t.Helper()
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	rest(t, dir)
	d := drive(&o)
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: o}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k, dir, d
}

// rest makes files of which it is sure that they were not written while they were
// read: those are read again.
func rest(t *testing.T, dir string) {
	t.Helper()
	hour := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".md") {
			err = os.Chtimes(path, hour, hour)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// note writes a file that has rested, and touches no other.
func note(t *testing.T, dir, path, text string) {
	t.Helper()
	put(t, dir, path, text)
	rest(t, filepath.Join(dir, filepath.FromSlash(path)))
}

// run waits for the syncer.
func (d *driver) run(t *testing.T, why string, files int) {
	t.Helper()
	select {
	case r := <-d.runs:
		if r.Reason != why || r.Files != files || r.Error != "" {
			t.Fatalf("ran by %s: %d files, %s; want %s, %d files", r.Reason, r.Files, r.Error, why, files)
		}
	case <-time.After(time.Minute):
		t.Fatalf("%s: nothing ran in a minute", why)
	}
}

func found(t *testing.T, k *kernel.Kernel, query string) *retrieval.Result {
	t.Helper()
	res, err := k.Search(context.Background(), api.SearchRequest{Query: query, Private: true})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestSyncAtSessionStart(t *testing.T) {
	k, dir, d := synced(t, kernel.SyncOptions{OnStart: true, Wait: -1})
	reindex(t, k)
	if _, err := k.StartSession(context.Background(), api.Boundary{SessionKey: "one"}); err != nil {
		t.Fatal(err)
	}
	d.run(t, "session_start", 0)
	note(t, dir, "memory/birds.md", "The heron eats herring.\n")
	c := newConversation(1)
	c.user()
	mustPlan(t, k, api.PlanRequest{SessionKey: "two", Model: "claude-opus-4-5", Messages: c.msgs, Now: c.now})
	d.run(t, "session_start", 1)
	st, err := k.Status(context.Background(), nil)
	if s := st.Memory.Sync; err != nil || !s.OnStart || s.OnSearch || s.Watch.On || s.Last == nil || s.Last.Reason != "session_start" || s.Last.Files != 1 || s.Last.Process != os.Getpid() {
		t.Errorf("%v %+v", err, s)
	}
	// A session that goes on starts nothing, nor does a search.
	c.grow()
	mustPlan(t, k, api.PlanRequest{SessionKey: "two", Model: "claude-opus-4-5", Messages: c.msgs, Now: c.now})
	note(t, dir, "memory/more.md", "The stork eats frogs.\n")
	found(t, k, "frogs")
	if len(d.runs) != 0 {
		t.Errorf("ran by %v", <-d.runs)
	}
}

// A search that leaves the index as it is says by how much it is behind, and has it
// brought up to date behind its back.
func TestSyncOnSearch(t *testing.T) {
	k, dir, d := synced(t, kernel.SyncOptions{OnSearch: true, Wait: -1})
	if res := found(t, k, "anything"); res.Reason != retrieval.Disabled {
		t.Fatalf("without an index: %+v", res)
	}
	r := <-d.runs // there was none: it is made
	if r.Reason != "search" || r.Files == 0 {
		t.Fatalf("%+v", r)
	}
	if err := k.Close(); err != nil {
		t.Fatal(err)
	}
	note(t, dir, "memory/birds.md", "The heron eats herring.\n")
	if err := os.Remove(filepath.Join(dir, "USER.md")); err != nil {
		t.Fatal(err)
	}
	o := kernel.SyncOptions{OnSearch: true, Wait: -1}
	d = drive(&o)
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: o}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	res := found(t, k, "herring")
	if res.Reason != retrieval.StaleIndex || !strings.Contains(res.Detail, "(1 changed, 1 gone)") || res.Behind == nil || res.Behind.Files != 1 || res.Behind.Removed != 1 {
		t.Errorf("%+v", res)
	}
	d.run(t, "search", 1)
	if res := found(t, k, "herring"); res.Reason != retrieval.OK || len(res.Hits) != 1 {
		t.Errorf("%+v", res)
	}
}

// Such a search doesn't wait for the syncer, however long that takes.
func TestSearchNeverWaits(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	rest(t, dir)
	busy, release := make(chan bool, 100), make(chan bool)
	o := kernel.SyncOptions{OnSearch: true, Wait: -1, Report: func(api.SyncRun) { busy <- true; <-release }}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: o}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	found(t, k, "anything") // there is no index: it is made
	<-busy
	note(t, dir, "memory/birds.md", "The heron eats herring.\n")
	if _, err := k.Remember(context.Background(), api.RememberRequest{Text: "The owl is awake."}); err != nil {
		t.Fatal(err)
	}
	for range 3 { // while the syncer stands still
		if res := found(t, k, "herring"); res.Reason != retrieval.StaleIndex || res.Behind == nil || len(res.Hits) != 0 {
			t.Errorf("%+v", res)
		}
	}
	close(release)
	<-busy
	if res := found(t, k, "herring"); len(res.Hits) == 0 {
		t.Errorf("%+v", res)
	}
}

// Without options nothing is brought up to date by itself.
func TestSyncOff(t *testing.T) {
	k, dir, d := synced(t, kernel.SyncOptions{Wait: -1})
	reindex(t, k)
	note(t, dir, "memory/birds.md", "The heron eats herring.\n")
	if _, err := k.StartSession(context.Background(), api.Boundary{SessionKey: "one"}); err != nil {
		t.Fatal(err)
	}
	found(t, k, "herring")
	k.Close()
	if len(d.runs) != 0 {
		t.Errorf("%d runs", len(d.runs))
	}
}

// Close waits for all that runs: no goroutine of ours is left, whatever started it.
func TestSyncLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	for range 5 {
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Sync: kernel.SyncOptions{OnStart: true, OnSearch: true, Watch: true, Interval: time.Hour}}})
		if err != nil {
			t.Fatal(err)
		}
		found(t, k, "anything")
		if _, err := k.StartSession(context.Background(), api.Boundary{SessionKey: "one"}); err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if err := k.Close(); err != nil {
			t.Fatalf("the second time: %v", err)
		}
		buf := make([]byte, 1<<20)
		for _, g := range strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
			ended := strings.Contains(g, "runtime.goexit1") // and is not put away yet
			if !ended && (strings.Contains(g, "internal/memory") || strings.Contains(g, "index/watch.")) {
				t.Fatalf("still running:\n%s", g)
			}
		}
	}
}
