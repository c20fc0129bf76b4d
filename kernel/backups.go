package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// Backups hold files byte for byte, or they are none; and secrets do not get into the
// state folder. So a text that holds what is taken for a secret is never backed up, and a
// run that would need such a backup does not touch the file. Pruning leaves it out, and
// says so.

// heldBack is why a file is left alone.
const heldBack = "it holds what is taken for a secret, which no backup may hold, so it is left alone: take the secret out of it, or name it in redact.allow if it is none"

// secret tells whether a text holds what is taken for a secret.
func (k *Kernel) secret(text string) bool { return k.masker.Text(text) != text }

// keep puts a text among the backups, unless it holds a secret, and gives its hash.
func (u *upkeep) keep(text string) string {
	if u.secret(text) {
		return ids.Hash(text)
	}
	return u.batch.AddString(text)
}

// need is keep for what the run can't be done or undone without.
func (u *upkeep) need(path, text string) string {
	if u.secret(text) && !slices.Contains(u.held, path) {
		u.held = append(u.held, path)
	}
	return u.keep(text)
}

// pruneSafely is a pruning that touches no file which holds a secret.
func (u *upkeep) pruneSafely(snap *consolidation.Snapshot, o consolidation.PruneOptions, out *Pruned) error {
	p := snap.Prune(o)
	bad := u.heldIn(p)
	if f := snap.Memory(); f != nil && u.secret(f.Doc.Raw) && !slices.Contains(bad, f.Path) {
		bad = append(bad, f.Path) // nobody can tell what of it is new, so nothing leaves it
	}
	if len(bad) > 0 {
		var only []string
		for i := range snap.Files {
			if f := &snap.Files[i]; !u.secret(f.Doc.Raw) && (len(o.Only) == 0 || slices.Contains(o.Only, f.Path)) {
				only = append(only, f.Path)
			}
		}
		if o.Only = only; len(only) == 0 {
			p = &consolidation.Pruning{}
		} else {
			p = snap.Prune(o)
		}
		for _, path := range bad {
			out.Kept = append(out.Kept, path+": "+heldBack)
		}
		if worse := u.heldIn(p); len(worse) > 0 {
			return fmt.Errorf("%s: %s", strings.Join(worse, ", "), heldBack)
		}
	}
	out.Pruning = *p
	return nil
}

// heldIn are the files of a pruning that hold a secret.
func (u *upkeep) heldIn(p *consolidation.Pruning) []string {
	var out []string
	for i := range p.Changes {
		if c := &p.Changes[i]; u.secret(c.Before) || u.secret(c.Add) || u.secret(c.Text) {
			out = append(out, c.Path)
		}
	}
	return out
}

// retainBackups removes the backups that no run which is younger needs, nor an undo of
// the newest, nor who tells what MEMORY.md lost.
func (k *Kernel) retainBackups(ctx context.Context, req *RetainRequest, out *Retained) error {
	if req.Backups <= 0 || k.memory == nil {
		return nil
	}
	if _, err := os.Stat(k.backups.Dir()); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	begin := k.readUpkeep
	if req.Apply {
		begin = k.beginUpkeep
	}
	u, unlock, err := begin(ctx, runSeen, req.Now)
	if err != nil {
		return err
	}
	defer unlock()
	before := req.Now.Add(-req.Backups)
	needed, known := u.neededBackups(before)
	for info, err := range k.backups.Walk() {
		if err != nil {
			return err
		}
		if needed[info.Hash] || !known[info.Hash] && !u.oldBackup(info.Hash, before) {
			continue
		}
		out.Backups++
		out.BackupBytes += info.Bytes
		if req.Apply {
			if err := k.backups.Delete(info.Hash); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// oldBackup tells whether a backup that no run names, as a kill leaves it, is older than a
// time.
func (u *upkeep) oldBackup(hash string, before time.Time) bool {
	fi, err := os.Stat(u.backups.File(hash))
	return err == nil && fi.ModTime().Before(before)
}

// neededBackups are the backups that runs still need, and all that runs name.
func (u *upkeep) neededBackups(before time.Time) (needed, known map[string]bool) {
	needed, known = map[string]bool{}, map[string]bool{}
	undoable, seen := false, false
	for i := len(u.log) - 1; i >= 0; i-- {
		r := &u.log[i]
		need := r.done == nil || !r.run.Time.Before(before)
		if r.run.Kind == runPrune && !r.undone && !undoable {
			undoable, need = true, true
		}
		if r.run.Kind == runSeen && !seen {
			seen, need = true, true
		}
		var names []string
		for _, st := range r.run.Steps {
			names = append(names, st.Before, st.After, st.Add)
		}
		for _, m := range r.run.Reads {
			names = append(names, m.Hash)
		}
		for _, n := range names {
			known[n] = true
			needed[n] = needed[n] || need
		}
	}
	return needed, known
}

// quoting are the backups that quote pages.
func (k *Kernel) quoting(sc *scrubber) ([]string, error) {
	var out []string
	for info, err := range k.backups.Walk() {
		if err != nil {
			return nil, err
		}
		text, err := k.backups.Get(info.Hash)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if sc.text(string(text)) != string(text) {
			out = append(out, info.Hash)
		}
	}
	return out, nil
}

// forgetBackups removes the backups that quote what a session is to forget. Runs are
// finished first: none needs them then but for an undo.
func (k *Kernel) forgetBackups(ctx context.Context, s *session) error {
	pages := s.condemnedPages()
	if len(pages) == 0 || s.name == projectFolder {
		return nil
	}
	hashes, err := k.quoting(s.scrubberOf(pages))
	if err != nil || len(hashes) == 0 {
		return err
	}
	p, unlock, err := k.openFolder(ctx, projectFolder, projectFolder, true)
	if err != nil {
		return err
	}
	defer unlock()
	if p.upkeepErr != nil {
		return fmt.Errorf("finish what was begun before: %w", p.upkeepErr)
	}
	for _, h := range hashes {
		if err := k.backups.Delete(h); err != nil {
			return err
		}
	}
	return nil
}
