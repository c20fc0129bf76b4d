package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Curate is [api.Keeper.Curate]. It commits which part of the buffer was read, so that pruning may
// remove this part.
func (k *Keeper) Curate(ctx context.Context, req api.CurateRequest) (_ *api.Curated, err error) {
	defer wrap("curate", &err)
	req.Now = k.at(req.Now)
	r, unlock, err := k.begin(ctx, api.RunCurate, req.Now, req.Apply)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if req.Day != "" {
		r.promise.Day = req.Day
	}
	buffer, err := workstate.ReadBuffer(r.Files)
	if err != nil {
		return nil, err
	}
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	graves, back := gravesOf(r.log)
	left := map[string]bool{} // entries that a person took back and that would be chosen otherwise
	retired := func(key string) bool {
		if back[key] {
			left[key] = true
		}
		return graves[key]
	}
	o := consolidation.CurateOptions{Day: r.promise.Day, Buffer: buffer,
		BufferRef: workstate.BufferPath + "@" + store.Sum([]byte(buffer))[:12], Retired: retired}
	for _, l := range r.log {
		if l.of(api.RunCurate, o.Day) {
			o.Taken += l.run.Entries
		}
	}
	// A second curation of the same texts would find less room in MEMORY.md, so that it might
	// choose other entries.
	o.Done = func(inputs string) (done bool) {
		if slices.ContainsFunc(r.log, func(l *logged) bool {
			return l.of(api.RunCurate, o.Day) && slices.Contains(l.run.Reads, mark{Path: logsMark, Hash: inputs})
		}) {
			done, err = r.hasRead(buffer)
		}
		return done
	}
	c := snap.Curate(o)
	if err != nil {
		return nil, err
	}
	out := &api.Curated{Curation: *c, Applied: req.Apply, TakenBack: len(left), BufferBytes: len(buffer)}
	for i := range out.Entries {
		out.Entries[i].Text, out.Entries[i].Replaces = r.Masker.Text(out.Entries[i].Text), r.Masker.Text(out.Entries[i].Replaces)
	}
	// A line with a secret can't be backed up. It is left out, so that the other lines can be
	// added.
	out.Entries = slices.DeleteFunc(out.Entries, func(p consolidation.Promoted) bool { return r.secret(p.Line()) })
	if !req.Apply {
		return out, nil
	}
	if err := r.commitCuration(ctx, snap, out, buffer); err != nil {
		return nil, err
	}
	return out, nil
}

// logsMark is the name under which a curation records the hash of the texts that it read.
const logsMark = "memory/"

// commitCuration writes a curation, and the part of the buffer that was read. If that part is
// already recorded and the curation has no entries, nothing is written.
func (r *run) commitCuration(ctx context.Context, snap *consolidation.Snapshot, out *api.Curated, buffer string) error {
	text := out.Text()
	if read, err := r.hasRead(buffer); err != nil {
		return err
	} else if !read {
		r.promise.Reads = []mark{{workstate.BufferPath, len(buffer), r.keep(buffer)}}
	}
	if text == "" && r.promise.Reads == nil {
		return nil
	}
	if text != "" {
		before := ""
		if f := snap.Memory(); f != nil {
			if f.Err != nil {
				return fmt.Errorf("read %s: %w", f.Path, f.Err)
			}
			before = f.Doc.Raw
		}
		rec, unread := r.record() // a MEMORY.md that holds a secret is never pruned, so it stays full
		full := r.secret(before) && rec.MachineLines(out.Path, before)+strings.Count(text, "\n") > consolidation.MachineLines
		if err := unread(); err != nil {
			return err
		}
		if full {
			if out.Path, before = learnedFile, ""; snap.File(learnedFile) != nil {
				before = snap.File(learnedFile).Doc.Raw
			}
		}
		c := consolidation.Pruning{Changes: []consolidation.Change{{Path: out.Path, Before: before, Add: text}}}
		if what := c.Reshaped()[out.Path]; what != "" {
			return fmt.Errorf("%s would not be read as it is with more at its end (%s): close the code, comment or HTML that it ends in", out.Path, what)
		}
		r.adds(out.Path, before, text)
		r.promise.Entries = len(out.Entries)
		for _, e := range out.Entries {
			r.promise.Facts = append(r.promise.Facts, fact{consolidation.KeyHash(e.Text), e.Score, e.Why})
		}
		r.promise.Reads = append(r.promise.Reads, mark{Path: logsMark, Hash: out.Inputs})
	}
	out.Run = r.id()
	_, err := r.commit(ctx)
	return err
}

// learnedFile receives new entries if MEMORY.md is full and can't be pruned.
const learnedFile = "memory/learned.md"

// hasRead reports whether a curation has read all of the buffer. The buffer may lack entries of the
// kernel that were removed since.
func (r *run) hasRead(buffer string) (bool, error) {
	m := r.lastRead(api.RunCurate, workstate.BufferPath)
	if buffer == "" || m == nil {
		return buffer == "", nil
	}
	if m.Hash == store.Sum([]byte(buffer)) {
		return true, nil
	}
	text, err := r.backup(m.Hash)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // the backup is no longer kept
	}
	return err == nil && workstate.ForeignBuffer(text) == buffer, err
}

// lastRead returns the part of a file that the newest run of a kind read, or nil if none has read
// the file. A run that was taken back does not count.
func (r *run) lastRead(kd api.RunKind, path string) *mark {
	for _, l := range slices.Backward(r.log) {
		for _, m := range l.run.Reads {
			if m.Path == path && l.run.Kind == kd && !l.undone {
				return &m
			}
		}
	}
	return nil
}
