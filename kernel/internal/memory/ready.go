package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// defaultWait is how long searches wait for the index to be made, or brought up to date.
const defaultWait = 2 * time.Second

// Patience configures how a search waits for the index.
type Patience struct {
	// Wait is how long a search waits. 0 means [Options.Wait]. If Wait is negative, the search
	// waits until its context ends.
	Wait time.Duration
	// Asked reports that a caller made the search, which must find all text written so far. Without
	// Asked, a search does not wait for this process's own writes. They come from the planned
	// conversations, and the background work indexes them.
	Asked bool
	// Peek writes nothing. An index is searched as it is. Without an index, the files themselves
	// are searched if they are few.
	Peek bool
	// Progress, if not nil, is called with the index's progress.
	Progress func(api.ReindexProgress)
}

// bringer brings the index up to date for searches, one run at a time. A run indexes words only,
// because vectors take long and may cost money. The run continues even if its callers have stopped
// waiting. Close ends it.
type bringer struct {
	mu     sync.Mutex // guards the fields below
	now    *run       // nil if there is no run
	closed bool
	// failed is the error of the last run, if that run failed. failedAt is the time of the
	// failure.
	failed   error
	failedAt time.Time
	// left is how far the index lagged after a run that could not read all.
	left index.Lag
	// suspect reports that a search found the index damaged.
	suspect bool
	// direct is the index in memory, or nil if no such index was made.
	direct *index.Index
	end    sync.WaitGroup
}

// run is an update of the index for searches.
type run struct {
	// done is closed at the end of the run, after err is set. tired is closed when searches have
	// waited for long enough.
	done, tired chan struct{}
	err         error
	suspect     bool // the index is checked for damage
	cancel      context.CancelFunc

	mu    sync.Mutex
	tell  []func(api.ReindexProgress)
	moved bool // the run has made progress
	began time.Time
}

func (r *run) listen(tell func(api.ReindexProgress)) {
	if tell != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.tell = append(r.tell, tell)
	}
}

func (r *run) progress(p api.ReindexProgress) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.moved = true
	for _, tell := range r.tell {
		tell(p)
	}
}

// retryAfter is the time in which searches do not repeat a run that has just failed.
const retryAfter = 5 * time.Second

// begin begins a run, or joins the current run. It returns nil if the last run has just failed.
func (m *Memory) begin(wait, busy time.Duration) *run {
	b := &m.bring
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.now != nil || b.closed || b.failed != nil && time.Since(b.failedAt) < retryAfter {
		return b.now
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{began: time.Now(), done: make(chan struct{}), tired: make(chan struct{}), cancel: cancel, suspect: b.suspect}
	b.now = r
	b.end.Go(func() {
		select {
		case <-m.o.After(wait):
			close(r.tired)
		case <-r.done:
		}
	})
	b.end.Go(func() { m.do(ctx, r, busy) })
	return r
}

// do performs one run. Each statement waits at most busy for another program's lock.
func (m *Memory) do(ctx context.Context, r *run, busy time.Duration) {
	defer r.cancel()
	report, err := m.reindex(ctx, &how{ReindexOptions: api.ReindexOptions{Wait: m.o.Wait, Progress: r.progress}, delta: true, words: true, suspect: r.suspect, busy: busy})
	lag := index.Lag{}
	if err == nil {
		lag = m.Sync.Look(ctx)
	}
	b := &m.bring
	b.mu.Lock()
	b.now, b.failed, b.failedAt, b.left = nil, err, time.Now(), index.Lag{}
	if errors.Is(err, index.ErrBusy) {
		b.failed = nil // another process updates the index
	}
	if len(report.Failed) > 0 {
		b.left = lag
	}
	b.suspect = b.suspect && (err != nil || !r.suspect)
	b.mu.Unlock()
	r.err = err
	close(r.done)
	if ctx.Err() == nil && !unwritable(err) && !errors.Is(err, index.ErrBusy) {
		m.Sync.Ran("search", report, err)
	}
	if err == nil && m.o.Embedder != nil {
		m.Sync.Wanting()
	}
}

// endRuns ends the current run. No run can begin afterwards.
func (m *Memory) endRuns() error {
	b := &m.bring
	b.mu.Lock()
	b.closed = true
	if b.now != nil {
		b.now.cancel()
	}
	b.mu.Unlock()
	b.end.Wait()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.direct == nil {
		return nil
	}
	err := b.direct.Close()
	b.direct = nil
	return err
}

// wanted reports whether an index that lags by lag must be brought up to date.
func (b *bringer) wanted(wait time.Duration, lag index.Lag) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return wait >= 0 && (b.suspect || !lag.Zero() && lag != b.left)
}

// doubt marks an index that a search found damaged, so that the next run checks the index and
// rebuilds it if needed. It reports whether it marked the index.
func (b *bringer) doubt(wait time.Duration, err error) bool {
	if wait < 0 || !errors.Is(err, index.ErrDamaged) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suspect = true
	return true
}

// readied is the index that a search uses.
type readied struct {
	*reading
	lag index.Lag
	// indexing reports that the index is still being made or updated. held reports that another
	// process holds the index and keeps this process from updating it.
	indexing, held bool
	// detail is the reason why the search does not use the kept index. err is the fault of the
	// kept index.
	detail string
	err    error
}

// ready opens the index for a search. It makes a missing index, and adds later writes. If this
// takes longer than the search waits, the search gets the index as it is by then. If the index
// can't be written, and the files are few, the search reads the files.
func (m *Memory) ready(ctx context.Context, p Patience) (readied, error) {
	x, err := m.index.get(ctx)
	out := readied{reading: x}
	switch {
	case err == nil:
		var own bool
		if out.lag, own = m.Sync.Stale(ctx); !m.bring.wanted(m.o.Wait, out.lag) || p.Peek || own && !p.Asked {
			if !out.lag.Zero() {
				m.Sync.Wanting()
			}
			return out, nil
		}
	case m.o.Wait < 0:
		if remakable(err) {
			m.Sync.Wanting()
		}
		return out, err
	case errors.Is(err, index.ErrMissing) && empty(ctx, m):
		if !p.Asked {
			return out, err // a plan does not report details
		}
		return readied{reading: m.nothing, detail: "there are no files of memory yet"}, nil
	case p.Peek && remakable(err):
		out, err = m.direct(ctx, err)
		out.err, out.detail = nil, "" // as if Peek were not set
		return out, err
	case !remakable(err):
		foreign := errors.Is(err, index.ErrForeign) || errors.Is(err, index.ErrNewer)
		if !foreign && !unwritable(err) {
			return out, err
		}
		return m.direct(ctx, err)
	}
	for range 2 { // a run that had already begun may miss later writes
		ended, held, err := m.brought(ctx, p)
		if err == nil && !ended {
			out.indexing, out.held = true, held
			break
		}
		if err != nil && ctx.Err() == nil {
			if unwritable(err) {
				d, derr := m.direct(ctx, err)
				if derr != nil && out.reading != nil {
					return out, nil // too many files, so the earlier index is used
				}
				return d, derr
			}
			if out.reading == nil {
				return out, err
			}
			out.err, out.detail = err, "it could not be brought up to date: "+index.Plain(err)
			return out, nil
		}
		if x, err = m.index.get(ctx); err != nil {
			return out, err
		}
		out.reading = x
		if out.lag, _ = m.Sync.Stale(ctx); !m.bring.wanted(m.o.Wait, out.lag) {
			return out, nil
		}
	}
	if x, err := m.index.get(ctx); err == nil {
		out.reading = x
	} else {
		out.reading = m.nothing // the index does not exist yet
	}
	return out, ctx.Err()
}

// brought waits for a run. ended reports whether the run has ended. held reports whether the run
// made no progress because another process holds the index.
func (m *Memory) brought(ctx context.Context, p Patience) (ended, held bool, err error) {
	r := m.begin(m.o.Wait, cmp.Or(p.Wait, m.o.Wait)/4)
	if r == nil {
		m.bring.mu.Lock()
		defer m.bring.mu.Unlock()
		return false, false, m.bring.failed
	}
	r.listen(p.Progress)
	var tired <-chan struct{}
	var own, late <-chan time.Time
	switch {
	case p.Wait == 0:
		tired = r.tired
	case p.Wait > 0:
		own = m.o.After(p.Wait)
	}
	if by, ok := ctx.Deadline(); ok {
		late = time.After(time.Until(by) / 2) // the search itself needs the other half
	}
	select {
	case <-r.done:
		if errors.Is(r.err, index.ErrBusy) && !locked(r.err) {
			return false, true, ctx.Err()
		}
		return true, false, r.err
	case <-tired:
	case <-own:
	case <-late:
	case <-ctx.Done():
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return false, !r.moved && time.Since(r.began) >= unmoved, ctx.Err()
}

// unmoved is how long a run must be without progress until another process is assumed to hold the
// index.
const unmoved = time.Second

// remakable reports whether a rebuild of the index mends its fault.
func remakable(err error) bool {
	return errors.Is(err, index.ErrMissing) || errors.Is(err, index.ErrOlder) || errors.Is(err, index.ErrDamaged)
}

// locked reports whether another program holds the lock of the index's file. If another process is
// only bringing the index up to date, the error has no cause, and locked returns false.
func locked(err error) bool {
	var e *index.Error
	return errors.Is(err, index.ErrBusy) && errors.As(err, &e) && e.Err != nil
}

// unwritable reports whether err means that the index's place can't be written now.
func unwritable(err error) bool {
	return errors.Is(err, index.ErrReadOnly) || errors.Is(err, index.ErrFull) || store.Unwritable(err)
}

// Bounds on the files read for an answer if no index can be kept.
const (
	directFiles = 2000
	directBytes = 8 << 20
)

// direct reads the files into an index in memory, if there are few of them. why is the reason for
// not using the kept index.
func (m *Memory) direct(ctx context.Context, why error) (readied, error) {
	n, bytes := 0, int64(0)
	for f, err := range m.corpus.files(ctx, nil) {
		if err == nil {
			n, bytes = n+1, bytes+f.Size
		}
		if n > directFiles || bytes > directBytes {
			return readied{}, why
		}
	}
	b := &m.bring
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return readied{}, why
	}
	if b.direct == nil {
		ix, err := index.InMemory(ctx, m.index.options())
		if err != nil {
			return readied{}, errors.Join(why, err)
		}
		b.direct = ix
	}
	report := &api.Reindexed{}
	_, err := b.direct.Sync(ctx, m.corpus.files(ctx, nil), func(path string) ([]index.Chunk, error) { return m.corpus.chunks(path, report) }, nil)
	if err != nil {
		return readied{}, errors.Join(why, err)
	}
	return readied{reading: &reading{b.direct, m.worded(b.direct)}, err: why,
		detail: fmt.Sprintf("the files themselves were searched, by words alone: no index can be kept: %s", index.Plain(why))}, nil
}

// worded searches an index by words alone.
func (m *Memory) worded(ix retrieval.Index) *retrieval.Retriever {
	o := m.o.Ranking
	o.Embedder = nil
	return retrieval.New(ix, &o)
}

// empty reports whether no file is to be indexed.
func empty(ctx context.Context, m *Memory) bool {
	if kept, err := m.Past.Exists(); m.o.Sessions.Enabled && (kept || err != nil) {
		return false
	}
	for range m.corpus.files(ctx, nil) {
		return false
	}
	return ctx.Err() == nil
}

// progress counts the files and texts that an index already has.
func (m *Memory) progress(ctx context.Context, r *reading) *retrieval.Progress {
	p := &retrieval.Progress{}
	files := func(yield func(index.FileStat, error) bool) {
		for f, err := range m.corpus.files(ctx, nil) {
			if err == nil {
				p.Total++
			}
			if !yield(f, err) {
				return
			}
		}
	}
	if r == m.nothing {
		for range files {
		}
		return p
	}
	if lag, err := r.Lag(ctx, files); err == nil {
		p.Files = max(p.Total-lag.Files, 0)
	}
	return p
}
