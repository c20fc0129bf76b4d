package upkeep

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// RefuseLoss returns an [api.LossError] if a change of a file would lose too many lines. If the
// earlier text is backed up, nothing can be lost.
func (k *Keeper) RefuseLoss(path, before, after string) error {
	if k.Backups.Has(store.Sum([]byte(before))) {
		return nil
	}
	loss, err := k.loss(context.Background(), path, before, after, nil)
	if err == nil && loss.Refused {
		err = &api.LossError{Loss: loss}
	}
	return err
}

// loss returns the lines of before that are neither in after nor in pruned nor in another file of
// memory. It reads the other files only if a line is in neither after nor pruned.
func (k *Keeper) loss(ctx context.Context, path, before, after string, pruned map[string]bool) (*consolidation.Loss, error) {
	loss := consolidation.FindLoss(path, before, after, func(key string) bool { return pruned[key] })
	if len(loss.Lost) == 0 {
		return loss, nil
	}
	snap, err := k.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	elsewhere := snap.Says(path)
	return consolidation.FindLoss(path, before, after, func(key string) bool { return pruned[key] || elsewhere(key) }), nil
}

// Guard returns the lines that MEMORY.md lost and that are in no owning file, topic or archive.
// It leaves out lines that a pruning removed, because a backup has these lines. It changes
// nothing.
func (k *Keeper) Guard(ctx context.Context, o api.GuardRequest) (_ *consolidation.Loss, err error) {
	defer wrap("guard", &err)
	r, unlock, err := k.begin(ctx, api.RunSeen, time.Time{}, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	path, after := "MEMORY.md", ""
	l, err := r.Files.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		l, err = r.Files.ReadFile("memory.md")
	}
	switch {
	case err == nil:
		path, after = l.Path, l.Text
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, markdownstore.ErrDenied): // a path that is no file has lost all its lines
		return nil, err
	}
	if o.After != nil {
		after = *o.After
	}
	before, err := r.lastSeen(path)
	if o.Before != nil {
		before = *o.Before
	} else if err != nil {
		return nil, err
	}
	pruned := map[string]bool{} // the lines that runs removed, by their keys
	taken := func(l *logged, st *step) bool { return st.Before != "" && (st.After != "" || st.Gone) && !l.undone }
	if err := r.changes(path, taken, func(before, after string) {
		for _, l := range consolidation.FindLoss(path, before, after, nil).Lost {
			pruned[consolidation.LineKey(l.Text)] = true
		}
	}); err != nil {
		return nil, err
	}
	return r.loss(ctx, path, before, after, pruned)
}

// lastSeen returns the content of a file in the newest run that saw the file, "" if it is not
// known.
func (r *run) lastSeen(path string) (string, error) {
	m := r.lastRead(api.RunSeen, path)
	if m == nil {
		return "", nil
	}
	text, err := r.backup(m.Hash)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // the backup is no longer kept, or the content holds a secret
	}
	return text, err
}

// Seen backs up MEMORY.md, so that later losses can be found.
func (k *Keeper) Seen(ctx context.Context, now time.Time) error {
	r, unlock, err := k.begin(ctx, api.RunSeen, now, true)
	if err != nil {
		return err
	}
	defer unlock()
	l, err := k.Files.ReadFile("MEMORY.md")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if last := r.lastRead(api.RunSeen, l.Path); last != nil && last.Hash == l.Hash {
		return nil
	}
	r.promise.Reads = []mark{{l.Path, len(l.Text), r.keep(l.Text)}}
	_, err = r.commit(ctx)
	return err
}
