package workstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/summary"
)

// SESSION-STATE.md shows people which sessions are at work in the workspace. No prompt is made of
// it. The kernel owns one section between two marks (section.go). The section shows the session
// that spoke last in full, and up to maxBriefs other sessions in one line each, by the time of
// their last turns. A session that is older than the session shown in full changes only its own
// line. The kernel does not change the rest of the file. An edited section belongs to its editor,
// and the next write adds a new section.
//
// Every write compares the file with the text that was read. If another program wrote in between,
// the file is read again. After three such attempts, the file is left alone until the next turn.
// A kill leaves the old file or the new one.

// stateTries is the number of attempts to write the file while other programs write it.
const stateTries = 3

// writeStateFile brings the session's section up to date. spoke reports that the session spoke just
// now, so that the file may show it in full.
func (k *Keeper) writeStateFile(ctx context.Context, spoke bool, now time.Time) []fault.Fault {
	c := k.standing(now)
	if k.Options.StateFileOff || c == nil {
		return nil
	}
	var faults []fault.Fault
	for range stateTries {
		f, hash, err := ReadStateFile(k.Private)
		if err == nil {
			var text string
			if text, faults = k.newStateFile(f, c, spoke, now); text != "" {
				err = k.replace(ctx, StatePath, hash, text)
			}
		}
		if errors.Is(err, markdownstore.ErrConflict) {
			continue
		}
		return append(faults, k.faults(api.NetSessionState, err)...)
	}
	return append(faults, fault.Fault{Code: fault.Net, Cause: string(api.NetSessionState),
		Detail: fmt.Sprintf("%s was written to %d times while it was being read; it is brought up to date after the next turn", StatePath, stateTries)})
}

// replace gives a file of the workspace a new text. It first makes the session data durable from
// which the text derives.
func (k *Keeper) replace(ctx context.Context, path, hash, text string) error {
	if k.Sync != nil {
		if err := k.Sync(); err != nil {
			return err
		}
	}
	_, err := k.Private.Replace(ctx, path, hash, text)
	return err
}

// ReadStateFile reads the file. It also returns the hash that is needed to replace the file.
func ReadStateFile(private *markdownstore.Store) (stateFile, string, error) {
	l, err := private.ReadFile(StatePath)
	if errors.Is(err, fs.ErrNotExist) {
		return stateFile{}, "", nil
	}
	if err == nil && l.Unsettled {
		err = &markdownstore.ConflictError{Path: StatePath}
	}
	if err != nil {
		return stateFile{}, "", err
	}
	return ParseStateFile(l.Text), l.Hash, nil
}

// newStateFile returns the new text of the file, or "" if the file should stay as it is.
func (k *Keeper) newStateFile(f stateFile, c *checkpoint.Checkpoint, spoke bool, now time.Time) (string, []fault.Fault) {
	old, key := f.Section, k.Mask.Text(k.Session.Key())
	lines := checkpoint.RecordOf(c, stateBytes)
	sec := section{Owner: k.Session.Name(), Epoch: k.Session.Progress().Epoch, Captured: k.life.State.Thread.Captured, At: now}
	var faults []fault.Fault
	if old != nil && old.Edited {
		f, old = f.disowned(), nil
		faults = []fault.Fault{{Code: fault.Net, Cause: string(api.NetSessionState),
			Detail: fmt.Sprintf("the kernel's section of %s was edited: the text stays as it is, above a new section", StatePath)}}
	}
	switch {
	case old == nil:
		sec.setBody(key, lines, nil)
		return f.with(sec), faults
	case old.Owner == sec.Owner:
		if slices.Equal(old.lines(), lines) {
			return "", nil // the file has this state already
		}
		sec.setBody(key, lines, old.briefs())
		return f.with(sec), faults
	case !spoke:
		return "", nil // another session spoke last
	}
	others := slices.DeleteFunc(old.briefs(), func(b brief) bool { return b.Key == key })
	if old.At.After(now) {
		younger := *old
		younger.setBody(old.Key(), old.lines(), append(others, brief{key, now, task(lines)}))
		return f.with(younger), faults
	}
	sec.setBody(key, lines, append(others, brief{old.Key(), old.At, task(old.lines())}))
	return f.with(sec), faults
}

// task returns the subject of a session, in one line.
func task(r checkpoint.Record) string {
	return summary.Excerpt(cmp.Or(r.Task(), "no task is known"), 120)
}

// stateFileOf returns the checkpoint in a session's section, or nil if the session has no
// section.
func stateFileOf(private *markdownstore.Store, s session) (*checkpoint.Checkpoint, error) {
	f, _, err := ReadStateFile(private)
	if store.OutOfReach(err) {
		return nil, err
	}
	if err != nil || f.Section == nil || f.Section.Owner != s.Name() {
		return nil, nil
	}
	return f.Section.lines().Checkpoint(s.Key(), f.Section.Captured, f.Section.At), nil
}

// withoutSession returns the file without the session's part. If the file shows the session in
// full, the newest other session takes its place.
func (k *Keeper) withoutSession(f stateFile) string {
	sec, key := *f.Section, k.Mask.Text(k.Session.Key())
	others := slices.DeleteFunc(sec.briefs(), func(b brief) bool { return b.Key == key })
	switch {
	case sec.Owner != k.Session.Name() && len(others) == len(sec.briefs()):
		return f.Text
	case sec.Owner != k.Session.Name():
		sec.setBody(sec.Key(), sec.lines(), others)
	case len(others) == 0:
		return f.without()
	default:
		first := others[0]
		sec = section{Owner: textutil.SafeName(first.Key), At: first.At}
		sec.setBody(first.Key, checkpoint.Record{}.Asked(first.Task), others[1:])
	}
	return f.with(sec)
}

// Newest returns the key of the session that spoke last, as SESSION-STATE.md shows, and the time.
// It ignores the session with the key but. It returns "" if the file shows no other session.
func Newest(private *markdownstore.Store, but string) (key string, at time.Time) {
	if private == nil {
		return "", time.Time{}
	}
	f, _, err := ReadStateFile(private)
	if err != nil || f.Section == nil || f.Section.Edited {
		return "", time.Time{}
	}
	for _, b := range append([]brief{{Key: f.Section.Key(), At: f.Section.At}}, f.Section.briefs()...) {
		if b.Key != but {
			return b.Key, b.At
		}
	}
	return "", time.Time{}
}

// Left reads the working state that a session left in its folder. It returns nil if the folder
// has no working state. It takes no lock, because the files are only replaced as a whole.
func Left(files store.Store, key string, now time.Time) (*checkpoint.Checkpoint, error) {
	r, err := checkpoint.NewStore(files).Resume()
	if err != nil || r.State.Thread.Captured == 0 || !r.State.Changed(r.Latest) {
		return r.Latest, err
	}
	return checkpoint.Build(r.State, r.Latest, checkpoint.Input{SessionKey: key, Now: now, Trigger: checkpoint.TriggerManual}), nil
}
