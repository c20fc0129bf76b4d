package kernel

import (
	"context"
	"errors"
	"fmt"
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
	lag     index.Lag
	syncer  syncer
}

// stale tells by how much the index is behind the files. The first answer in a
// process is looked for; later ones are at most a look in the background old.
func (m *memory) stale(ctx context.Context) index.Lag {
	f := &m.fresh
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.checked.IsZero()
	if first {
		f.lag, f.checked = m.lag(ctx), time.Now()
	}
	switch sync := m.opts.Sync.OnSearch; {
	case sync && !f.lag.Zero() && !f.syncer.justFailed():
		m.signal(SyncSearch)
	case !first && time.Since(f.checked) >= checkEvery:
		m.signal(SyncSearch)
	}
	return f.lag
}

// renewed notes that the index was brought up to date, or by how much it is behind
// since files were written.
func (f *freshness) renewed(lag index.Lag) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lag, f.checked = lag, time.Now()
}

// written notes that a file was written.
func (f *freshness) written() { f.renewed(index.Lag{Files: 1}) }

// lag compares the stats of all files with what the index was made from. What can't
// be compared counts as not behind: the search itself will say what is the matter.
func (m *memory) lag(ctx context.Context) index.Lag {
	ix, err := m.reader(ctx)
	if err != nil {
		return index.Lag{}
	}
	lag, err := ix.Lag(ctx, m.files(ctx, nil))
	if err != nil {
		return index.Lag{}
	}
	return lag
}

// behindBy says a lag in words, "" for none.
func behindBy(l index.Lag) string {
	switch {
	case l.Rules:
		return "all of them: they were indexed by other rules"
	case l.Files > 0 && l.Removed > 0:
		return fmt.Sprintf("%d changed, %d gone", l.Files, l.Removed)
	case l.Removed > 0:
		return fmt.Sprintf("%d gone", l.Removed)
	case l.Files > 0:
		return fmt.Sprintf("%d changed", l.Files)
	}
	return ""
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
