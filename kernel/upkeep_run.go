package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/blob"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/markdownstore"
)

// upkeep is a run that is made ready: the project's journal, open to be written, and
// the backups.
type upkeep struct {
	*Kernel
	s     *session
	log   []loggedRun
	batch *blob.Batch
	run   upkeepRun
	// held are files that can't be backed up.
	held []string
}

// beginUpkeep opens the project's journal, which redoes what a kill left.
func (k *Kernel) beginUpkeep(ctx context.Context, kind runKind, now time.Time) (*upkeep, func(), error) {
	if k.memory == nil {
		return nil, nil, errors.New("memory is switched off")
	}
	s, unlock, err := k.openFolder(ctx, projectFolder, projectFolder, true)
	if err != nil {
		return nil, nil, err
	}
	log, err := s.upkeepLog()
	if err == nil && s.upkeepErr != nil {
		err = fmt.Errorf("finish what was begun before: %w", s.upkeepErr)
	}
	if err != nil {
		s.forget()
		unlock()
		return nil, nil, err
	}
	u := &upkeep{Kernel: k, s: s, log: log, batch: k.backups.NewBatch(), run: upkeepRun{Kind: kind, Time: now.UTC(), Day: k.memory.private.Today(now)}}
	return u, unlock, nil
}

// readUpkeep is beginUpkeep for what only looks.
func (k *Kernel) readUpkeep(ctx context.Context, kind runKind, now time.Time) (*upkeep, func(), error) {
	if k.memory == nil {
		return nil, nil, errors.New("memory is switched off")
	}
	s, unlock, err := k.openFolder(ctx, projectFolder, projectFolder, false)
	if err != nil {
		return nil, nil, err
	}
	log, err := s.upkeepLog()
	if err != nil {
		unlock()
		return nil, nil, err
	}
	u := &upkeep{Kernel: k, s: s, log: log, run: upkeepRun{Kind: kind, Time: now.UTC(), Day: k.memory.private.Today(now)}}
	return u, unlock, nil
}

// adds promises that a file gets a text at its end.
func (u *upkeep) adds(path, before, text string) {
	st := upkeepStep{Path: path, Since: u.changed(path), ID: ids.Page("up", string(u.run.Kind), u.runID(), path, text), Add: u.need(path, text)}
	if before != "" {
		st.Before = u.before(path, before)
	}
	u.run.Steps = append(u.run.Steps, st)
}

// before backs up what a file was: an undo of a pruning needs it.
func (u *upkeep) before(path, text string) string {
	if u.run.Kind == runPrune {
		return u.need(path, text)
	}
	return u.keep(text)
}

// changed is when a file was last changed, as far as it is not after the run.
func (u *upkeep) changed(path string) time.Time {
	f, err := u.memory.private.Stat(path)
	if err != nil || f.ModTime.After(u.run.Time) {
		return u.run.Time
	}
	return f.ModTime.UTC()
}

// becomes promises that a file becomes another text.
func (u *upkeep) becomes(path, before, after string) {
	st := upkeepStep{Path: path, Since: u.changed(path), After: u.need(path, asIs(before, after))}
	if before != "" {
		st.Before = u.before(path, before)
	}
	u.run.Steps = append(u.run.Steps, st)
}

// runID is the name of the run: runs are numbered.
func (u *upkeep) runID() string { return fmt.Sprintf("run-%d", len(u.log)+1) }

// commit promises the run and does it.
func (u *upkeep) commit(ctx context.Context) (*upkeepDone, error) {
	if len(u.held) > 0 {
		return nil, fmt.Errorf("%s: %s", strings.Join(u.held, ", "), heldBack)
	}
	if _, err := u.batch.Commit(ctx); err != nil {
		return nil, fmt.Errorf("back up: %w", err)
	}
	if err := u.s.logUpkeep(u.runID(), upkeepEntry{Run: &u.run}, u.run.Time); err != nil {
		u.s.forget()
		return nil, err
	}
	done, err := u.finishRun(ctx, u.s, u.runID(), &u.run)
	u.memory.fresh.written()
	return done, err
}

// redoRuns finishes what a kill left promised. What can't be done now stays promised,
// with the reason in upkeepErr.
func (k *Kernel) redoRuns(ctx context.Context, s *session) {
	if k.memory == nil {
		return
	}
	var log []loggedRun
	if log, s.upkeepErr = s.upkeepLog(); s.upkeepErr != nil {
		return
	}
	for i := range log {
		if log[i].done != nil {
			continue
		}
		if s.upkeepErr = s.openJournal(); s.upkeepErr == nil {
			_, s.upkeepErr = k.finishRun(ctx, s, log[i].id, &log[i].run)
		}
		if s.upkeepErr != nil {
			return
		}
	}
}

// finishRun does what a run promised, whatever of it is done already.
func (k *Kernel) finishRun(ctx context.Context, s *session, id string, run *upkeepRun) (*upkeepDone, error) {
	done := &upkeepDone{Run: id, Files: map[string]string{}}
	for i := range run.Steps {
		st := &run.Steps[i]
		kept, err := k.doStep(ctx, st)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", run.Kind, st.Path, err)
		}
		if kept != "" {
			done.Kept = append(done.Kept, st.Path+": "+kept)
		}
	}
	for i := range run.Steps {
		path := run.Steps[i].Path
		if l, err := k.memory.private.ReadFile(path); err == nil {
			done.Files[path] = l.Hash
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return done, s.logUpkeep(id+":done", upkeepEntry{Done: done}, run.Time)
}

// changedMeanwhile is why a step was not taken.
const changedMeanwhile = "somebody changed it meanwhile: it was left as it is"

// doStep brings one file to what it is to become. It says what was left alone.
func (k *Kernel) doStep(ctx context.Context, st *upkeepStep) (kept string, err error) {
	switch {
	case st.Clear:
		err = k.ClearBuffer(ctx, &Buffered{Bytes: st.Bytes, Hash: st.Before})
		if errors.Is(err, markdownstore.ErrConflict) || errors.Is(err, fs.ErrNotExist) {
			return "", nil // it was done, or somebody else emptied it
		}
		return "", err
	case st.Add != "":
		return "", k.stepAdd(ctx, st)
	}
	text, err := k.backups.Get(st.After)
	if err != nil {
		return "", err
	}
	_, err = k.memory.private.Replace(ctx, st.Path, st.Before, string(text))
	if !errors.Is(err, markdownstore.ErrConflict) {
		return "", err
	}
	l, err := k.memory.private.ReadFile(st.Path)
	if err == nil && l.Hash == st.After {
		return "", nil // it was done
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return changedMeanwhile, nil
}

// stepAdd appends, once. Standing instructions are replaced by what they say and the
// text: nothing else appends to them.
func (k *Kernel) stepAdd(ctx context.Context, st *upkeepStep) error {
	raw, err := k.backups.Get(st.Add)
	if err != nil {
		return err
	}
	text := string(raw)
	if !instructions(st.Path) {
		_, err := k.memory.private.Append(ctx, st.Path, st.ID, text)
		return err
	}
	for {
		l, err := k.memory.private.ReadFile(st.Path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if marked(l.Text, st.ID) {
			return nil
		}
		all := strings.TrimRight(l.Text, "\r\n") + "\n\n" + strings.Trim(text, "\n") + "\n" + markerOf(st.ID) + "\n"
		_, err = k.memory.private.Replace(ctx, st.Path, l.Hash, asIs(l.Text, strings.TrimLeft(all, "\n")))
		if !errors.Is(err, markdownstore.ErrConflict) || ctx.Err() != nil {
			return err
		}
	}
}

// backup reads a backup.
func (k *Kernel) backup(hash string) (string, error) {
	if hash == "" {
		return "", nil
	}
	raw, err := k.backups.Get(hash)
	return string(raw), err
}
