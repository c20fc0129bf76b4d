package kernel

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/markdownstore"
)

// DefaultSyncInterval is how often the index is brought up to date by the clock.
const DefaultSyncInterval = 5 * time.Minute

// SyncOptions say when the index is brought up to date by itself, in the
// background. The zero value means never: Reindex is then the only way. Searches
// never wait for it, and only one process at a time does it.
type SyncOptions struct {
	// OnStart does it when a session starts: at StartSession, and at a session's
	// first plan.
	OnStart bool
	// OnSearch does it when a search found the index behind the files.
	OnSearch bool
	// Interval is how often it is done by the clock; 0 is never.
	Interval time.Duration
	// Watch does it when files have changed and Debounce has passed without another
	// change. Where the system can't watch, Interval stands in, or its default.
	Watch bool
	// Debounce has the default [watch.DefaultDebounce].
	Debounce time.Duration
	// Report, if not nil, is told after every run, by the goroutine that did it.
	Report func(SyncRun)

	after func(time.Duration) <-chan time.Time // for tests
	watch func(watch.Options) (watcher, error)
}

// watcher is what is needed of a watch.Watcher.
type watcher interface {
	Changed() <-chan struct{}
	State() (folders int, err error)
	Close() error
}

func (o *SyncOptions) setDefaults() {
	if o.Debounce <= 0 {
		o.Debounce = watch.DefaultDebounce
	}
	if o.after == nil {
		o.after = time.After
	}
	if o.watch == nil {
		o.watch = func(w watch.Options) (watcher, error) { return watch.Open(w) }
	}
}

// standing tells whether the syncer is to run from the beginning.
func (o *SyncOptions) standing() bool { return o.Watch || o.Interval > 0 }

// SyncReason says what made the syncer look.
type SyncReason string

// The reasons.
const (
	SyncStart    SyncReason = "session_start"
	SyncSearch   SyncReason = "search"
	SyncInterval SyncReason = "interval"
	SyncWatch    SyncReason = "watch"
	// SyncAsked is a Reindex that somebody asked for.
	SyncAsked SyncReason = "reindex"
)

// SyncRun is one time that the index was brought up to date.
type SyncRun struct {
	Reason SyncReason `json:"reason"`
	// Time is when it ended.
	Time time.Time `json:"time"`
	// Files were read, Removed are gone.
	Files   int `json:"files"`
	Removed int `json:"removed"`
	// Process did it; Watching tells whether it saw changes as they happened.
	Process  int  `json:"process"`
	Watching bool `json:"watching"`
	// Error is why it failed, or why vectors are missing; "" if neither.
	Error string `json:"error,omitempty"`
}

// syncer is the one goroutine of a kernel that writes its index by itself. It is
// started by the first signal, or with the kernel if it watches or has a clock.
// freshness.mu guards all of it.
type syncer struct {
	wake   chan struct{} // nil until it runs
	why    SyncReason    // of the wake-up that waits
	cancel context.CancelFunc
	done   chan struct{}
	closed bool
	// last is the last run, failed when the last run that failed ended, watching
	// the state of the watch.
	last     *SyncRun
	failed   time.Time
	watching WatchState
}

// WatchState says how the watch over the workspace's folders is.
type WatchState struct {
	// On: changes are seen as they happen. Folders are watched.
	On      bool `json:"on"`
	Folders int  `json:"folders"`
	// Detail is why it is off, or sees only a part; "" if there is nothing to say.
	Detail string `json:"detail,omitempty"`
}

// justFailed keeps searches from asking for the same failure again and again.
func (s *syncer) justFailed() bool { return time.Since(s.failed) < checkEvery }

// signal wakes the syncer, and never waits for it. freshness.mu is held.
func (m *memory) signal(why SyncReason) {
	s := &m.fresh.syncer
	if s.closed {
		return
	}
	if s.wake == nil {
		m.startSyncer()
	}
	s.why = why
	select {
	case s.wake <- struct{}{}:
	default: // one waits already
	}
}

// begin starts the syncer if it is to run from the beginning.
func (m *memory) begin() {
	if m == nil || !m.opts.Sync.standing() {
		return
	}
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	m.startSyncer()
}

// sessionStarts tells the syncer that a session starts.
func (m *memory) sessionStarts() {
	if m == nil || !m.opts.Sync.OnStart {
		return
	}
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	m.signal(SyncStart)
}

// startSyncer starts the goroutine. freshness.mu is held.
func (m *memory) startSyncer() {
	s := &m.fresh.syncer
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
	go m.runSyncer(ctx, s.wake, s.done)
}

// stop ends the background's work for good, and waits for it.
func (f *freshness) stop() {
	f.mu.Lock()
	s := &f.syncer
	s.closed = true
	done := s.done
	if done != nil {
		s.cancel()
	}
	f.mu.Unlock()
	if done != nil {
		<-done
	}
}

func (m *memory) runSyncer(ctx context.Context, wake <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	o := &m.opts.Sync
	w := m.openWatch()
	defer func() { closeWatch(w) }()
	var tick <-chan time.Time
	for {
		if every := m.interval(w); tick == nil && every > 0 {
			tick = o.after(every)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
			m.attend(ctx, m.fresh.reason())
		case <-tick:
			if o.Watch && w == nil {
				w = m.openWatch() // the system may have room by now
			}
			m.attend(ctx, SyncInterval)
			tick = nil
		case <-changes(w):
			m.attend(ctx, SyncWatch)
		}
		m.noteWatch(w, nil)
	}
}

// interval is how often the clock is to look: where changes are to be seen and
// can't be, at least by default.
func (m *memory) interval(w watcher) time.Duration {
	o := &m.opts.Sync
	if o.Interval > 0 || !o.Watch {
		return o.Interval
	}
	if w != nil {
		if _, err := w.State(); err == nil {
			return 0
		}
	}
	return DefaultSyncInterval
}

func changes(w watcher) <-chan struct{} {
	if w == nil {
		return nil
	}
	return w.Changed()
}

func closeWatch(w watcher) {
	if w != nil {
		w.Close()
	}
}

// openWatch begins to watch, if that is wanted; nil if it isn't, or can't be done.
func (m *memory) openWatch() watcher {
	o := &m.opts.Sync
	if !o.Watch {
		return nil
	}
	w, err := o.watch(watch.Options{Root: m.private.Dir(), Deep: []string{"memory"}, Debounce: o.Debounce,
		Skip: markdownstore.Skipped, Relevant: relevant})
	if err != nil {
		m.noteWatch(nil, err)
		return nil
	}
	m.noteWatch(w, nil)
	return w
}

// relevant tells whether a change of a path can change what is indexed.
func relevant(path string) bool {
	c, ok := markdownstore.Classify(path)
	return ok && c.Indexed
}

func (m *memory) noteWatch(w watcher, err error) {
	if !m.opts.Sync.Watch || w == nil && err == nil {
		return
	}
	st := WatchState{On: w != nil}
	if w != nil {
		st.Folders, err = w.State()
	}
	if err != nil {
		st.Detail = err.Error() + "; changes that are not seen are found by the clock"
	}
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	m.fresh.syncer.watching = st
}

func (f *freshness) reason() SyncReason {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.syncer.why
}

// attend looks how far the index is behind and, unless a search only wanted to know,
// brings it up to date.
func (m *memory) attend(ctx context.Context, why SyncReason) {
	if why == SyncSearch && !m.opts.Sync.OnSearch {
		lag := m.lag(ctx)
		if ctx.Err() == nil {
			m.fresh.renewed(lag)
		}
		return
	}
	r, err := m.reindex(ctx, &ReindexOptions{delta: true})
	if ctx.Err() != nil {
		return // the kernel closes
	}
	lag := m.lag(ctx)
	m.fresh.mu.Lock()
	f := &m.fresh
	f.lag, f.checked = lag, time.Now()
	if err != nil {
		f.syncer.failed = f.checked
	}
	m.fresh.mu.Unlock()
	run := m.ran(why, r, err)
	if m.opts.Sync.Report != nil {
		m.opts.Sync.Report(*run)
	}
}

// ran writes down that the index was brought up to date, or was not.
func (m *memory) ran(why SyncReason, r *ReindexReport, err error) *SyncRun {
	run := &SyncRun{Reason: why, Time: m.now(), Process: os.Getpid()}
	if r != nil {
		run.Files, run.Removed = r.Read, r.Removed
	}
	switch {
	case err != nil:
		run.Error = err.Error()
	case r != nil && r.EmbedErr != nil:
		run.Error = "vectors: " + r.EmbedErr.Error()
	}
	m.fresh.mu.Lock()
	run.Watching = m.fresh.syncer.watching.On
	m.fresh.syncer.last = run
	m.fresh.mu.Unlock()
	m.keepRun(run)
	return run
}

// missingIndex wakes the syncer where a search found no index, or none that can be
// read, and searches are to have it brought up to date.
func (m *memory) missingIndex(err error) {
	if !m.opts.Sync.OnSearch || !errors.Is(err, index.ErrMissing) && !errors.Is(err, index.ErrOlder) && !errors.Is(err, index.ErrDamaged) {
		return
	}
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	if !m.fresh.syncer.justFailed() {
		m.signal(SyncSearch)
	}
}

// SyncStatus says how the index is kept up to date in the background.
type SyncStatus struct {
	OnStart         bool       `json:"on_session_start"`
	OnSearch        bool       `json:"on_search"`
	IntervalSeconds float64    `json:"interval_seconds"`
	Watch           WatchState `json:"watch"`
	// Last is the last run, of this kernel or else of another process; nil if none is
	// known.
	Last *SyncRun `json:"last,omitempty"`
}

func (m *memory) syncStatus() SyncStatus {
	before := m.lastRun()
	m.fresh.mu.Lock()
	defer m.fresh.mu.Unlock()
	o, s := &m.opts.Sync, &m.fresh.syncer
	if s.last != nil && (before == nil || before.Process == s.last.Process) {
		before = s.last
	}
	return SyncStatus{OnStart: o.OnStart, OnSearch: o.OnSearch, IntervalSeconds: o.Interval.Seconds(), Watch: s.watching, Last: before}
}
