package index

import (
	"context"
	"iter"
)

// Behind tells whether the files have changed since the last Sync, or were
// indexed by other rules, without opening any of them: the stats of source are
// summed up and compared with the sum that Sync left. It changes nothing. An
// error of source counts as a file that can't be judged, and is passed over.
func (ix *Index) Behind(ctx context.Context, source iter.Seq2[FileStat, error]) (bool, error) {
	h, done, err := ix.use(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return false, explain("compare index", ix.path, err)
	}
	if v.outdated(ix.opts.Chunker) {
		return true, nil
	}
	l, err := list(ctx, source)
	if err != nil {
		return false, err
	}
	if len(l.problems) == 0 {
		return l.stamp != v.stamp, nil
	}
	return ix.differs(ctx, h, l)
}

// differs compares file by file, for listings with gaps: what lies in a gap is
// taken to be unchanged.
func (ix *Index) differs(ctx context.Context, h *handles, l *listing) (bool, error) {
	known, err := readFiles(ctx, h.read)
	if err != nil {
		return false, explain("compare index", ix.path, err)
	}
	w := l.compare(known, false)
	return len(w.read)+len(w.remove) > 0, nil
}
