package workstate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
)

// SESSION-STATE.md is written to by people and agents, too. The kernel's part is one
// section between two marks, the first of which says whose it is and holds the hash of
// what is between them (section.go). All else in the file is somebody else's:
//
//	same session            the section is replaced, all else stays
//	the section was edited  it is somebody else's now; a new one is put behind it
//	another session's turn  its section and what stood beside it make way, after the one
//	or a reset in between   stands in that session's checkpoint, the other in a page that
//	                        this session's checkpoint names
//
// A file without a section of an earlier session is never taken over: the section is
// put at its end. Every write compares the file with what was read; if somebody was
// faster it is read again, and after three times left alone until the next turn. A kill
// leaves the old file or the new one.

// stateWrite brings SESSION-STATE.md up to date.
type stateWrite struct {
	*Keeper
	turn *Turn // nil at a boundary
	now  time.Time
	// takes: the session spoke, so the file becomes its own.
	takes bool
}

// yielded is the folder of the session whose checkpoint holds its section, "" for none.
func (w *stateWrite) yielded() string {
	if w.turn == nil {
		return ""
	}
	return w.turn.Yielded
}

// stateTries is how often the file is read again because somebody wrote to it.
const stateTries = 3

// write brings the session's section up to date.
func (w *stateWrite) write(ctx context.Context) []fault.Fault {
	c := w.standing(w.now)
	if w.Options.StateFileOff || c == nil {
		return nil
	}
	var faults []fault.Fault
	for range stateTries {
		f, hash, err := ReadStateFile(w.Private)
		if err == nil {
			var text string
			text, faults, err = w.newState(ctx, f, c)
			if err == nil && text != "" {
				err = w.replace(ctx, StatePath, hash, text)
			}
		}
		if errors.Is(err, markdownstore.ErrConflict) {
			continue
		}
		if err == nil && w.takes {
			w.started = false
		}
		return append(faults, w.faults(FromStateFile, err)...)
	}
	return append(faults, fault.Fault{Code: fault.Net, Cause: string(FromStateFile),
		Detail: fmt.Sprintf("%s was written to %d times while it was being read; it is brought up to date after the next turn", StatePath, stateTries)})
}

// replace gives a file of the workspace a new text, once what that says of the session is
// durable.
func (k *Keeper) replace(ctx context.Context, path, hash, text string) error {
	if k.Sync != nil {
		if err := k.Sync(); err != nil {
			return err
		}
	}
	_, err := k.Private.Replace(ctx, path, hash, text)
	return err
}

// ReadStateFile reads the file, and the hash by which it may be replaced.
func ReadStateFile(private *markdownstore.Store) (StateFile, string, error) {
	l, err := private.ReadFile(StatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return StateFile{}, "", nil
	}
	if err == nil && l.Unsettled {
		err = &markdownstore.ConflictError{Path: StatePath}
	}
	if err != nil {
		return StateFile{}, "", err
	}
	return ParseStateFile(l.Text), l.Hash, nil
}

// newState is the file as it should be, "" if it should stay as it is. What makes way
// in it is durable elsewhere when it returns.
func (w *stateWrite) newState(ctx context.Context, f StateFile, c *checkpoint.Checkpoint) (string, []fault.Fault, error) {
	thread := &w.life.State.Thread
	sec := Section{Owner: w.Session.Name(), Epoch: w.Session.Progress().Epoch, Captured: thread.Captured, through: keyMark(thread.LastKey), At: w.now}
	lines := checkpoint.Lines(c, w.Options.StateFileBytes)
	old := f.Section
	switch {
	case old == nil:
	case w.ownState(old):
		if sec.before = old.before; slices.Equal(old.lines(), lines) && !old.Edited {
			return "", nil, nil // said already
		}
	case !w.takes:
		return "", nil, nil // another session's, which spoke last
	default:
		id, err := w.keepState(ctx, f)
		if err != nil {
			return "", nil, err
		}
		sec.before, f = id, StateFile{}
	}
	var faults []fault.Fault
	if f.Section != nil && f.Section.Edited {
		f = f.disowned()
		faults = []fault.Fault{{Code: fault.Net, Cause: string(FromStateFile),
			Detail: fmt.Sprintf("the kernel's section of %s was edited: what stands there is kept as it is, above a new section", StatePath)}}
	}
	sec.Body = stateBody(lines, w.now, sec.before)
	return f.with(sec), faults, nil
}

// ownState reports whether a section is of this session and of the conversation that
// goes on.
func (w *stateWrite) ownState(old *Section) bool {
	if old.Owner != w.Session.Name() || old.Epoch != w.Session.Progress().Epoch {
		return false
	}
	if !w.started || w.turn == nil || old.through == "" {
		return true
	}
	return slices.ContainsFunc(w.turn.Msgs, func(m memkernel.Message) bool { return keyMark(m.Key) == old.through })
}

// keyMark is a message's key as a section names it.
func keyMark(key string) string {
	if key == "" {
		return ""
	}
	return ids.Hash(key)[:16]
}

func stateBody(lines []checkpoint.Line, now time.Time, before string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Session state, %s\n\n", now.UTC().Format("2006-01-02 15:04 UTC"))
	for _, l := range lines {
		b.WriteString(l.String() + "\n")
	}
	if before != "" {
		fmt.Fprintf(&b, "\nWhat stood in this file before this session is page %s.\n", before)
	}
	return b.String()
}

// keepState makes what is about to leave the file durable, and gives the page of what
// is no checkpoint's, "" if there is nothing.
func (w *stateWrite) keepState(ctx context.Context, f StateFile) (string, error) {
	text := f.Others()
	if old := f.Section; old.Edited || w.Options.NoCheckpoints || old.Owner != w.Session.Name() && old.Owner != w.yielded() {
		text = strings.TrimSpace(text + "\n\n" + old.Body)
	}
	if text == "" || w.turn == nil {
		return "", nil
	}
	masked := w.Mask.Text(text)
	id, err := w.turn.Keep(ctx, &pagevm.Page{ID: ids.Page("ss", w.Session.Name(), ids.Hash(masked)), Type: pagevm.Plan, Scope: memkernel.ScopeSession, Created: w.now,
		Refs: []memkernel.Ref{{Path: StatePath, StartLine: 1, EndLine: f.lines, Hash: ids.Hash(f.Text)}}}, masked)
	if err != nil {
		return "", err
	}
	checked := w.Input(checkpoint.TriggerManual, checkpoint.Reading{}, w.now)
	checked.SessionState = id
	_, err = w.WriteCheckpoint(checked)
	return id, err
}

// stateFileOf is what the section of a session says, nil if it has none.
func stateFileOf(private *markdownstore.Store, s Session) (*checkpoint.Checkpoint, error) {
	f, _, err := ReadStateFile(private)
	if store.OutOfReach(err) {
		return nil, err
	}
	if err != nil || f.Section == nil || f.Section.Owner != s.Name() {
		return nil, nil
	}
	c := checkpoint.FromLines(f.Section.lines())
	c.Meta.SessionKey, c.Meta.Captured = checkpoint.Name(s.Key()), f.Section.Captured
	c.Meta.CreatedAt = checkpoint.Time{Time: f.Section.At.UTC()}
	return c, nil
}
