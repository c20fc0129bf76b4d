package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"
)

// Undone says what an undo brought back.
type Undone struct {
	// Run is the pruning that was taken back, Time when it was.
	Run  string    `json:"run"`
	Time time.Time `json:"time"`
	// Files are those that are as they were.
	Files []string `json:"files"`
}

// UndoPrune takes back the last pruning: its files become what they were, and what
// left may come again. If one of them has changed since, nothing is done, and the
// error names it.
func (k *Kernel) UndoPrune(ctx context.Context, now time.Time) (*Undone, error) {
	if now.IsZero() {
		now = k.now()
	}
	u, unlock, err := k.beginUpkeep(ctx, runUndo, now)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	defer unlock()
	out, err := u.undo(ctx)
	if err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	return out, ctx.Err()
}

func (u *upkeep) undo(ctx context.Context) (*Undone, error) {
	i := len(u.log) - 1
	for i >= 0 && (u.log[i].run.Kind != runPrune || u.log[i].undone) {
		i--
	}
	if i < 0 {
		return nil, errors.New("nothing was pruned that could be taken back")
	}
	last := &u.log[i]
	out := &Undone{Run: last.id, Time: last.run.Time, Files: []string{}}
	var changed []string
	for j := range last.run.Steps {
		ok, err := u.takeBack(last, &last.run.Steps[j])
		if err != nil {
			return nil, err
		}
		if path := last.run.Steps[j].Path; ok {
			out.Files = append(out.Files, path)
		} else {
			changed = append(changed, path)
		}
	}
	if len(changed) > 0 {
		return nil, fmt.Errorf("%s changed since %s, so nothing was taken back: what they were is in %s by the hashes that the project's journal names for %s",
			strings.Join(changed, ", "), last.run.Time.Format(time.RFC3339), u.state.Where(backupsFolder), last.id)
	}
	u.run.Undoes = last.id
	_, err := u.commit(ctx)
	return out, err
}

// takeBack promises that a file becomes what it was, if it is what the run left.
func (u *upkeep) takeBack(last *loggedRun, st *upkeepStep) (ok bool, err error) {
	l, err := u.memory.private.ReadFile(st.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	before, err := u.backup(st.Before)
	if errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("what %s was before %s is no longer kept: retention, or a request to forget what it quotes, removed the backup", st.Path, last.id)
	}
	if err != nil {
		return false, err
	}
	if st.Clear {
		// What was appended since stands behind what comes back, what stayed in it.
		u.becomes(st.Path, l.Text, before+strings.TrimPrefix(l.Text, foreignBuffer(before)))
		return true, nil
	}
	if l.Hash != last.done.Files[st.Path] {
		return false, nil
	}
	u.becomes(st.Path, l.Text, before)
	return true, nil
}
