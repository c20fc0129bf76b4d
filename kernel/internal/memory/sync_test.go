package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// driver is a syncer's clock and watch in a test's hands.
type driver struct {
	ticks   chan chan time.Time // one per time that the clock is set
	every   chan time.Duration
	changed chan struct{}
	runs    chan api.SyncRun
	closed  chan struct{}
	watched watch.Options
}

func (d *driver) Changed() <-chan struct{} { return d.changed }
func (d *driver) State() (int, error)      { return 2, nil }
func (d *driver) Close() error             { close(d.closed); return nil }

// drive puts the clock and the watch of a memory into a test's hands; refuse is why
// nothing can be watched.
func drive(o *SyncOptions, refuse error) *driver {
	d := &driver{ticks: make(chan chan time.Time, 100), every: make(chan time.Duration, 100), changed: make(chan struct{}), runs: make(chan api.SyncRun, 100), closed: make(chan struct{})}
	o.After = func(every time.Duration) <-chan time.Time {
		c := make(chan time.Time)
		d.every <- every
		d.ticks <- c
		return c
	}
	o.Open = func(w watch.Options) (watcher, error) {
		if refuse != nil {
			return nil, refuse
		}
		d.watched = w
		return d, nil
	}
	o.Report = func(r api.SyncRun) { d.runs <- r }
	return d
}

// synced opens a memory whose syncer a test drives, and begins.
func synced(t *testing.T, dir string, o SyncOptions, refuse error) (*Memory, *driver) {
	t.Helper()
	d := drive(&o, refuse)
	m := opens(t, dir, func(mo *Options) { mo.Sync = o })
	m.Sync.Begin()
	return m, d
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

func found(m *Memory, query string) retrieval.Result {
	return m.Search(context.Background(), m.Scope(true, "", "", ""), retrieval.Query{Text: query, Now: time.Now()}, Patience{})
}

func TestSyncByClock(t *testing.T) {
	dir := workspace(t)
	m, d := synced(t, dir, SyncOptions{Interval: 7 * time.Minute}, nil)
	if every := <-d.every; every != 7*time.Minute {
		t.Errorf("the clock is set to %v", every)
	}
	(<-d.ticks) <- time.Now()
	d.run(t, "interval", 2)
	note(t, dir, "memory/birds.md", "The heron eats herring.\n")
	(<-d.ticks) <- time.Now()
	d.run(t, "interval", 1)
	if res := found(m, "herring"); len(res.Hits) != 1 || res.Reason != retrieval.OK || res.Behind != nil {
		t.Errorf("%+v", res)
	}
}

func TestSyncByWatch(t *testing.T) {
	dir := workspace(t)
	m, d := synced(t, dir, SyncOptions{Watch: &watch.Options{Debounce: time.Second}}, nil)
	reindexed(t, m)
	note(t, dir, "memory/deep/birds.md", "The heron eats herring.\n")
	d.changed <- struct{}{}
	d.run(t, "watch", 1)
	if len(found(m, "herring").Hits) != 1 {
		t.Error("not found")
	}
	if w, last := m.Sync.Status(); !w.On || w.Folders != 2 || last == nil || last.Reason != "watch" || !last.Watching {
		t.Errorf("%+v %+v", w, last)
	}
	if w := d.watched; w.Root != m.Private.Dir() || w.Debounce != time.Second || !w.Relevant("memory/x.md") || w.Relevant("main.go") || w.Relevant("AGENTS.md") {
		t.Errorf("watched is %+v", w)
	}
	if len(d.every) != 0 {
		t.Error("a clock runs though changes are seen")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	<-d.closed
}

// Where the system can't watch, the clock stands in and the status says why.
func TestSyncWithoutWatch(t *testing.T) {
	m, d := synced(t, workspace(t), SyncOptions{Watch: &watch.Options{}}, errors.New("too many folders are watched"))
	if every := <-d.every; every != defaultInterval {
		t.Errorf("the clock is set to %v", every)
	}
	(<-d.ticks) <- time.Now()
	<-d.runs
	if w, _ := m.Sync.Status(); w.On || !strings.Contains(w.Detail, "too many folders") {
		t.Errorf("%+v", w)
	}
}

// Two over one state folder bring it up to date one after the other; each knows the
// other's run.
func TestSyncByTwo(t *testing.T) {
	dir := workspace(t)
	m, d := synced(t, dir, SyncOptions{Interval: time.Hour}, nil)
	n, e := synced(t, dir, SyncOptions{Interval: time.Hour}, nil)
	(<-d.ticks) <- time.Now()
	(<-e.ticks) <- time.Now()
	a, b := <-d.runs, <-e.runs
	if a.Error != "" || b.Error != "" || a.Files+b.Files == 0 {
		t.Errorf("%+v %+v", a, b)
	}
	for _, m := range []*Memory{m, n} {
		if res := found(m, "worker retries"); res.Reason != retrieval.OK || len(res.Hits) == 0 {
			t.Errorf("%+v", res)
		}
	}
	// Another process's run is known by what it wrote down, a broken record is none.
	third := opens(t, dir, nil)
	if _, last := third.Sync.Status(); last == nil || last.Reason != "interval" || last.Process != os.Getpid() {
		t.Errorf("%+v", last)
	}
	for _, text := range []string{"{", `{"format":2,"reason":"interval"}`, ""} {
		put(t, filepath.Join(dir, ".state"), "sync.json", text)
		if _, last := third.Sync.Status(); last != nil {
			t.Errorf("%q: %+v", text, last)
		}
	}
}
