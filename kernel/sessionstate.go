package kernel

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
	"github.com/memkernel/memkernel/internal/safename"
	"github.com/memkernel/memkernel/kernel/internal/branch"
	"github.com/memkernel/memkernel/kernel/internal/folder"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
)

// SESSION-STATE.md is written to by people and agents, too. The kernel's part is one
// section between two marks, the first of which says whose it is and holds the hash of
// what stands between them (statesection.go). All else in the file is somebody else's:
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

// StateFileOptions say how SESSION-STATE.md is kept.
type StateFileOptions struct {
	// Off leaves the file alone. What others write to it is shown all the same.
	Off bool
	// MaxBytes bounds the kernel's section; 0 takes DefaultStateBytes.
	MaxBytes int
}

// DefaultStateBytes is about what 2,000 tokens take.
const DefaultStateBytes = 8 << 10 // 8 KiB

func (o *StateFileOptions) maxBytes() int {
	if o.MaxBytes > 0 {
		return o.MaxBytes
	}
	return DefaultStateBytes
}

// yielded is the session whose section may make way: its checkpoint holds it.
type yielded struct{ owner string }

// yieldState makes the session that owns SESSION-STATE.md write its checkpoint before
// another takes the file. It holds no other session's lock meanwhile.
func (k *Kernel) yieldState(ctx context.Context, t *Turn) yielded {
	if k.memory == nil || k.life.Off || k.life.StateFile.Off || k.life.NoCheckpoints || t.Branch != "" || t.More {
		return yielded{}
	}
	f, _, err := readState(k.memory.private)
	if err != nil || f.section == nil {
		return yielded{}
	}
	owner := f.section.owner
	if name, err := folder.Of(k.state, keyOr(t.SessionKey)); err != nil || name == owner || !safename.Valid(owner) || !k.private(ctx, t) {
		return yielded{}
	}
	if fi, err := folder.In(k.state, owner).Stat(""); err != nil || !fi.Folder {
		return yielded{}
	}
	s, unlock, err := k.openFolder(ctx, "", owner, true)
	if err != nil {
		return yielded{}
	}
	defer unlock()
	if _, err := s.lifeNow(); err != nil {
		return yielded{}
	}
	if c, err := s.writeCheckpoint(s.checkpointInput(checkpoint.TriggerManual, checkpoint.Reading{}, k.now())); err != nil || c == nil {
		return yielded{}
	}
	return yielded{owner}
}

func keyOr(key string) string {
	if key == "" {
		return DefaultSession
	}
	return key
}

// private tells whether a turn is of a private session.
func (k *Kernel) private(ctx context.Context, t *Turn) bool {
	if t.Private {
		return true
	}
	s, unlock, err := k.open(ctx, t.SessionKey, false)
	if err != nil {
		return false
	}
	defer unlock()
	return s.newestLine(t.Branch, t.Model).Private
}

// stateWrite is what is known where SESSION-STATE.md is brought up to date.
type stateWrite struct {
	w    *intake // of the turn, nil at a boundary
	now  time.Time
	from yielded
	// takes: the session spoke, so the file becomes its own.
	takes bool
}

// stateTries is how often the file is read again because somebody wrote to it.
const stateTries = 3

// writeState brings the session's section up to date.
func (s *session) writeState(ctx context.Context, in stateWrite) []Fault {
	c := s.standing(in.now)
	if s.lifeOpt.StateFile.Off || c == nil {
		return nil
	}
	var faults []Fault
	for range stateTries {
		f, hash, err := readState(s.memory.private)
		if err == nil {
			var text string
			text, faults, err = s.newState(ctx, f, c, in)
			if err == nil && text != "" {
				_, err = s.memory.private.Replace(ctx, statePath, hash, text)
			}
		}
		if errors.Is(err, markdownstore.ErrConflict) {
			continue
		}
		if err == nil && in.takes {
			s.started = false
		}
		return append(faults, s.netFaults(NetSessionState, err)...)
	}
	return append(faults, Fault{Code: FaultNet, Cause: string(NetSessionState),
		Detail: fmt.Sprintf("%s was written to %d times while it was being read; it is brought up to date after the next turn", statePath, stateTries)})
}

// readState reads the file, and the hash by which it may be replaced.
func readState(store *markdownstore.Store) (stateFile, string, error) {
	l, err := store.ReadFile(statePath)
	if errors.Is(err, fs.ErrNotExist) {
		return stateFile{}, "", nil
	}
	if err == nil && l.Unsettled {
		err = &markdownstore.ConflictError{Path: statePath}
	}
	if err != nil {
		return stateFile{}, "", err
	}
	return parseStateFile(l.Text), l.Hash, nil
}

// newState is the file as it should be, "" if it should stay as it is. What makes way
// in it is durable elsewhere when it returns.
func (s *session) newState(ctx context.Context, f stateFile, c *checkpoint.Checkpoint, in stateWrite) (string, []Fault, error) {
	sec := stateSection{owner: s.name, epoch: s.account.epoch, captured: s.life.state.Thread.Captured, through: keyMark(s.life.state.Thread.LastKey), at: in.now}
	lines := checkpoint.Lines(c, s.lifeOpt.StateFile.maxBytes())
	old := f.section
	switch {
	case old == nil:
	case s.ownState(old, in):
		if sec.before = old.before; slices.Equal(old.lines(), lines) && !old.edited {
			return "", nil, nil // said already
		}
	case !in.takes:
		return "", nil, nil // another session's, which spoke last
	default:
		id, err := s.keepState(ctx, f, in)
		if err != nil {
			return "", nil, err
		}
		sec.before, f = id, stateFile{}
	}
	var faults []Fault
	if f.section != nil && f.section.edited {
		f = f.disowned()
		faults = []Fault{{Code: FaultNet, Cause: string(NetSessionState),
			Detail: fmt.Sprintf("the kernel's section of %s was edited: what stands there is kept as it is, above a new section", statePath)}}
	}
	sec.body = s.stateBody(lines, in.now, sec.before)
	return f.with(sec), faults, nil
}

// ownState tells whether a section is of this session and of the conversation that
// goes on.
func (s *session) ownState(old *stateSection, in stateWrite) bool {
	if old.owner != s.name || old.epoch != s.account.epoch {
		return false
	}
	if !s.started || in.w == nil || old.through == "" {
		return true
	}
	return slices.ContainsFunc(in.w.Msgs, func(m memkernel.Message) bool { return keyMark(m.Key) == old.through })
}

// keyMark is a message's key as a section names it.
func keyMark(key string) string {
	if key == "" {
		return ""
	}
	return ids.Hash(key)[:16]
}

func (s *session) stateBody(lines []checkpoint.Line, now time.Time, before string) string {
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
func (s *session) keepState(ctx context.Context, f stateFile, in stateWrite) (string, error) {
	text := f.others()
	if old := f.section; old.edited || s.lifeOpt.NoCheckpoints || old.owner != s.name && old.owner != in.from.owner {
		text = strings.TrimSpace(text + "\n\n" + old.body)
	}
	if text == "" || in.w == nil {
		return "", nil
	}
	g := in.w.Maker
	g.Out = &ingest.Pages{}
	masked := s.masker.Text(text)
	p := &pagevm.Page{ID: ids.Page("ss", s.name, ids.Hash(masked)), Type: pagevm.Plan, Scope: memkernel.ScopeSession, Created: in.now,
		Refs: []memkernel.Ref{{Path: statePath, StartLine: 1, EndLine: f.lines, Hash: ids.Hash(f.text)}}}
	p = g.Keep(p, masked, func(*pagevm.Page) []pagevm.Rep { return nil })
	if err := s.commitPages(ctx, g.Out, &branch.Cut{}, in.now, &Stats{}); err != nil {
		return "", err
	}
	checked := s.checkpointInput(checkpoint.TriggerManual, checkpoint.Reading{}, in.now)
	checked.SessionState = p.ID
	_, err := s.writeCheckpoint(checked)
	return p.ID, err
}

// fromStateFile is what the section of this session says.
func (s *session) fromStateFile() *checkpoint.Checkpoint {
	if s.lifeOpt.StateFile.Off {
		return nil
	}
	f, _, err := readState(s.memory.private)
	if err != nil || f.section == nil || f.section.owner != s.name {
		return nil
	}
	c := checkpoint.FromLines(f.section.lines())
	c.Meta.SessionKey, c.Meta.Captured = checkpoint.Name(s.key), f.section.captured
	c.Meta.CreatedAt = checkpoint.Time{Time: f.section.at.UTC()}
	return c
}

// forgetNets takes what the session said out of the workspace's records of its state,
// which quote messages without saying which.
func (s *session) forgetNets(ctx context.Context) error {
	if s.memory == nil {
		return nil
	}
	f, hash, err := readState(s.memory.private)
	if err == nil && f.section != nil && f.section.owner == s.name && !f.section.edited {
		_, err = s.memory.private.Replace(ctx, statePath, hash, f.without())
	}
	return errors.Join(err, s.forgetBuffer(ctx))
}
