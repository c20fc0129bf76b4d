package index

import (
	"context"
	"iter"
)

// Behind reports whether the files have changed since the last Sync, or were indexed by other
// rules. It opens no file: it sums up the stats of source and compares the sum with the sum that
// Sync stored. It changes nothing. It skips the files for which source yields an error.
func (ix *Index) Behind(ctx context.Context, source iter.Seq2[FileStat, error]) (bool, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return false, explain("compare index", ix.door.path, err)
	}
	if v.outdated(ix.door.opts.Chunker) {
		return true, nil
	}
	l, err := List(ctx, source)
	if err != nil {
		return false, err
	}
	if len(l.Problems) == 0 {
		return l.Stamp != v.stamp, nil
	}
	// Files in a gap of the listing are assumed to be unchanged.
	known, err := readFiles(ctx, h.read)
	if err != nil {
		return false, explain("compare index", ix.door.path, err)
	}
	w := l.compare(known, false)
	return len(w.Read)+len(w.Remove) > 0, nil
}

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

// Lag does the work of Behind and counts the changes. It opens no file and changes nothing.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[FileStat, error]) (Lag, error) {
	h, done, err := ix.door.use(ctx)
	if err != nil {
		return Lag{}, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return Lag{}, explain("compare index", ix.door.path, err)
	}
	l, err := List(ctx, source)
	if err != nil {
		return Lag{}, err
	}
	outdated := v.outdated(ix.door.opts.Chunker)
	if !outdated && len(l.Problems) == 0 && l.Stamp == v.stamp {
		return Lag{}, nil
	}
	known, err := readFiles(ctx, h.read)
	if err != nil {
		return Lag{}, explain("compare index", ix.door.path, err)
	}
	w := l.compare(known, false)
	return Lag{Files: len(w.Read), Removed: len(w.Remove), Bytes: w.Bytes(), Rules: outdated}, nil
}
