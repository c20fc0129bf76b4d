package erasure

import (
	"errors"
	"io/fs"
	"iter"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/trace"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Cite adds to out the ids that pages of the journal name as their evidence.
func Cite(out map[string]bool, pages []journal.StoredPage) {
	for _, p := range pages {
		for _, f := range p.Fields {
			for _, e := range f.Entries {
				for _, v := range e.Versions {
					out[v.EvidenceRef] = true
				}
			}
		}
	}
}

// Show adds to out the ids that the projections of some conversations show or name.
func Show(out map[string]bool, lines iter.Seq[*branch.State]) {
	for l := range lines {
		for _, items := range [][]pagevm.Item{l.Proj.Carry, l.Proj.Items} {
			for i := range items {
				out[items[i].Page] = true
			}
		}
		for i := range l.Spans {
			for _, id := range l.Spans[i].Pages {
				out[id] = true
			}
		}
	}
}

// ExpireUsage counts the calls that were logged before a time and, with apply, drops them.
func ExpireUsage(dir store.Store, before time.Time, apply bool) (int, error) {
	if size, err := folder.Size(dir, folder.UsageFile); size == 0 || err != nil {
		return 0, err
	}
	j, err := journal.OpenJournalIn(dir, folder.UsageFile, &journal.Options{ReadOnly: !apply, Derived: true})
	if err != nil {
		return 0, err
	}
	defer j.Close()
	n := 0
	old := func(r *store.Record) bool { return !r.Time.IsZero() && r.Time.Before(before) }
	for r, err := range j.Records() {
		if err != nil {
			return 0, err
		}
		if old(&r) {
			n++
		}
	}
	if n == 0 || !apply {
		return n, nil
	}
	_, err = j.Rewrite(func(r *store.Record) (bool, error) { return !old(r), nil })
	return n, err
}

// ExpireTrace returns the size of a trace that was put aside before a time and, with apply,
// removes it.
func ExpireTrace(dir store.Store, before time.Time, apply bool) (int64, error) {
	name := trace.OldFile
	fi, err := dir.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	if !fi.Time.Before(before) {
		return 0, nil
	}
	if apply {
		_, err = dir.Remove(store.Synced, name)
	}
	return fi.Size, err
}
