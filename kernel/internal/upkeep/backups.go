package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
)

// BackupsFolder is the folder of the backups, in the state directory.
const BackupsFolder = "backups"

// Backups must hold files byte for byte, and the state folder must not hold secrets. So a text
// with a suspected secret is never backed up, and a run that would need such a backup does not
// touch the file. Pruning leaves the file out, and reports this.

// heldBack is the reason for leaving a file alone that may hold a secret.
const heldBack = "it holds what is taken for a secret, which no backup may hold, so it is left alone: take the secret out of it, or name it in redact.allow if it is none"

// secret reports whether a text holds a suspected secret.
func (k *Keeper) secret(text string) bool {
	return k.Masker.Text(text) != text
}

// keep returns a text's hash, and adds the text to the backups unless it holds a secret.
func (r *run) keep(text string) string {
	if r.secret(text) {
		return store.Sum([]byte(text))
	}
	return r.batch.AddString(text)
}

// need is keep for a text without which the run can't be done or undone. If the text holds a
// secret, need notes the file in r.held.
func (r *run) need(path, text string) string {
	if r.secret(text) && !slices.Contains(r.held, path) {
		r.held = append(r.held, path)
	}
	return r.keep(text)
}

// pruneSafely prunes, but touches no file that holds a secret, and no file whose remaining text
// would be rendered differently.
func (r *run) pruneSafely(snap *consolidation.Snapshot, o consolidation.PruneOptions, out *api.Pruned) error {
	p := snap.Prune(o)
	bad := r.refused(p)
	if f := snap.Memory(); f != nil && r.secret(f.Doc.Raw) {
		bad[f.Path] = heldBack // the file's new text is unknown, so no entry is moved out of it
	}
	if len(bad) > 0 {
		var only []string
		for _, f := range snap.Files {
			if bad[f.Path] == "" && !r.secret(f.Doc.Raw) && (len(o.Only) == 0 || slices.Contains(o.Only, f.Path)) {
				only = append(only, f.Path)
			}
		}
		if o.Only = only; len(only) == 0 {
			p = &consolidation.Pruning{}
		} else {
			p = snap.Prune(o)
		}
		for _, path := range slices.Sorted(maps.Keys(bad)) {
			out.Kept = append(out.Kept, path+": "+bad[path])
		}
		worse := r.refused(p)
		if names := slices.Sorted(maps.Keys(worse)); len(names) > 0 {
			return fmt.Errorf("%s: %s", strings.Join(names, ", "), worse[names[0]])
		}
	}
	out.Pruning = *p
	return nil
}

// refused returns the files of a pruning that can't be touched, with the reasons.
func (r *run) refused(p *consolidation.Pruning) map[string]string {
	out := map[string]string{}
	for path, what := range p.Reshaped() {
		out[path] = fmt.Sprintf("%s would be read otherwise after the change (%s), so nothing is moved: mend the Markdown there", path, what)
		for _, m := range p.Moves {
			if m.To == path {
				out[m.From] = out[path]
			}
		}
	}
	for _, c := range p.Changes {
		if r.secret(c.Before) || r.secret(c.Add) || r.secret(c.Text) {
			out[c.Path] = heldBack
		}
	}
	return out
}

// backup reads a backup, or the backup that replaced it. For the hash "" it returns "".
func (r *run) backup(hash string) (string, error) {
	if hash == "" {
		return "", nil
	}
	raw, err := r.Backups.Get(hash)
	if errors.Is(err, fs.ErrNotExist) && r.recast[hash] != "" {
		return r.backup(r.recast[hash])
	}
	return string(raw), err
}

// RetainBackups removes backups. It keeps the backups for runs younger than before, for an undo
// of the newest pruning, and for the newest run that saw MEMORY.md, with which losses are found.
// It returns the number and the bytes of the other backups. If apply is false, it removes
// nothing.
func (k *Keeper) RetainBackups(ctx context.Context, before, now time.Time, apply bool) (n int, bytes int64, err error) {
	if k.Files == nil {
		return 0, 0, nil
	}
	if _, err := k.State.Stat(BackupsFolder); errors.Is(err, fs.ErrNotExist) {
		return 0, 0, nil
	}
	r, unlock, err := k.begin(ctx, api.RunSeen, now, apply)
	if err != nil {
		return 0, 0, err
	}
	defer unlock()
	needed, known := r.neededBackups(before)
	for info, err := range k.Backups.Walk() {
		if err != nil {
			return n, bytes, err
		}
		if needed[info.Hash] {
			continue
		}
		if !known[info.Hash] { // a kill left this backup
			if made, err := k.Backups.Stat(info.Hash); err != nil || !made.Time.Before(before) {
				continue
			}
		}
		n++
		bytes += info.Bytes
		if apply {
			if err := k.Backups.Delete(info.Hash); err != nil {
				return n, bytes, err
			}
		}
	}
	return n, bytes, ctx.Err()
}

// neededBackups returns the backups that runs still need, and all that runs name.
func (r *run) neededBackups(before time.Time) (needed, known map[string]bool) {
	needed, known = map[string]bool{}, map[string]bool{}
	undoable, seen := false, false
	for _, l := range slices.Backward(r.log) {
		need := l.done == nil || !l.run.Time.Before(before)
		if l.run.Kind == api.RunPrune && !l.undone && !undoable {
			undoable, need = true, true
		}
		if l.run.Kind == api.RunSeen && !seen {
			seen, need = true, true
		}
		var names []string
		for _, st := range l.run.Steps {
			names = append(names, st.Before, st.After, st.Add)
		}
		for _, m := range l.run.Reads {
			names = append(names, m.Hash)
		}
		for _, n := range names {
			for ; n != ""; n = r.recast[n] {
				known[n] = true
				needed[n] = needed[n] || need
			}
		}
	}
	return needed, known
}

// Forget removes the backups that clean would change, because they quote forgotten contents. It
// also empties the files of facts that quote them. Runs are finished first. If rest is not nil,
// each removed backup is replaced by a backup of the text that rest returns, so that older changes
// can still be taken back.
func (k *Keeper) Forget(ctx context.Context, clean, rest func(string) string) error {
	hashes, err := k.Quoting(clean)
	if err != nil {
		return err
	}
	if len(hashes) == 0 {
		return k.forgetFacts(ctx, clean)
	}
	j, unlock, err := k.Project.Open(ctx, true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := j.Unfinished(); err != nil {
		return fmt.Errorf("finish what was begun before: %w", err)
	}
	if rest != nil {
		if err := k.replaceBackups(ctx, j, hashes, rest); err != nil {
			return err
		}
	}
	for _, h := range hashes {
		if err := k.Backups.Delete(h); err != nil {
			return err
		}
	}
	return k.forgetFacts(ctx, clean)
}

// forgetFacts empties the files of facts that clean would change, and the files of facts of a log
// that clean would change. Files of facts have no backups.
func (k *Keeper) forgetFacts(ctx context.Context, clean func(string) string) error {
	if k.Files == nil {
		return nil
	}
	quotes := func(text string) bool { return clean(text) != text }
	for path, log := range k.Files.FactFiles() {
		facts, err := k.Files.ReadFile(path)
		if err != nil {
			return fmt.Errorf("take what is forgotten out of the facts of %s: %w", log, err)
		}
		of, err := k.Files.ReadFile(log)
		if err == nil || errors.Is(err, fs.ErrNotExist) {
			if facts.Text == "" || !quotes(facts.Text) && !quotes(k.Masker.Lines(of.Text)) {
				continue
			}
			_, err = k.Files.Redact(ctx, path, facts.Hash, "")
		}
		if err != nil {
			return fmt.Errorf("take what is forgotten out of the facts of %s: %w", log, err)
		}
	}
	return nil
}

// replaceBackups writes the backups that replace others, and records them.
func (k *Keeper) replaceBackups(ctx context.Context, j Journal, hashes []string, rest func(string) string) error {
	batch, to := k.Backups.NewBatch(), map[string]string{}
	for _, h := range hashes {
		text, err := k.Backups.Get(h)
		if err != nil {
			return err
		}
		if left := rest(string(text)); left != string(text) && rest(left) == left {
			to[h] = batch.AddString(left)
		}
	}
	if _, err := batch.Commit(ctx); err != nil {
		return fmt.Errorf("back up: %w", err)
	}
	if err := appendLog(j, entryID(append([]string{"recast"}, hashes...)...), value{Recast: to}, k.Now()); err != nil {
		j.Forget()
		return err
	}
	return nil
}

// Quoting returns the backups that clean would change.
func (k *Keeper) Quoting(clean func(string) string) ([]string, error) {
	var out []string
	for info, err := range k.Backups.Walk() {
		if err != nil {
			return nil, err
		}
		text, err := k.Backups.Get(info.Hash)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if clean(string(text)) != string(text) {
			out = append(out, info.Hash)
		}
	}
	return out, nil
}
