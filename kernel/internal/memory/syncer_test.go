package memory

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// syncFake is what a syncer keeps up to date.
type syncFake struct {
	lag  index.Lag
	part bool   // not all can be looked at
	look func() // is called when it is looked for, if not nil
	done api.Reindexed
	err  error
	runs chan api.SyncRun
}

func (f *syncFake) syncer(t *testing.T, o SyncOptions) *syncer {
	t.Helper()
	f.runs = make(chan api.SyncRun, 10)
	o.State, o.Now = store.Files(t.TempDir()), time.Now
	o.Lag = func(context.Context) (index.Lag, bool) {
		lag, whole := f.lag, !f.part
		if look := f.look; look != nil {
			f.look = nil
			look()
		}
		return lag, whole
	}
	o.Update = func(context.Context) (*api.Reindexed, error) { return &f.done, f.err }
	o.Report = func(r api.SyncRun) { f.runs <- r }
	s := newSyncer(o)
	t.Cleanup(s.Close)
	return s
}

// Searches have a failing index tried once, and not again and again.
func TestFailureIsNotRepeated(t *testing.T) {
	f := &syncFake{lag: index.Lag{Files: 1}, err: errors.New("the disk is full")}
	s := f.syncer(t, SyncOptions{OnStart: true, OnSearch: true})
	s.Wanting()
	if r := <-f.runs; r.Reason != "search" || r.Error != "the disk is full" {
		t.Errorf("%+v", r)
	}
	s.SessionStarts() // is no search: it tries again
	if r := <-f.runs; r.Reason != "session_start" {
		t.Errorf("%+v", r)
	}
	s.Wanting()
	if lag, _ := s.Stale(context.Background()); lag.Files != 1 {
		t.Errorf("%+v", lag)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != "session_start" {
		t.Errorf("the newest signal is %s", s.why)
	}
}

// That vectors are missing is told of a run, and is no failure.
func TestMissingVectorsAreTold(t *testing.T) {
	f := &syncFake{done: api.Reindexed{SyncReport: index.SyncReport{Read: 3, Removed: 1}, EmbedErr: errors.New("nobody answers")}}
	s := f.syncer(t, SyncOptions{OnStart: true, OnSearch: true})
	s.SessionStarts()
	if r := <-f.runs; r.Reason != "session_start" || r.Files != 3 || r.Removed != 1 || r.Error != "vectors: nobody answers" {
		t.Errorf("%+v", r)
	}
	s.Wanting()
	if r := <-f.runs; r.Reason != "search" {
		t.Errorf("%+v", r)
	}
}

// What somebody wrote elsewhere while it was looked how far the index is behind, and whoever
// brought it up to date, counts for the next search.
func TestWrittenMeanwhile(t *testing.T) {
	ctx := t.Context()
	for name, what := range map[string]func(*syncer){
		"a look":   func(s *syncer) { s.Look(ctx) },
		"a search": func(s *syncer) { s.Stale(ctx) },
		"a run":    func(s *syncer) { s.o.Lag(ctx); s.Renewed(index.Lag{}) },
	} {
		version := int64(1)
		f := &syncFake{}
		s := f.syncer(t, SyncOptions{Version: func(context.Context) (int64, error) { return version, nil }})
		f.look = func() {
			version, f.lag = 2, index.Lag{Files: 1}
			s.Stale(ctx) // another search
		}
		what(s)
		if lag, _ := s.Stale(ctx); lag.Files != 1 {
			t.Errorf("after %s: %+v", name, lag)
		}
	}
}

// Where files could not be looked at, the next search looks again.
func TestNotLookedAt(t *testing.T) {
	ctx := t.Context()
	for name, what := range map[string]func(*syncer){"a look": func(s *syncer) { s.Look(ctx) }, "a search": func(s *syncer) { s.Stale(ctx) }} {
		f := &syncFake{part: true}
		s := f.syncer(t, SyncOptions{Version: func(context.Context) (int64, error) { return 1, nil }})
		what(s)
		f.lag, f.part = index.Lag{Files: 1}, false
		if lag, _ := s.Stale(ctx); lag.Files != 1 {
			t.Errorf("after %s: %+v", name, lag)
		}
	}
}

// Where files elsewhere can't be asked for, no search takes the index for up to date, however often
// it looks, and the next one does where they can.
func TestNotAsked(t *testing.T) {
	f, down := &syncFake{}, false
	s := f.syncer(t, SyncOptions{Version: func(context.Context) (int64, error) {
		if down {
			return 0, errors.New("out of reach")
		}
		return 1, nil
	}})
	for range 2 {
		down, f.part = true, true
		for range 2 {
			if lag, _ := s.Stale(t.Context()); lag.Zero() {
				t.Error("it counts as up to date, and nobody could ask")
			}
		}
		down, f.part = false, false
		if lag, _ := s.Stale(t.Context()); !lag.Zero() {
			t.Errorf("it is asked again: %+v", lag)
		}
		s.Renewed(index.Lag{})
	}
}

// Without options no signal runs anything, though searches are told how far behind it is.
func TestOff(t *testing.T) {
	f := &syncFake{lag: index.Lag{Removed: 2}}
	s := f.syncer(t, SyncOptions{})
	s.Begin()
	s.SessionStarts()
	s.Wanting()
	if lag, _ := s.Stale(context.Background()); lag.Removed != 2 {
		t.Errorf("%+v", lag)
	}
	s.Written()
	if lag, _ := s.Stale(context.Background()); lag.Files != 1 || lag.Removed != 2 {
		t.Errorf("after a file was written: %+v", lag)
	}
	s.Close()
	if len(f.runs) != 0 || s.done != nil {
		t.Error("it ran")
	}
	s.SessionStarts()
	s.Stale(context.Background())
	s.Close() // a second time
}
