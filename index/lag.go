package index

import (
	"context"
	"iter"
)

// Lag says by how much an index is behind its files.
type Lag struct {
	// Files were written or came since they were indexed, Removed are gone.
	Files   int `json:"files"`
	Removed int `json:"removed"`
	// Bytes are the sizes of Files.
	Bytes int64 `json:"bytes"`
	// Rules: the index was made by other rules, so that every file is to be read.
	Rules bool `json:"rules"`
}

// Zero tells whether the index is up to date.
func (l Lag) Zero() bool { return l == Lag{} }

// Lag is Behind with the amount. It opens no file and changes nothing.
func (ix *Index) Lag(ctx context.Context, source iter.Seq2[FileStat, error]) (Lag, error) {
	h, done, err := ix.use(ctx)
	if err != nil {
		return Lag{}, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return Lag{}, explain("compare index", ix.path, err)
	}
	l, err := list(ctx, source)
	if err != nil {
		return Lag{}, err
	}
	outdated := v.outdated(ix.opts.Chunker)
	if !outdated && len(l.problems) == 0 && l.stamp == v.stamp {
		return Lag{}, nil
	}
	known, err := readFiles(ctx, h.read)
	if err != nil {
		return Lag{}, explain("compare index", ix.path, err)
	}
	w := l.compare(known, false)
	out := Lag{Files: len(w.read), Removed: len(w.remove), Rules: outdated}
	for _, j := range w.read {
		out.Bytes += j.stat.Size
	}
	return out, nil
}
