package memory

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// defaultInterval is the clock's interval if a watch is wanted and the system can't watch.
const defaultInterval = 5 * time.Minute

// believed is how long the index is trusted to agree with the files after the files were looked at.
// A look costs a stat per file, for which searches do not wait.
const believed = 5 * time.Second

// SyncOptions decide when and how the index is brought up to date. Without OnStart, OnSearch,
// Interval and Watch it is never brought up to date.
type SyncOptions struct {
	// OnStart starts a run when a session starts. OnSearch starts a run when a search found that
	// the index lags.
	OnStart, OnSearch bool
	// Interval is the time between runs by the clock. 0 means no such runs.
	Interval time.Duration
	// Watch, if not nil, names the folders to watch, so that the syncer runs after a change. If
	// the system can't watch, Interval is used, or defaultInterval.
	Watch *watch.Options
	// Report, if not nil, is called after every run, by the goroutine that did the run.
	Report func(api.SyncRun)

	// Update brings the index up to date.
	Update func(context.Context) (*api.Reindexed, error)
	// Lag returns how far the index lags. whole is false if some files could not be looked at.
	Lag func(context.Context) (lag index.Lag, whole bool)
	// Version, if not nil, counts the writes to the files, of all processes alike. If the count has
	// changed, a search does not trust that the index agrees with the files. A search thus has the
	// same results in every process.
	Version func(context.Context) (int64, error)
	// State has the record of the last run. Now is the clock for the time of a run.
	State store.Store
	Now   func() time.Time

	// After makes the clock's timers. Open opens the watcher. They default to [time.After] and
	// [watch.Open].
	After func(time.Duration) <-chan time.Time
	Open  func(watch.Options) (watcher, error)
}

// watcher is the part of a watcher of package watch that the syncer needs.
type watcher interface {
	Changed() <-chan struct{}
	State() (folders int, err error)
	Close() error
}

// syncer keeps one index up to date in the background. Its goroutine is woken by signals, by a
// clock and by a watch over folders. It starts with the first signal, or with Begin if there is a
// watch or a clock. The work of a run comes as functions, so a syncer itself never reads the index
// or the files. Only Close waits for a run.
type syncer struct {
	o SyncOptions

	mu sync.Mutex // guards the fields below
	// lag is how far the index lagged at checked.
	lag     index.Lag
	checked time.Time
	// version is the version of the files at the time checked, or 0 if the version is not known.
	version int64
	// written counts the files that were written through this syncer. own counts such files since
	// the index was up to date.
	written, own int

	wake   chan struct{} // nil until the goroutine runs
	why    string        // why the goroutine was woken last
	cancel context.CancelFunc
	done   chan struct{}
	closed bool
	// last is the last run. failed is the time at which the last failed run ended.
	last     *api.SyncRun
	failed   time.Time
	watching api.WatchStatus
}

// newSyncer makes a syncer that does not run yet.
func newSyncer(o SyncOptions) *syncer {
	if o.After == nil {
		o.After = time.After
	}
	if o.Open == nil {
		o.Open = func(w watch.Options) (watcher, error) { return watch.Open(w) }
	}
	return &syncer{o: o}
}

// Begin starts the goroutine if it must run from the beginning.
func (s *syncer) Begin() {
	if s.o.Watch == nil && s.o.Interval <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.start()
}

// Close ends the background work for good, and waits until it has ended.
func (s *syncer) Close() {
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
func (s *syncer) SessionStarts() {
	if !s.o.OnStart {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signal("session_start")
}

// Wanting signals that a search found documents missing in the index.
func (s *syncer) Wanting() {
	if !s.o.OnSearch {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.justFailed() {
		s.signal("search")
	}
}

// Stale returns, for a search, how far the index lags the files, and whether only writes of this
// process are missing. The first call in a process looks at the files. Later calls return a
// result that is at most as old as the last look in the background.
func (s *syncer) Stale(ctx context.Context) (lag index.Lag, own bool) {
	version := s.numbered(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checked.IsZero() || version != s.version || version == 0 && s.o.Version != nil {
		before := s.written
		s.mu.Unlock()
		lag, version := s.look(ctx, version) // asks the database, if a database has the files
		s.mu.Lock()
		if s.written != before {
			lag.Files++
		}
		s.lag, s.checked, s.version = lag, time.Now(), version
	} else if time.Since(s.checked) >= believed {
		s.signal("search")
	}
	return s.lag, s.o.Version == nil && s.lag.Removed == 0 && !s.lag.Rules && s.lag.Files <= s.own
}

// look returns how far the index lags the files, which have at least the given version. The
// returned version is 0 if some files could not be looked at. At least one file elsewhere then
// counts as written, because a write can't be ruled out.
func (s *syncer) look(ctx context.Context, version int64) (index.Lag, int64) {
	lag, whole := s.o.Lag(ctx)
	if whole {
		return lag, version
	}
	if s.o.Version != nil {
		lag.Files = max(lag.Files, 1)
	}
	return lag, 0
}

// numbered returns the version of the files. Callers must call numbered before they look at the
// files, so that their findings are not older than the version.
func (s *syncer) numbered(ctx context.Context) int64 {
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
func (s *syncer) Since(t time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.checked.Before(t)
}

// Look returns how far the index lags the files. Writes during the call count.
func (s *syncer) Look(ctx context.Context) index.Lag {
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

// Renewed notes that the index was brought up to date, except for lag. If the files have
// versions, the version at the beginning of the update is not known, so the next search looks at
// the files.
func (s *syncer) Renewed(lag index.Lag) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewed(lag, 0)
}

// renewed notes the lag of a version, or of now. The caller must hold s.mu.
func (s *syncer) renewed(lag index.Lag, version int64) {
	s.lag, s.checked, s.version = lag, time.Now(), version
	if lag.Zero() {
		s.own = 0
	}
}

// Written notes that a file was written.
func (s *syncer) Written() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written++
	s.own++
	s.lag.Files, s.checked = max(s.lag.Files, 1), time.Now()
}

// Status returns the state of the watch and the last run. If this process had no run, it returns
// the last run of another process, or nil if no run is known.
func (s *syncer) Status() (api.WatchStatus, *api.SyncRun) {
	before := lastRun(s.o.State)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last != nil && (before == nil || before.Process == s.last.Process) {
		before = s.last
	}
	return s.watching, before
}

// justFailed keeps searches from repeating a run that has just failed. The caller must hold s.mu.
func (s *syncer) justFailed() bool { return time.Since(s.failed) < believed }

// signal wakes the goroutine without waiting for it. The caller must hold s.mu.
func (s *syncer) signal(why string) {
	if s.closed {
		return
	}
	if s.wake == nil {
		s.start()
	}
	s.why = why
	select {
	case s.wake <- struct{}{}:
	default: // a signal is waiting already
	}
}

// start starts the goroutine. The caller must hold s.mu.
func (s *syncer) start() {
	var ctx context.Context
	ctx, s.cancel = context.WithCancel(context.Background())
	s.wake, s.done = make(chan struct{}, 1), make(chan struct{})
	go s.run(ctx, s.wake, s.done)
}

func (s *syncer) run(ctx context.Context, wake <-chan struct{}, done chan<- struct{}) {
	defer close(done)
	w := s.openWatch()
	defer func() {
		if w != nil {
			w.Close()
		}
	}()
	var tick <-chan time.Time
	for {
		var changed <-chan struct{}
		if w != nil {
			changed = w.Changed()
		}
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
				w = s.openWatch() // the system may be able to watch by now
			}
			s.attend(ctx, "interval")
			tick = nil
		case <-changed:
			s.attend(ctx, "watch")
		}
		if w != nil {
			s.noteWatch(w, nil)
		}
	}
}

// attend brings the index up to date. For a search without OnSearch, it only measures the lag of
// the index.
func (s *syncer) attend(ctx context.Context, why string) {
	if why == "search" && !s.o.OnSearch {
		s.Look(ctx)
		return
	}
	d, err := s.o.Update(ctx)
	if ctx.Err() != nil {
		return // the syncer is closed
	}
	s.Look(ctx)
	if err != nil {
		s.mu.Lock()
		s.failed = time.Now()
		s.mu.Unlock()
	}
	s.Ran(why, d, err)
}

// interval returns the time between looks by the clock. If the options have no Interval, and
// changes should be watched but can't be, it returns defaultInterval.
func interval(o *SyncOptions, w watcher) time.Duration {
	if o.Interval > 0 || o.Watch == nil {
		return o.Interval
	}
	if w != nil {
		if _, err := w.State(); err == nil {
			return 0
		}
	}
	return defaultInterval
}

// openWatch opens the watcher. It returns nil if the options have no Watch, or if the system
// can't watch.
func (s *syncer) openWatch() watcher {
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

// noteWatch records the state of the watch, or the error that prevents a watch.
func (s *syncer) noteWatch(w watcher, err error) {
	st := api.WatchStatus{On: w != nil}
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

// Ran records a run by the syncer, by a search, or at a caller's request. A failed run is
// recorded, too. A run at a caller's request is not reported.
func (s *syncer) Ran(why string, r *api.Reindexed, err error) {
	run := &api.SyncRun{Reason: why, Time: s.o.Now(), Process: os.Getpid(), Files: r.Read, Removed: r.Removed}
	switch {
	case err != nil:
		run.Error = err.Error()
	case r.EmbedErr != nil:
		run.Error = "vectors: " + r.EmbedErr.Error()
	}
	s.mu.Lock()
	run.Watching = s.watching.On
	s.last = run
	s.mu.Unlock()
	keepDoc(s.o.State, store.Synced, recordName, record{recordFormat, *run})
	if why != "reindex" && s.o.Report != nil {
		s.o.Report(*run)
	}
}

// recordName is the file of the last run.
const recordName = "sync.json"

// recordFormat is the version of sync.json.
//
//	1: first version
const recordFormat = 1

// record is sync.json: the last run of any process. It is information for people, and nothing
// depends on it.
type record struct {
	Format int `json:"format"`
	api.SyncRun
}

// lastRun reads the record of the last run. It returns nil if no record can be read.
func lastRun(state store.Store) *api.SyncRun {
	if r := keptDoc[record](state, recordName); r.Format == recordFormat {
		return &r.SyncRun
	}
	return nil
}
