package index

import (
	"context"
	"database/sql"
	"errors"
	"iter"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
)

// ErrSkip, wrapped by a Reader's error, means that a file holds nothing to index (it is not text,
// say). The index records the file's stat and doesn't read the file again until the stat changes.
var ErrSkip = errors.New("nothing to index")

// SyncOptions are settings of one Sync. A nil *SyncOptions means the defaults.
type SyncOptions struct {
	// Full reads every file again, even if its stat is unchanged. If a Full sync was interrupted,
	// the next Sync finishes it. Vectors of texts that are gone are dropped.
	Full bool
	// Wait is how long to wait for another process that is syncing. The default is 10 s. If Wait
	// is negative, Sync waits until the context ends.
	Wait time.Duration
	// BatchChunks is the number of new chunks in one transaction. The chunks of one file are
	// always in one transaction. The default is 2000. A larger number is hardly faster; with a
	// smaller number a kill loses less.
	BatchChunks int
	// Progress, if not nil, is called after every transaction.
	Progress func(Progress)
}

const (
	defaultWait  = 10 * time.Second
	defaultBatch = 2000
)

// OrDefaults returns the options with defaults for unset members. The parameter batch is the
// default of BatchChunks.
func (o *SyncOptions) OrDefaults(batch int) SyncOptions {
	out := SyncOptions{}
	if o != nil {
		out = *o
	}
	if out.Wait == 0 {
		out.Wait = defaultWait
	}
	if out.BatchChunks <= 0 {
		out.BatchChunks = batch
	}
	return out
}

// Progress is the progress of a Sync, in files and bytes that it must read.
type Progress struct {
	Files, FilesTotal int
	Bytes, BytesTotal int64
	// Chunks counts the chunks added so far.
	Chunks int
}

// SyncReport is the result of a Sync.
type SyncReport struct {
	// Files counts the listed files, and the other fields count the files with each outcome.
	// Touched files had another time or size in their stat and the same content. Skipped files
	// hold nothing to index.
	Files, Unchanged, Added, Changed, Touched, Skipped, Removed int
	// Read counts the files that were opened.
	Read int
	// Bytes is the total size of these files.
	Bytes int64
	// These fields count the chunks that were added, removed, and kept in changed files.
	ChunksAdded, ChunksRemoved, ChunksKept int
	// ChunkBytes is the size of the added chunks' texts.
	ChunkBytes int64
	// Reanalysed counts chunks whose words were made again under new rules.
	Reanalysed int
	// Elapsed is the wall time since the lock was taken.
	Elapsed time.Duration
	// Failed are the files that could not be listed or read. The index keeps its rows of them,
	// and the next Sync tries again.
	Failed []FileError
}

// MBPerSecond returns the reading speed over the whole Sync, in 10⁶ bytes of
// files.
func (r SyncReport) MBPerSecond() float64 { return rate(float64(r.Bytes)/1e6, r.Elapsed) }

// ChunksPerSecond returns how many chunks were added per second of the Sync.
func (r SyncReport) ChunksPerSecond() float64 { return rate(float64(r.ChunksAdded), r.Elapsed) }

func rate(n float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return n / d.Seconds()
}

// Reader reads a listed file and cuts it into chunks, in order. Sync calls it for one file at a
// time, in the order of paths. A Reader must return fs.ErrNotExist for a missing file, and
// ErrSkip for one without anything to index.
type Reader func(path string) ([]Chunk, error)

// Sync brings the index up to date with the files that source lists. If source yields an error
// with a path, the index keeps its rows of that file or folder. If source yields an error without
// a path, Sync removes nothing. A source should not list files that must not be indexed.
//
// A file that can't be read is in the report and does not end the Sync. After an error or a kill,
// the index keeps the committed part, and the next Sync does the rest.
func (ix *Index) Sync(ctx context.Context, source iter.Seq2[FileStat, error], read Reader, opts *SyncOptions) (SyncReport, error) {
	s := &syncer{ix: ix, read: read, opts: opts.OrDefaults(defaultBatch), a: ix.analyzers.Lend()}
	defer ix.analyzers.Give(s.a)
	err := s.sync(ctx, source)
	if s.started.IsZero() {
		return s.report, explain("sync index", ix.door.path, err)
	}
	s.report.Elapsed = time.Since(s.started)
	return s.report, explain("sync index", ix.door.path, err)
}

// syncer is one Sync.
type syncer struct {
	ix      *Index
	h       *handles
	read    Reader
	opts    SyncOptions
	a       *analysis.Analyzer
	report  SyncReport
	started time.Time

	meta *meta
	done Progress
}

func (s *syncer) sync(ctx context.Context, source iter.Seq2[FileStat, error]) error {
	h, done, err := s.ix.door.exclusive(ctx, "sync index", s.opts.Wait)
	if err != nil {
		return err
	}
	defer done()
	s.h, s.started = h, time.Now()
	if s.meta, err = loadMeta(ctx, h.read); err != nil {
		return err
	}
	if err := s.rules(ctx); err != nil {
		return err
	}
	l, err := List(ctx, source)
	if err != nil {
		return err
	}
	s.report.Files, s.report.Failed = len(l.Files), l.Problems
	return s.apply(ctx, l)
}

// rules makes the words again if other rules made them. If the rules for cutting files have changed,
// or in a Full sync, it marks all files to be read.
func (s *syncer) rules(ctx context.Context) error {
	if s.meta.analysis != analysis.Version {
		if err := s.reanalyse(ctx); err != nil {
			return err
		}
	}
	if !s.opts.Full && s.meta.chunker == s.ix.door.opts.Chunker {
		return nil
	}
	return s.change(ctx, func(tx *sql.Tx, m *meta) error {
		m.chunker = s.ix.door.opts.Chunker
		_, err := tx.ExecContext(ctx, "UPDATE files SET again=1 WHERE NOT again")
		return err
	})
}

// apply brings the index up to date with a listing.
func (s *syncer) apply(ctx context.Context, l *Listing) error {
	var again bool
	err := s.h.read.QueryRowContext(ctx, "SELECT EXISTS(SELECT 1 FROM files WHERE again)").Scan(&again)
	if err != nil {
		return err
	}
	if !again && len(l.Problems) == 0 && l.Stamp == s.meta.stamp {
		s.report.Unchanged = len(l.Files)
		return nil
	}
	known, err := readFiles(ctx, s.h.read)
	if err != nil {
		return err
	}
	w := l.compare(known, true)
	s.report.Unchanged = w.Unchanged
	s.done.FilesTotal = len(w.Read)
	s.done.BytesTotal = w.Bytes()
	if err := s.removeAll(ctx, w.Remove); err != nil {
		return err
	}
	if s.done.BytesTotal >= manyBytes {
		if err := s.mergeBy(ctx, mergeMany); err != nil {
			return err
		}
	}
	if err := s.readAll(ctx, w.Read); err != nil {
		return err
	}
	if err := s.forget(ctx); err != nil {
		return err
	}
	if err := s.tidy(ctx); err != nil {
		return err
	}
	if err := tune(ctx, s.h, s.ix.door.opts); err != nil {
		return err
	}
	// The caches of the writing connection are freed, because the next write may be long after.
	_, err = s.h.write.ExecContext(ctx, "PRAGMA shrink_memory")
	return err
}

// forget deletes the vectors of removed texts after a Full sync that could read all files, because
// such a vector still reveals the subject of its text. Other syncs keep them, so that a text that is
// moved or restored has its vector.
func (s *syncer) forget(ctx context.Context) error {
	if !s.opts.Full || len(s.report.Failed) > 0 {
		return nil
	}
	return s.change(ctx, func(tx *sql.Tx, _ *meta) error {
		_, err := tx.ExecContext(ctx, "DELETE FROM embedding_cache WHERE hash NOT IN (SELECT hash FROM chunks)")
		return err
	})
}

// errOvertaken means that another process wrote without the lock. This can happen on file systems
// without locks.
var errOvertaken = errors.New("another process changed the index at the same time")

// change reads the current meta in a transaction, runs f, and saves the changes that f made to meta.
func (s *syncer) change(ctx context.Context, f func(tx *sql.Tx, m *meta) error) error {
	var next *meta
	err := s.h.update(ctx, func(tx *sql.Tx, m *meta) error {
		if m.generation != s.meta.generation {
			return Problem("sync index", s.ix.door.path, ErrBusy, errOvertaken)
		}
		next = m
		m.generation++
		return f(tx, m)
	})
	if err == nil {
		s.meta = next
	}
	return err
}

// removeBatch is the number of files removed in one transaction.
const removeBatch = 200

// removeAll removes the rows of files that no longer exist.
func (s *syncer) removeAll(ctx context.Context, files []*fileRow) error {
	for len(files) > 0 {
		n := min(removeBatch, len(files))
		gone := 0
		err := s.change(ctx, func(tx *sql.Tx, m *meta) error {
			w, err := newWriter(ctx, tx, m)
			if err != nil {
				return err
			}
			for _, f := range files[:n] {
				if err := w.removeFile(f); err != nil {
					return err
				}
			}
			gone = w.removed
			return w.finish()
		})
		if err != nil {
			return err
		}
		s.report.Removed += n
		s.report.ChunksRemoved += gone
		files = files[n:]
	}
	return nil
}
