package workstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// Three records keep the working state of a session, and any one of them is enough to continue
// from: its checkpoints (with the state captured since), SESSION-STATE.md, and
// memory/working-buffer.md.
//
//	every observed turn     SESSION-STATE.md is brought up to date
//	from 60 % of the window the turn is appended to the working buffer
//	from 80 %               dump: checkpoint, the day's log, all of the state into the buffer, SESSION-STATE.md
//	compaction, reset       dump, whatever the size
//
// All of it is mechanical and happens before the next model call. After a cut by the kernel
// itself, for which the plan wrote a checkpoint, it happens with the first call that reports the
// result. The two Markdown records are written for private sessions only, on their main line, and
// by calls that report new messages: a plan writes none.
//
// In SESSION-STATE.md the kernel owns only one marked section. The section shows the private
// session that spoke last. See statefile.go, and buffer.go for the buffer.

// fallBack fills a state that has no checkpoint from the other records. If everything was captured,
// the captured state is complete, and the other records are not read, because they derive from it.
func (k *Keeper) fallBack(l *life) error {
	if l.Latest != nil && (l.From == "" || l.From == api.NetCheckpoint) {
		l.From = api.NetCheckpoint
		return nil
	}
	if l.State.Thread.Captured > 0 && l.State.Thread.Since == 0 && len(l.damaged) == 0 {
		return nil
	}
	c, from, err := k.fromMarkdown()
	if err != nil {
		return err
	}
	if l.Latest, l.From = c, from; c != nil && l.State.Thread.Captured == 0 {
		l.State = checkpoint.Begin(l.State, c)
	}
	return nil
}

// fromMarkdown reads the working state from the workspace's Markdown. It returns an error if the
// Markdown can't be read now.
func (k *Keeper) fromMarkdown() (*checkpoint.Checkpoint, api.Net, error) {
	if k.Private == nil || k.Options.Off {
		return nil, "", nil
	}
	if !k.Options.StateFileOff {
		if c, err := stateFileOf(k.Private, k.Session); c != nil || err != nil {
			return c, api.NetSessionState, err
		}
	}
	if !k.Options.BufferOff {
		if c, err := bufferOf(k.Private, k.Session); c != nil || err != nil {
			return c, api.NetBuffer, err
		}
	}
	return nil, "", nil
}

// standing returns the present working state, even if it has not been written. It returns nil if
// nothing is known.
func (k *Keeper) standing(now time.Time) *checkpoint.Checkpoint {
	l := k.life
	if l == nil || l.State.Thread.Captured == 0 && l.Latest == nil {
		return nil
	}
	c := checkpoint.Build(l.State, l.Latest, k.Input(checkpoint.TriggerManual, checkpoint.Reading{}, now))
	overlay(c, plan.Standing(k.Session.Stored(), ""))
	return c
}

// overlay replaces the rules and the plan that were read from the conversation by those in the
// hosts' pages.
func overlay(c *checkpoint.Checkpoint, pins []journal.StoredPage) {
	for _, p := range pins {
		switch p.Type {
		case pagevm.Constraint:
			c.Pin(plan.TextField(p, "text"), "", "")
		case pagevm.Plan:
			c.Pin("", plan.TextField(p, "goal"), plan.TextField(p, "step"))
		}
	}
}

// Source names the record from which a restore text was made, if no checkpoint on disk holds the
// whole text.
func (k *Keeper) Source(c *checkpoint.Checkpoint) string {
	if k.life == nil {
		return k.sourceOf(c, "")
	}
	return k.sourceOf(c, k.life.From)
}

func (k *Keeper) sourceOf(c *checkpoint.Checkpoint, from api.Net) string {
	switch {
	case c.Meta.CheckpointID != "":
		return ""
	case from == api.NetBuffer, k.Options.StateFileOff:
		return BufferPath
	}
	return StatePath
}

// Restore returns the restore text, from the present data on disk. observed is the summary of the
// main line's turns. It uses only the options that depend on the text's reader.
func (k *Keeper) Restore(observed summary.State, o *checkpoint.RestoreOptions) (*api.Restored, error) {
	out := &api.Restored{Damaged: []string{}}
	k.Forget()
	l, err := k.Now()
	if err != nil {
		return nil, err
	}
	for _, d := range l.damaged {
		out.Damaged = append(out.Damaged, d.String())
	}
	if c := l.Written(); c != nil {
		out.Checkpoint = string(c.Meta.CheckpointID)
	}
	c, from, source := l.Latest, l.From, ""
	if c == nil {
		if c, from, err = k.fromMarkdown(); err != nil {
			return nil, err
		}
	}
	if c == nil {
		c, from, source = checkpoint.FromSummary(k.Session.Key(), observed), api.NetJournal, "the session's journal"
	}
	if c != nil {
		out.Net, source = from, cmp.Or(source, k.sourceOf(c, from))
		out.Text = checkpoint.Restore(c, &checkpoint.RestoreOptions{Occasion: o.Occasion, Resolver: o.Resolver, Shown: o.Shown, Source: source})
	}
	return out, nil
}

// HasMarkdown reports whether the Markdown records of private sessions may be written.
func (k *Keeper) HasMarkdown() bool { return k.Private != nil && !k.Options.Off }

// Turn is an observed turn on the main line of a private session.
type Turn struct {
	// Key is the turn's advancement key.
	Key string
	// Msgs is the conversation. The turn is Msgs[From:To].
	Msgs     []memkernel.Message
	From, To int
	// Ended reports that the turn has ended, or that no more of it is known to come.
	Ended bool
	// Reading is the least size of the next call.
	Reading checkpoint.Reading
	Now     time.Time
}

// AfterTurn updates the Markdown records after a turn, or in the middle of a turn when the window
// fills.
func (k *Keeper) AfterTurn(ctx context.Context, t *Turn) []fault.Fault {
	if _, err := k.Now(); err != nil {
		return []fault.Fault{skipped("", err)}
	}
	var out []fault.Fault
	if t.Ended && t.Reading.Utilization() >= k.Options.BufferAt {
		out = append(out, k.buffer(t.Now).turn(ctx, t)...)
	}
	over := t.Reading.Utilization() >= k.Options.Thresholds(t.Reading.Window, 0).Checkpoint || k.buffer(t.Now).cutSince()
	if over {
		faults, _ := k.dump(ctx, checkpoint.TriggerAuto, t.Reading, t.Now)
		out = append(out, faults...)
	}
	if t.Ended || over {
		out = append(out, k.writeStateFile(ctx, t.Ended, t.Now)...)
	}
	return out
}

// Boundary is a boundary that the session passes.
type Boundary struct {
	Point journal.CommitPoint
	// Begins reports that the session begins with the boundary, so that nothing ends and the next
	// turn belongs to another conversation. Main reports that the boundary is on the main line.
	// Private reports that the session is private.
	Begins, Main, Private bool
	Msgs                  []memkernel.Message
	From                  checkpoint.Source
	Reading               checkpoint.Reading
	Now                   time.Time
}

// Pass captures the working state at a boundary and updates the Markdown records and the day's
// log. If the boundary ends something, Pass writes a checkpoint. After a reset the working state
// begins anew. It returns the newest checkpoint's id, or "" without a checkpoint, and the number
// of entries that went to the day's log.
func (k *Keeper) Pass(ctx context.Context, b *Boundary) (newest string, faults []fault.Fault, flushed int, err error) {
	if b.Main && !k.Options.Off {
		if err := k.Capture(b.Msgs, b.From, nil); err != nil {
			return "", nil, 0, err
		}
		if t := triggers[b.Point]; t != "" && !b.Begins && k.life.State.Changed(k.life.Written()) {
			if _, err := k.WriteCheckpoint(k.Input(t, b.Reading, b.Now)); err != nil {
				return "", nil, 0, err
			}
		}
		faults = k.Damages()
		if c := k.life.Written(); c != nil {
			newest = string(c.Meta.CheckpointID)
		}
	}
	if b.Main && !b.Begins {
		if b.Private && k.HasMarkdown() && k.life != nil {
			if b.Point == journal.PointCompaction || b.Point == journal.PointReset || b.Reading.Utilization() >= k.Options.BufferAt && b.Point == journal.PointSessionEnd {
				dumped, n := k.dump(ctx, triggers[b.Point], b.Reading, b.Now)
				faults, flushed = append(faults, dumped...), n
			}
			faults = append(faults, k.writeStateFile(ctx, false, b.Now)...)
		}
		ended := b.Point == journal.PointReset || b.Point == journal.PointSessionEnd
		faults = append(faults, k.Log().Statements(ctx, b.Msgs, 0, b.Now)...)
		skipped, n := k.flush(ctx, ended, b.Now)
		faults, flushed = append(faults, skipped...), flushed+n
	}
	if b.Point == journal.PointReset {
		err = k.begin()
	}
	return newest, faults, flushed, err
}

// dump writes all of the working state: the checkpoint, if it is new, the entries worth
// remembering to the day's log, and the state itself to the buffer. Equal content is written once
// per compaction cycle. It returns the number of entries that went to the log.
func (k *Keeper) dump(ctx context.Context, trigger checkpoint.Trigger, r checkpoint.Reading, now time.Time) ([]fault.Fault, int) {
	in := k.Input(trigger, r, now)
	if !checkpoint.Redundant(k.life.Written(), in) {
		if _, err := k.WriteCheckpoint(in); err != nil {
			return []fault.Fault{skipped(api.NetCheckpoint, err)}, 0
		}
	}
	out, n := k.flush(ctx, false, now)
	return append(out, k.buffer(now).state(ctx, r)...), n
}

// begin forgets the captured state at a reset. The next conversation continues from the newest
// checkpoint.
func (k *Keeper) begin() error {
	l := k.life
	if l == nil {
		return nil
	}
	from := l.State.Thread.From
	l.State = checkpoint.State{}
	if err := k.fallBack(l); err != nil {
		k.Forget()
		return err
	}
	l.State = checkpoint.Begin(checkpoint.State{}, l.Latest)
	from.Past = from.Compactions
	l.State.Thread.From = from
	return k.save(l)
}

// BeforePlan writes the checkpoint that a plan requires before the plan is used.
func (k *Keeper) BeforePlan(ctx context.Context, p *plan.Result) ([]fault.Fault, error) {
	now := p.Request.Now
	if p.Gauge.Trigger == "" && !p.Behind {
		return nil, nil
	}
	l, err := k.Now()
	if err != nil {
		return nil, err
	}
	if p.Behind {
		left := k.Input(checkpoint.TriggerSessionEnd, checkpoint.Reading{}, now)
		if _, err := k.WriteCheckpoint(left); err != nil || p.Gauge.Trigger == "" {
			return nil, err
		}
	}
	l.State = checkpoint.Update(l.State, p.Msgs, k.Mask.Text)
	k.tell(&l.State, p.Request.Source)
	in := k.Input(p.Gauge.Trigger, p.Gauge.Reading, now)
	if checkpoint.Redundant(l.Written(), in) {
		return nil, nil
	}
	if _, err := k.WriteCheckpoint(in); err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if p.Made.Cut == nil || !p.Refusal.Refused {
		return nil, nil
	}
	faults, _ := k.flush(ctx, false, now)
	return faults, nil
}

// faults returns the fault for a skipped write. If every later write will have the same fault, it
// is reported only once.
func (k *Keeper) faults(f api.Net, err error) []fault.Fault {
	if err == nil {
		return nil
	}
	if errors.Is(err, markdownstore.ErrReadOnly) || errors.Is(err, markdownstore.ErrDenied) || errors.Is(err, errBufferFull) {
		if k.told[f] {
			return nil
		}
		if k.told == nil {
			k.told = map[api.Net]bool{}
		}
		k.told[f] = true
	}
	return []fault.Fault{skipped(f, err)}
}

// ForgetMarkdown removes the session's words from the workspace's records of the session's state.
// These records quote messages without naming them.
func (k *Keeper) ForgetMarkdown(ctx context.Context) error {
	if k.Private == nil {
		return nil
	}
	f, hash, err := ReadStateFile(k.Private)
	if err == nil && f.Section != nil && !f.Section.Edited {
		if text := k.withoutSession(f); text != f.Text {
			_, err = k.Private.Replace(ctx, StatePath, hash, text)
		}
	}
	return errors.Join(err, forgetEntries(ctx, k.Private, k.Session.Name()))
}
