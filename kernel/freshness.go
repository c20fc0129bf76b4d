package kernel

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// checkEvery is how long it is believed that the index agrees with the files.
// Looking costs a stat per file, which searches do not wait for.
const checkEvery = 5 * time.Second

// freshness is what is known of how the index agrees with the workspace.
type freshness struct {
	mu      sync.Mutex
	checked time.Time
	behind  bool
	// cancel and done end and await the look that runs in the background; done is
	// nil if none does.
	cancel context.CancelFunc
	done   chan struct{}
	closed bool
}

// stale tells whether the index is behind the files. The first answer in a process
// is looked for; later ones are at most a look in the background old.
func (m *memory) stale(ctx context.Context) bool {
	f := &m.fresh
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.checked.IsZero():
		f.behind, f.checked = m.behind(ctx), time.Now()
		if f.behind && m.opts.AutoSync {
			m.look()
		}
	case time.Since(f.checked) >= checkEvery || f.behind && m.opts.AutoSync:
		m.look()
	}
	return f.behind
}

// look starts a look in the background, unless one runs: it finds out whether the
// index is behind and, under AutoSync, brings it up to date. f.mu is held.
func (m *memory) look() {
	f := &m.fresh
	if f.done != nil || f.closed {
		return
	}
	var ctx context.Context
	ctx, f.cancel = context.WithCancel(context.Background())
	done := make(chan struct{})
	f.done = done
	go func() {
		defer close(done)
		behind := m.behind(ctx)
		if behind && m.opts.AutoSync {
			_, err := m.reindex(ctx, &ReindexOptions{})
			behind = err != nil
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.cancel()
		f.behind, f.checked, f.done = behind, time.Now(), nil
	}()
}

// stop ends the background's work for good.
func (f *freshness) stop() {
	f.mu.Lock()
	f.closed = true
	done := f.done
	if done != nil {
		f.cancel()
	}
	f.mu.Unlock()
	if done != nil {
		<-done
	}
}

// renewed notes that the index was brought up to date, or that a file was written.
func (f *freshness) renewed(behind bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.behind, f.checked = behind, time.Now()
}

// behind compares the stats of all files with what the index was made from. What
// can't be compared counts as not behind: the search itself will say what is the
// matter.
func (m *memory) behind(ctx context.Context) bool {
	ix, err := m.reader()
	if err != nil {
		return false
	}
	behind, err := ix.Behind(ctx, indexed(m.private.Walk(ctx), nil))
	return err == nil && behind
}

// indexed lists the files to be searched by their stats. What is not to be
// indexed, though its name says so, is told to skipped.
func indexed(files iter.Seq2[markdownstore.File, error], skipped func(Skipped)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		for f, err := range files {
			st := index.FileStat{Path: f.Path, Size: f.Size, ModTime: f.ModTime}
			var denied *markdownstore.DeniedError
			switch {
			case errors.As(err, &denied):
				skip(skipped, f.Path, denied.Error())
				continue
			case err == nil && !f.Indexed:
				continue
			case err == nil && f.Shadowed:
				skip(skipped, f.Path, "MEMORY.md stands in its place")
				continue
			case err == nil && f.TooLarge:
				skip(skipped, f.Path, "larger than files may be to be indexed; split it, or raise workspace.max_file_size")
				continue
			}
			if !yield(st, err) {
				return
			}
		}
	}
}

func skip(skipped func(Skipped), path, why string) {
	if skipped != nil {
		skipped(Skipped{Path: path, Reason: why})
	}
}
