// Package syncer keeps an index up to date in the background. It holds one goroutine, which
// signals, a clock and a watch over folders wake, the last known lag of the index, and the record
// of the last run. It is given the work of a run as functions: it never reads the index or the
// files, and nobody ever waits for a run but Close.
package syncer

import (
	"context"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/internal/store"
)

// DefaultInterval is the clock's interval if a watch is wanted and the system can't watch.
const DefaultInterval = 5 * time.Minute

// believed is for how long it is believed that the index agrees with the files.
// Looking costs a stat per file, which searches do not wait for.
const believed = 5 * time.Second

// The reasons for a look.
const (
	Start    = "session_start"
	Search   = "search"
	Interval = "interval"
	Watch    = "watch"
	// Asked is a run at a caller's request.
	Asked = "reindex"
)

// Options say when the index is brought up to date, and how that is done. Without
// OnStart, OnSearch, Interval and Watch it never is.
type Options struct {
	// OnStart does it when a session starts, OnSearch when a search found that the index lags.
	OnStart, OnSearch bool
	// Interval is how often it is done by the clock; 0 is never.
	Interval time.Duration
	// Watch, if not nil, names the folders to watch, so that the syncer runs after a change. If
	// the system can't watch, Interval is used, or DefaultInterval.
	Watch *watch.Options
	// Report, if not nil, is called after every run, by the goroutine that did it.
	Report func(Run)

	// Update brings the index up to date.
	Update func(context.Context) (Done, error)
	// Lag returns how far the index lags; whole is false if some files could not be looked at.
	Lag func(context.Context) (lag index.Lag, whole bool)
	// Version, if not nil, counts the writes to the files. If it has changed, a search does not
	// trust that the index agrees with them. Other processes write there, too, so no write counts
	// as one of this process alone: a search finds the same wherever it is asked.
	Version func(context.Context) (int64, error)
	// State is where the last run is written down; Now is the clock of its time.
	State store.Store
	Now   func() time.Time

	// After makes the clock's timers, Open the watcher. Defaults [time.After] and
	// [watch.Open].
	After func(time.Duration) <-chan time.Time
	Open  func(watch.Options) (Watcher, error)
}

// Watcher is the part of a [watch.Watcher] that the syncer needs.
type Watcher interface {
	Changed() <-chan struct{}
	State() (folders int, err error)
	Close() error
}

// Done is the result of an update: how many files it read, how many were gone, and why vectors
// are missing.
type Done struct {
	Files, Removed int
	Vectors        error
}

// WatchState describes the watch.
type WatchState struct {
	// On: changes are seen as they happen. Folders are watched.
	On      bool
	Folders int
	// Detail is why it is off, or sees only a part.
	Detail string
}

// Syncer keeps one index up to date. Its goroutine starts with the first signal, or
// with Begin if it watches or has a clock.
type Syncer struct {
	o Options

	mu sync.Mutex // guards the fields below
	// lag is how far the index lagged at checked.
	lag     index.Lag
	checked time.Time
	// version is that of the files at checked, 0 if that is not known.
	version int64
	// written counts the files that were written through here, own those since the index
	// was up to date.
	written, own int

	wake   chan struct{} // nil until it runs
	why    string        // of the wake-up that waits
	cancel context.CancelFunc
	done   chan struct{}
	closed bool
	// last is the last run, failed when the last run that failed ended.
	last     *Run
	failed   time.Time
	watching WatchState
}

// New makes a syncer that does not run yet.
func New(o Options) *Syncer {
	if o.After == nil {
		o.After = time.After
	}
	if o.Open == nil {
		o.Open = func(w watch.Options) (Watcher, error) { return watch.Open(w) }
	}
	return &Syncer{o: o}
}

// Begin starts the goroutine if it must run from the beginning.
func (s *Syncer) Begin() {
	if s.o.Watch == nil && s.o.Interval <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
}

// Close ends the background's work for good, and waits for it.
func (s *Syncer) Close() {
	s.mu.Lock()
	s.closed = true
	done := s.done
	if done != nil {
		s.cancel()
	}
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// SessionStarts signals that a session starts.
func (s *Syncer) SessionStarts() {
	if !s.o.OnStart {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal(Start)
}

// Wanting signals that a search found documents missing in the index.
func (s *Syncer) Wanting() {
	if !s.o.OnSearch {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.justFailed() {
		s.signal(Search)
	}
}

// Stale returns to a search how far the index lags the files, and whether only writes of this
// process are missing. The first answer in a process takes a look. Later answers are at most as
// old as the last look in the background.
func (s *Syncer) Stale(ctx context.Context) (lag index.Lag, own bool) {
	version := s.numbered(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked.IsZero() || version != s.version || version == 0 && s.o.Version != nil {
		before := s.written
		s.mu.Unlock()
		lag, version := s.look(ctx, version) // which asks a database, if that has the files
		s.mu.Lock()
		if s.written != before {
			lag.Files++
		}
		s.lag, s.checked, s.version = lag, time.Now(), version
	} else if time.Since(s.checked) >= believed {
		s.signal(Search)
	}
	return s.lag, s.o.Version == nil && s.lag.Removed == 0 && !s.lag.Rules && s.lag.Files <= s.own
}

// look finds how far the index lags files of at least a version. The version is 0 if not all
// could be looked at. Of files elsewhere at least one then counts as written, because nobody
// knows that none was.
func (s *Syncer) look(ctx context.Context, version int64) (index.Lag, int64) {
	lag, whole := s.o.Lag(ctx)
	if whole {
		return lag, version
	}
	if s.o.Version != nil {
		lag.Files = max(lag.Files, 1)
	}
	return lag, 0
}

// numbered returns the version of the files. Callers must ask for it before they look at the
// files, so that their findings are no older.
func (s *Syncer) numbered(ctx context.Context) int64 {
	if s.o.Version == nil {
		return 0
	}
	v, err := s.o.Version(ctx)
	if err != nil {
		return 0 // the files can't be listed either
	}
	return v
}

// Since reports whether the lag was measured after a moment.
func (s *Syncer) Since(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.checked.Before(t)
}

// Look finds how far the index lags the files. Writes made meanwhile count.
func (s *Syncer) Look(ctx context.Context) index.Lag {
	s.mu.Lock()
	before := s.written
	s.mu.Unlock()
	lag, version := s.look(ctx, s.numbered(ctx))
	s.mu.Lock()
	defer s.mu.Unlock()
	if ctx.Err() != nil {
		return s.lag
	}
	if s.written != before {
		lag.Files++
	}
	s.renewed(lag, version)
	return lag
}

// Renewed notes that the index was brought up to date, but for lag. Of files with versions
// it is not known with which that began, so that the next search looks.
func (s *Syncer) Renewed(lag index.Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed(lag, 0)
}

// renewed notes the lag of a version, or of now. The caller must hold s.mu.
func (s *Syncer) renewed(lag index.Lag, version int64) {
	s.lag, s.checked, s.version = lag, time.Now(), version
	if lag.Zero() {
		s.own = 0
	}
}

// Written notes that a file was written.
func (s *Syncer) Written() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written++
	s.own++
	s.lag.Files, s.checked = max(s.lag.Files, 1), time.Now()
}

// Status returns the state of the watch and the last run, of this process or else of another; nil
// if none is known.
func (s *Syncer) Status() (WatchState, *Run) {
	before := lastRun(s.o.State)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && (before == nil || before.Process == s.last.Process) {
		before = s.last
	}
	return s.watching, before
}

// justFailed keeps searches from asking for the same failure again and again. The caller must
// hold s.mu.
func (s *Syncer) justFailed() bool { return time.Since(s.failed) < believed }

// signal wakes the goroutine, and never waits for it. The caller must hold s.mu.
func (s *Syncer) signal(why string) {
	if s.closed {
		return
	}
	if s.wake == nil {
		s.start()
	}
	s.why = why
	select {
	case s.wake <- struct{}{}:
	default: // one waits already
	}
}

// start starts the goroutine. The caller must hold s.mu.
func (s *Syncer) start() {
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
	go s.run(ctx, s.wake, s.done)
}

func (s *Syncer) run(ctx context.Context, wake <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	w := s.openWatch()
	defer func() { closeWatch(w) }()
	var tick <-chan time.Time
	for {
		if every := interval(&s.o, w); tick == nil && every > 0 {
			tick = s.o.After(every)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
			s.mu.Lock()
			why := s.why
			s.mu.Unlock()
			s.attend(ctx, why)
		case <-tick:
			if w == nil {
				w = s.openWatch() // the system may have room by now
			}
			s.attend(ctx, Interval)
			tick = nil
		case <-changes(w):
			s.attend(ctx, Watch)
		}
		if w != nil {
			s.noteWatch(w, nil)
		}
	}
}

// attend measures the lag of the index and, unless a search only wanted to know, brings the index
// up to date.
func (s *Syncer) attend(ctx context.Context, why string) {
	if why == Search && !s.o.OnSearch {
		s.Look(ctx)
		return
	}
	d, err := s.o.Update(ctx)
	if ctx.Err() != nil {
		return // it is closed
	}
	s.Look(ctx)
	if err != nil {
		s.mu.Lock()
		s.failed = time.Now()
		s.mu.Unlock()
	}
	s.Ran(why, d, err)
}

// interval returns how often the clock must look: at least by default if changes are to be
// watched and can't be.
func interval(o *Options, w Watcher) time.Duration {
	if o.Interval > 0 || o.Watch == nil {
		return o.Interval
	}
	if w != nil {
		if _, err := w.State(); err == nil {
			return 0
		}
	}
	return DefaultInterval
}

func changes(w Watcher) <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.Changed()
}

func closeWatch(w Watcher) {
	if w != nil {
		w.Close()
	}
}

// openWatch begins to watch, if that is wanted. It returns nil if it isn't, or if the system
// can't watch.
func (s *Syncer) openWatch() Watcher {
	if s.o.Watch == nil {
		return nil
	}
	w, err := s.o.Open(*s.o.Watch)
	if err != nil {
		s.noteWatch(nil, err)
		return nil
	}
	s.noteWatch(w, nil)
	return w
}

// noteWatch keeps the state of the watch, or why there is none.
func (s *Syncer) noteWatch(w Watcher, err error) {
	st := WatchState{On: w != nil}
	if w != nil {
		st.Folders, err = w.State()
	}
	if err != nil {
		st.Detail = err.Error() + "; changes that are not seen are found by the clock"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = st
}
