package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/workstate"
)

// Prune is [api.Keeper.Prune].
func (k *Keeper) Prune(ctx context.Context, req api.PruneRequest) (_ *api.Pruned, err error) {
	defer wrap("prune", &err)
	req.Now = k.at(req.Now)
	r, unlock, err := k.begin(ctx, api.RunPrune, req.Now, req.Apply)
	if err != nil {
		return nil, err
	}
	defer unlock()
	snap, err := r.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	young, err := r.youth(snap, req.Now)
	if err != nil {
		return nil, err
	}
	graves, _ := gravesOf(r.log)
	record, unread := r.record()
	o := consolidation.PruneOptions{MemoryLines: cmp.Or(req.MemoryLines, consolidation.MachineLines), OwnerChars: cmp.Or(req.OwnerChars, ownerChars), Include: req.Include,
		Day: r.promise.Day, Young: young, Record: record, Retired: func(key string) bool { return graves[key] }}
	if req.QuietTime {
		o.Only = []string{"observations.md", "memory/observations.md"}
	}
	out := &api.Pruned{Kept: []string{}}
	if err := r.pruneSafely(snap, o, out); err != nil {
		return nil, err
	}
	if err := unread(); err != nil {
		return nil, fmt.Errorf("read what was written before: %w", err)
	}
	text, read, err := r.readOfBuffer(out)
	if err != nil || !req.Apply {
		return out, err
	}
	out.Applied = true
	return out, r.commitPruning(ctx, out, text, read)
}

// ownerChars is the default of [api.PruneOptions.OwnerChars].
const ownerChars = 18_000

// commitPruning writes a pruning. Additions to files come first, then removals from files. The
// buffer comes last.
func (r *run) commitPruning(ctx context.Context, out *api.Pruned, buffer string, read *mark) error {
	for i := range out.Changes {
		c := &out.Changes[i]
		if c.Add != "" {
			r.adds(c.Path, c.Before, c.Heading()+c.Add)
		} else {
			r.becomes(c.Path, c.Before, c.Text)
		}
	}
	for _, m := range out.Moves {
		if m.Key != "" && m.To != "" {
			r.promise.Graves = append(r.promise.Graves, grave{Key: m.Key, From: m.From, To: m.To, Why: string(m.Why)})
		}
	}
	if read != nil {
		r.promise.Steps = append(r.promise.Steps, &step{Path: workstate.BufferPath, Before: r.need(workstate.BufferPath, buffer), Clear: true, Bytes: read.Bytes})
	}
	if len(r.promise.Steps) == 0 {
		return nil
	}
	out.Run = r.id()
	d, err := r.commit(ctx)
	if err == nil {
		out.Kept = append(out.Kept, d.Kept...)
	}
	return err
}

// readOfBuffer returns the part of the working buffer that may be removed.
func (r *run) readOfBuffer(out *api.Pruned) (string, *mark, error) {
	text, err := workstate.ReadBuffer(r.Files)
	if err != nil {
		return "", nil, err
	}
	out.BufferLeft = len(text)
	m := r.lastRead(api.RunCurate, workstate.BufferPath)
	if m == nil || len(text) < m.Bytes || m.Bytes == 0 || store.Sum([]byte(text[:m.Bytes])) != m.Hash {
		return "", nil, nil
	}
	read := text[:m.Bytes]
	if r.secret(read) {
		out.Kept = append(out.Kept, workstate.BufferPath+": "+heldBack)
		return "", nil, nil
	}
	if out.BufferBytes = len(read) - len(workstate.ForeignBuffer(read)); out.BufferBytes == 0 {
		return "", nil, nil
	}
	out.BufferLeft -= out.BufferBytes
	return read, m, nil
}

// youth returns a function that reports whether a text is less than a day old. A text is if its
// file was touched within the day, and the file's newest backup that is at least a day old does not
// hold the text.
func (r *run) youth(snap *consolidation.Snapshot, now time.Time) (func(path, text string) bool, error) {
	limit := now.Add(-24 * time.Hour)
	before := map[string]string{}
	for _, l := range r.log {
		for _, st := range l.run.Steps {
			if st.Before != "" && !st.Clear && !st.Since.After(limit) {
				before[st.Path] = st.Before
			}
		}
		for _, m := range l.run.Reads {
			if l.run.Kind == api.RunSeen && !l.run.Time.After(limit) {
				before[m.Path] = m.Hash
			}
		}
	}
	texts := map[string]string{}
	for path, hash := range before {
		if f := snap.File(path); f == nil || !f.ModTime.After(limit) {
			continue
		}
		text, err := r.backup(hash)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		texts[path] = text
	}
	return func(path, text string) bool {
		if f := snap.File(path); f == nil || !f.ModTime.After(limit) {
			return false
		}
		return !strings.Contains(texts[path], text)
	}, nil
}
