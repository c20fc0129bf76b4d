package index

import (
	"context"
	"iter"
)

// Lag counts the changes of the files that an index lacks.
type Lag struct {
	// Files counts the files that were added or written since the last Sync.
	Files int `json:"files"`
	// Removed counts the files that no longer exist.
	Removed int `json:"removed"`
	// Bytes are the sizes of Files.
	Bytes int64 `json:"bytes"`
	// Rules reports whether the index was made by other rules. The next Sync must then read every
	// file.
	Rules bool `json:"rules"`
}

// Zero reports whether the index is up to date.
func (l Lag) Zero() bool { return l == Lag{} }

// Lag compares the files with the state at the last Sync and counts the changes. It opens no file: it
// sums up the stats of source and compares the sum with the sum that Sync stored. It changes
// nothing. It skips the files for which source yields an error.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[FileStat, error]) (lag Lag, err error) {
	l, err := List(ctx, source)
	if err != nil {
		return lag, err
	}
	err = ix.read(ctx, "compare index", func(h *handles, v *view) error {
		outdated := v.outdated(ix.door.opts.Chunker)
		if !outdated && len(l.Problems) == 0 && l.Stamp == v.stamp {
			return nil
		}
		known, err := readFiles(ctx, h.read)
		if err == nil {
			w := l.compare(known, false)
			lag = Lag{Files: len(w.Read), Removed: len(w.Remove), Bytes: w.Bytes(), Rules: outdated}
		}
		return err
	})
	return lag, err
}
