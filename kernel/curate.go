package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/consolidation"
	"github.com/memkernel/memkernel/summary"
)

// CurateRequest asks what of a day is worth a place in MEMORY.md.
type CurateRequest struct {
	// Day is the day whose log is read, YYYY-MM-DD in the user's time zone; "" is
	// that of Now.
	Day string
	// NearDuplicate is the share of their words, in threes, from which two entries
	// say the same; 0 takes that of the audit.
	NearDuplicate float64
	// Model may reword and drop what was chosen, within bounds. Nil asks nobody.
	Model summary.Model
	// Apply writes it. Without it nothing is written at all.
	Apply bool
	Now   time.Time
}

// Curated says what a day came to.
type Curated struct {
	consolidation.Curation
	Applied bool `json:"applied"`
	// Run names what was written, for an undo.
	Run string `json:"run"`
	// BufferBytes is what was read of the working buffer; pruning empties so much of
	// it.
	BufferBytes int `json:"buffer_bytes"`
	// Advice is the model's.
	Advice CurateAdvice `json:"advice"`
}

// Curate brings what the day's log, the working buffer and the checkpoints hold into
// MEMORY.md: a few entries that aren't there yet, appended under the day's heading. It
// rewrites nothing, and writes nothing where there is nothing to say. The buffer is
// read and stays; what was read of it is committed, so that pruning may empty it.
func (k *Kernel) Curate(ctx context.Context, req CurateRequest) (*Curated, error) {
	if req.Now.IsZero() {
		req.Now = k.now()
	}
	begin := k.readUpkeep
	if req.Apply {
		begin = k.beginUpkeep
	}
	u, unlock, err := begin(ctx, runCurate, req.Now)
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	defer unlock()
	if req.Day != "" {
		u.run.Day = req.Day
	}
	out, err := u.curate(ctx, &req)
	if err != nil {
		return nil, fmt.Errorf("curate: %w", err)
	}
	return out, ctx.Err()
}

func (u *upkeep) curate(ctx context.Context, req *CurateRequest) (*Curated, error) {
	buffer, err := u.ReadBuffer(ctx)
	if err != nil {
		return nil, err
	}
	snap, err := u.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	graves := gravesOf(u.log)
	o := consolidation.CurateOptions{Day: u.run.Day, NearDuplicate: req.NearDuplicate, Buffer: buffer.Text,
		BufferRef: bufferPath + "@" + buffer.Hash[:12], Retired: func(key string) bool { return graves[key] }, Taken: u.taken()}
	if o.NearDuplicate == 0 {
		o.NearDuplicate = consolidation.DefaultLimits().NearDuplicate
	}
	if o.Extra, err = u.checkpointed(u.run.Day); err != nil {
		return nil, err
	}
	c := snap.Curate(o)
	out := &Curated{Curation: *c, BufferBytes: buffer.Bytes}
	mask := func() {
		for i := range out.Entries {
			out.Entries[i].Text, out.Entries[i].Replaces = u.masker.Text(out.Entries[i].Text), u.masker.Text(out.Entries[i].Replaces)
		}
	}
	mask() // before it is sent anywhere, and what comes back as well
	u.advise(ctx, req.Model, out)
	mask()
	if !req.Apply {
		return out, nil
	}
	return out, u.commitCuration(ctx, snap, out, buffer)
}

// commitCuration writes a curation, and what was read of the buffer. Nothing is
// written if that is known and there is nothing to say.
func (u *upkeep) commitCuration(ctx context.Context, snap *consolidation.Snapshot, out *Curated, buffer *Buffered) error {
	out.Applied = true
	text := out.Text()
	if buffer.Bytes > 0 && !u.hasRead(buffer) {
		u.run.Reads = []readMark{{bufferPath, buffer.Bytes, u.keep(buffer.Text)}}
	}
	if text == "" && u.run.Reads == nil {
		return nil
	}
	if text != "" {
		before := ""
		if f := snap.Memory(); f != nil {
			if f.Err != nil {
				return fmt.Errorf("read %s: %w", f.Path, f.Err)
			}
			before = f.Doc.Raw
		}
		u.adds(out.Path, before, text)
		u.run.Entries = len(out.Entries)
	}
	out.Run = u.runID()
	_, err := u.commit(ctx)
	return err
}

// taken counts the entries that a day has been given.
func (u *upkeep) taken() int {
	n := 0
	for i := range u.log {
		if r := &u.log[i]; r.run.Kind == runCurate && r.run.Day == u.run.Day && !r.undone {
			n += r.run.Entries
		}
	}
	return n
}

// hasRead tells whether a curation has read all of the buffer.
func (u *upkeep) hasRead(b *Buffered) bool {
	m := u.lastRead()
	return m != nil && m.Hash == b.Hash && m.Bytes == b.Bytes
}

// lastRead is what a curation has last read of the buffer, nil if none has.
func (u *upkeep) lastRead() *readMark {
	for i := len(u.log) - 1; i >= 0; i-- {
		for j := range u.log[i].run.Reads {
			if m := &u.log[i].run.Reads[j]; m.Path == bufferPath && u.log[i].run.Kind == runCurate {
				return m
			}
		}
	}
	return nil
}

// snapshot reads the workspace.
func (k *Kernel) snapshot(ctx context.Context) (*consolidation.Snapshot, error) {
	return consolidation.Read(ctx, k.memory.private.FS(), k.memory.opts.Store.MaxFileBytes)
}

// checkpointed are the decisions and learnings of the newest checkpoint of each
// session that was written on a day.
func (k *Kernel) checkpointed(day string) ([]consolidation.Extra, error) {
	folders, err := k.sessionFolders()
	if err != nil {
		return nil, err
	}
	var out []consolidation.Extra
	for _, f := range folders {
		c, _, err := checkpoint.NewStore(k.folder(f)).Latest()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the checkpoints of session %s: %w", f, err)
		}
		if c == nil || k.memory.private.Today(c.Meta.CreatedAt.Time) != day {
			continue
		}
		ref := f + "/" + string(c.Meta.CheckpointID)
		for _, d := range c.Decisions {
			out = append(out, consolidation.Extra{Text: string(d.What), Tags: judge("decision", string(d.What), nil), Ref: ref})
		}
		for _, l := range c.Learnings {
			out = append(out, consolidation.Extra{Text: string(l), Tags: judge("lesson", string(l), nil), Ref: ref})
		}
	}
	return out, nil
}
