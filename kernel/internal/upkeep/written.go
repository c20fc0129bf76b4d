package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/api"
)

// mostSaid bounds the lines of a file that one call may record. A longer list is not memory.
const mostSaid = 2000

// Heard lists the lines that a call of an observed session wrote into a file.
type Heard struct {
	// ID names the call. The lines of a call are recorded only once. Path is the written file.
	ID, Path string
	// Lines are the authors of the written lines, by [consolidation.LineHash].
	Lines map[string]consolidation.Origin
	// Whole reports that the call wrote the whole file, so that earlier lines of the file may be
	// in Lines. Read reports that the session read the file before, and that Lines has none of
	// its earlier lines.
	Whole, Read bool
	Now         time.Time
}

// Hear records the authors of the lines that an observed session wrote into a file. It records
// hashes, which reveal nothing to a reader without the lines. If the call wrote the whole file, the
// file may have held any of the lines before. Hear then records nothing, unless a run saw the file
// or the session read it.
func (k *Keeper) Hear(ctx context.Context, h Heard) error {
	if k.Files == nil || len(h.Lines) == 0 {
		return nil
	}
	r, unlock, err := k.begin(ctx, api.RunSeen, h.Now, true)
	if err != nil {
		return err
	}
	defer unlock()
	id := entryID("said", h.ID, h.Path)
	if slices.ContainsFunc(r.journal.Entries(), func(e Entry) bool { return e.ID == id }) {
		return nil
	}
	stood := map[string]bool{}
	if h.Whole {
		before, err := r.lastSeen(h.Path)
		if err != nil || before == "" && !h.Read {
			return err
		}
		for l := range strings.SplitSeq(before, "\n") {
			stood[consolidation.LineHash(l)] = true
		}
	}
	s := said{Path: h.Path, Lines: map[string]consolidation.Origin{}}
	for _, hash := range slices.Sorted(maps.Keys(h.Lines)) {
		if !stood[hash] && r.said[line{h.Path, hash}] == "" && len(s.Lines) < mostSaid {
			s.Lines[hash] = h.Lines[hash]
		}
	}
	if len(s.Lines) == 0 {
		return nil
	}
	if err := appendLog(r.journal, id, value{Said: &s}, h.Now); err != nil {
		r.journal.Forget()
		return err
	}
	return nil
}

// record returns the authors of entries, by the journal's promises and the backups. A line that has
// changed since a curation or pruning wrote it counts as somebody else's. So does a line without a
// record. Backups are read when they are first needed. unread returns an error if one could not be
// read.
func (r *run) record() (rec consolidation.Record, unread func() error) {
	adds := map[string]string{} // the hash of the addition's backup, by path and marker
	for _, l := range r.log {
		for _, st := range l.run.Steps {
			if st.Add != "" {
				adds[st.Path+"\x00"+st.ID] = st.Add
			}
		}
	}
	var failed error
	known := map[string]map[string]bool{} // by path and marker
	in := func(path, marker, text string) bool {
		key := path + "\x00" + marker
		lines, ok := known[key]
		if !ok {
			var err error
			if marker == "" { // the lines that prunings wrote in steps that also removed lines
				lines = map[string]bool{}
				pruned := func(l *logged, st *step) bool { return l.run.Kind == api.RunPrune && st.After != "" }
				err = r.changes(path, pruned, func(before, after string) {
					had := linesIn(before)
					for l := range linesIn(after) {
						if !had[l] {
							lines[l] = true
						}
					}
				})
			} else if hash := adds[key]; hash != "" {
				var added string
				if added, err = r.backup(hash); err == nil {
					lines = linesIn(added)
				}
			}
			if err != nil && !errors.Is(err, fs.ErrNotExist) && failed == nil {
				failed = err
			}
			known[key] = lines
		}
		return lines[text]
	}
	// A pruning may have changed a line of an addition, or written next to the addition.
	rec.Wrote = func(path, marker, text string) bool {
		return in(path, marker, text) || marker != "" && in(path, "", text)
	}
	rec.Said = func(path, hash string) consolidation.Origin { return r.said[line{path, hash}] }
	return rec, func() error { return failed }
}

// changes calls f with the texts of a file before and after the chosen steps of runs. It skips a
// step whose backups are no longer kept.
func (r *run) changes(path string, chosen func(*logged, *step) bool, f func(before, after string)) error {
	for _, l := range r.log {
		for _, st := range l.run.Steps {
			if st.Path != path || !chosen(l, st) {
				continue
			}
			before, err := r.backup(st.Before)
			after := ""
			if err == nil {
				after, err = r.backup(st.After)
			}
			if err == nil {
				f(before, after)
			} else if !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

func linesIn(text string) map[string]bool {
	out := map[string]bool{}
	for l := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		out[l] = true
	}
	return out
}
