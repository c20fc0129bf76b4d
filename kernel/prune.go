package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/kernel/internal/ids"
)

// PruneOptions are the thresholds of pruning; 0 takes the default, negative
// switches off.
type PruneOptions struct {
	// MemoryLines is how long MEMORY.md may get, default [DefaultMemoryLines].
	MemoryLines int
	// ObservationLines is the length from which observations.md is trimmed to
	// ObservationRest lines; defaults 100 and 60.
	ObservationLines, ObservationRest int
	// ObservationDays is the age from which an observation without a tag goes, and
	// DoneDays that from which a task that is done does; default 7.
	ObservationDays, DoneDays int
	// LogDays is the age from which a log's decisions and lessons are brought into
	// topic files; default [consolidation.LogDays].
	LogDays int
	// NearDuplicate: see [CurateRequest].
	NearDuplicate float64
	// Owners are the files that stable facts move to, default USER.md, TOOLS.md and
	// IDENTITY.md, each while it has fewer than OwnerChars characters, default
	// 18,000: where a host's limit is near.
	Owners     []string
	OwnerChars int
	// Include names what somebody else wrote and may leave as well, see
	// [consolidation.PruneOptions].
	Include []string
}

// DefaultMemoryLines is how long MEMORY.md may get: every session begins with it.
const DefaultMemoryLines = 50

func (o PruneOptions) filled() PruneOptions {
	for _, f := range []struct {
		to *int
		by int
	}{{&o.MemoryLines, DefaultMemoryLines}, {&o.ObservationLines, 100}, {&o.ObservationRest, 60}, {&o.ObservationDays, 7}, {&o.DoneDays, 7},
		{&o.LogDays, consolidation.LogDays}, {&o.OwnerChars, 18_000}} {
		if *f.to == 0 {
			*f.to = f.by
		}
	}
	if o.NearDuplicate == 0 {
		o.NearDuplicate = consolidation.DefaultLimits().NearDuplicate
	}
	if o.Owners == nil {
		o.Owners = []string{"USER.md", "TOOLS.md", "IDENTITY.md"}
	}
	return o
}

// PruneRequest asks what should leave the files of memory.
type PruneRequest struct {
	PruneOptions
	// Apply does it. Without it nothing is written at all.
	Apply bool
	// QuietTime prunes observations and the working buffer alone.
	QuietTime bool
	Now       time.Time
}

// Pruned says what left which file, or would.
type Pruned struct {
	consolidation.Pruning
	Applied bool `json:"applied"`
	// Run names what was done, for an undo.
	Run string `json:"run"`
	// BufferBytes is what of the working buffer goes: what a curation has read.
	BufferBytes int `json:"buffer_bytes"`
	// BufferLeft is what stays of it: what none has read.
	BufferLeft int `json:"buffer_left"`
	// Kept are files that were left alone, and why: somebody changed them meanwhile, or
	// they hold what is taken for a secret.
	Kept []string `json:"kept"`
}

// Prune takes out of memory's files what no longer holds, and moves what MEMORY.md
// has no room for to the files that own it. Only what the kernel wrote itself, and
// stands as it was written, leaves, and what is named by Include; of all else it says
// what could. All that is touched is backed up first, nothing that is not a day old
// leaves, and of the working buffer go the kernel's entries that a committed curation
// has read.
func (k *Kernel) Prune(ctx context.Context, req PruneRequest) (*Pruned, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	begin := k.readUpkeep
	if req.Apply {
		begin = k.beginUpkeep
	}
	u, unlock, err := begin(ctx, runPrune, req.Now)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	defer unlock()
	out, err := u.prune(ctx, &req)
	if err != nil {
		return nil, fmt.Errorf("prune: %w", err)
	}
	return out, ctx.Err()
}

func (u *upkeep) prune(ctx context.Context, req *PruneRequest) (*Pruned, error) {
	snap, err := u.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	young, err := u.youth(snap, req.Now)
	if err != nil {
		return nil, err
	}
	graves := gravesOf(u.log)
	wrote, unread := u.wrote()
	f := req.PruneOptions.filled()
	o := consolidation.PruneOptions{Day: u.run.Day, MemoryLines: f.MemoryLines, ObservationLines: f.ObservationLines, ObservationRest: f.ObservationRest,
		ObservationDays: f.ObservationDays, DoneDays: f.DoneDays, LogDays: f.LogDays, NearDuplicate: f.NearDuplicate, Owners: f.Owners, OwnerChars: f.OwnerChars,
		Young: young, Wrote: wrote, Include: f.Include, Retired: func(key string) bool { return graves[key] }}
	if req.QuietTime {
		o.Only = []string{"observations.md", "memory/observations.md"}
	}
	out := &Pruned{Kept: []string{}}
	if err := u.pruneSafely(snap, o, out); err != nil {
		return nil, err
	}
	if err := unread(); err != nil {
		return nil, fmt.Errorf("read what was written before: %w", err)
	}
	text, mark, err := u.readOfBuffer(ctx, out)
	if err != nil || !req.Apply {
		return out, err
	}
	out.Applied = true
	return out, u.commitPruning(ctx, out, text, mark)
}

// commitPruning writes a pruning: what files get, what they lose, the buffer last.
func (u *upkeep) commitPruning(ctx context.Context, out *Pruned, buffer string, mark *readMark) error {
	for i := range out.Changes {
		c := &out.Changes[i]
		if c.Add != "" {
			u.adds(c.Path, c.Before, heading(c)+c.Add)
		} else {
			u.becomes(c.Path, c.Before, c.Text)
		}
	}
	for _, m := range out.Moves {
		if m.Key != "" && m.To != "" {
			u.run.Graves = append(u.run.Graves, entryGrave{Key: m.Key, From: m.From, To: m.To, Why: string(m.Why)})
		}
	}
	if mark != nil {
		u.run.Steps = append(u.run.Steps, upkeepStep{Path: bufferPath, Before: u.need(bufferPath, buffer), Clear: true, Bytes: mark.Bytes})
	}
	if len(u.run.Steps) == 0 {
		return nil
	}
	out.Run = u.runID()
	done, err := u.commit(ctx)
	if err == nil {
		out.Kept = append(out.Kept, done.Kept...)
	}
	return err
}

// heading is what a new file begins with: the heading that named it, as it is
// written.
func heading(c *consolidation.Change) string {
	if !c.New {
		return ""
	}
	if strings.HasPrefix(c.Path, consolidation.ArchiveDir) {
		return "# Taken out of memory on " + strings.TrimSuffix(path.Base(c.Path), ".md") + "\n\n"
	}
	return "# " + c.Title + "\n\n"
}

// readOfBuffer is what of the working buffer may go.
func (u *upkeep) readOfBuffer(ctx context.Context, out *Pruned) (string, *readMark, error) {
	b, err := u.ReadBuffer(ctx)
	if err != nil {
		return "", nil, err
	}
	out.BufferLeft = b.Bytes
	m := u.lastRead()
	if m == nil || b.Bytes < m.Bytes || m.Bytes == 0 || ids.Hash(b.Text[:m.Bytes]) != m.Hash {
		return "", nil, nil
	}
	read := b.Text[:m.Bytes]
	if u.secret(read) {
		out.Kept = append(out.Kept, bufferPath+": "+heldBack)
		return "", nil, nil
	}
	if out.BufferBytes = len(read) - len(foreignBuffer(read)); out.BufferBytes == 0 {
		return "", nil, nil
	}
	out.BufferLeft -= out.BufferBytes
	return read, m, nil
}

// youth tells what was not there a day ago: it stands neither in a file that has not
// been touched for so long nor in the last backup that is as old.
func (u *upkeep) youth(snap *consolidation.Snapshot, now time.Time) (func(path, text string) bool, error) {
	limit := now.Add(-24 * time.Hour)
	before := map[string]string{}
	for i := range u.log {
		for _, st := range u.log[i].run.Steps {
			if st.Before != "" && !st.Clear && !st.Since.After(limit) {
				before[st.Path] = st.Before
			}
		}
		for _, m := range u.log[i].run.Reads {
			if u.log[i].run.Kind == runSeen && !u.log[i].run.Time.After(limit) {
				before[m.Path] = m.Hash
			}
		}
	}
	texts := map[string]string{}
	for path, hash := range before {
		if f := snap.File(path); f == nil || !f.ModTime.After(limit) {
			continue
		}
		text, err := u.backup(hash)
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
