package kernel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/summary"
)

// Three records keep the working state of a session, and any one of them is enough to
// go on from: its checkpoints (with the state captured since), SESSION-STATE.md, and
// memory/working-buffer.md.
//
//	every observed turn     SESSION-STATE.md is brought up to date
//	from 60 % of the window the turn is appended to the working buffer
//	from 80 %               dump: checkpoint, the day's log, all of the state into the buffer, SESSION-STATE.md
//	compaction, reset       dump, whatever the size
//
// All of it is mechanical and happens before the next model call; behind a cut of the
// kernel's own, for which the plan wrote a checkpoint, with the first call that tells
// what came of it. The two that are
// Markdown are written for private sessions only, on their main line, and by calls that
// tell what happened: a plan writes none.
//
// SESSION-STATE.md belongs to the private session that spoke last. In it the kernel
// owns one marked section and nothing else. See sessionstate.go for how it changes
// hands, and buffer.go for the buffer.

// Net names a record that a session can go on from.
type Net string

// The nets, in the order in which they are asked.
const (
	NetCheckpoint   Net = "checkpoint"
	NetSessionState Net = "session_state"
	NetBuffer       Net = "working_buffer"
	// NetJournal is the summary of the observed turns, for who asks for the text to go
	// on from where none of the others can be read.
	NetJournal Net = "journal"
)

const (
	statePath  = "SESSION-STATE.md"
	bufferPath = "memory/working-buffer.md"
)

// written is the newest checkpoint that stands on disk, nil if there is none.
func (l *life) written() *checkpoint.Checkpoint {
	if l == nil || l.net != NetCheckpoint {
		return nil
	}
	return l.latest
}

// fallBack gives a life without a checkpoint what the other records say. A state that
// holds all that was captured needs none: what was read off it says nothing more.
func (s *session) fallBack(l *life) {
	if s.lifeOpt.NoCheckpoints {
		l.net, l.latest = "", nil
	} else if l.latest != nil && (l.net == "" || l.net == NetCheckpoint) {
		l.net = NetCheckpoint
		return
	}
	if l.state.Thread.Captured > 0 && l.state.Thread.Since == 0 && len(l.damaged) == 0 {
		return
	}
	l.latest, l.net = s.otherNets()
	if l.latest != nil && l.state.Thread.Captured == 0 {
		l.state = checkpoint.Begin(l.state, l.latest)
	}
}

// otherNets reads the working state off the workspace's Markdown.
func (s *session) otherNets() (*checkpoint.Checkpoint, Net) {
	if s.memory == nil || s.lifeOpt.Off {
		return nil, ""
	}
	if c := s.fromStateFile(); c != nil {
		return c, NetSessionState
	}
	if c := s.fromBuffer(); c != nil {
		return c, NetBuffer
	}
	return nil, ""
}

// standing is the working state as it is now, whether it has been written or not; nil
// if nothing is known.
func (s *session) standing(now time.Time) *checkpoint.Checkpoint {
	l := s.life
	if l == nil || l.state.Thread.Captured == 0 && l.latest == nil {
		return nil
	}
	c := checkpoint.Build(l.state, l.latest, s.checkpointInput(checkpoint.TriggerManual, checkpoint.Reading{}, now))
	s.overlay(c)
	return c
}

// goOn is what a conversation goes on from where no checkpoint is written now.
func (s *session) goOn(now time.Time) *checkpoint.Checkpoint {
	if s.life.latest != nil || !s.lifeOpt.NoCheckpoints {
		return s.life.latest
	}
	c := s.standing(now)
	if c != nil {
		c.Meta.CheckpointID = ""
	}
	return c
}

// overlay puts what hosts wrote over what was read off the conversation.
func (s *session) overlay(c *checkpoint.Checkpoint) {
	for _, p := range plan.Standing(s.stored()) {
		switch text := plan.TextField(p, "text"); {
		case p.Type == pagevm.Constraint && text != "":
			if t := checkpoint.Text(text); !slices.Contains(c.Constraints, t) {
				c.Constraints = append(c.Constraints, t)
			}
		case p.Type == pagevm.Plan:
			if goal := plan.TextField(p, "goal"); goal != "" {
				c.Working.Goal = checkpoint.Text(goal)
			}
			if step := plan.TextField(p, "step"); step != "" {
				c.Working.Step = checkpoint.Text(step)
			}
		}
	}
}

// sourceOf names what a restore text of a net was made of, if no checkpoint on disk holds all
// of it.
func (s *session) sourceOf(c *checkpoint.Checkpoint, net Net) string {
	switch {
	case c.Meta.CheckpointID != "" && !s.lifeOpt.NoCheckpoints:
		return ""
	case net == NetBuffer, s.lifeOpt.StateFile.Off:
		return bufferPath
	}
	return statePath
}

// netNow is the net that the working state was read from.
func (s *session) netNow() Net {
	if s.life == nil {
		return ""
	}
	return s.life.net
}

// restoreText is what [Kernel.Restore] gives.
func (s *session) restoreText() (*Restored, error) {
	out := &Restored{Damaged: []string{}}
	s.life = nil // what stands on disk counts
	l, err := s.lifeNow()
	if err != nil {
		return nil, err
	}
	for _, d := range l.damaged {
		out.Damaged = append(out.Damaged, d.String())
	}
	if c := l.written(); c != nil {
		out.Checkpoint = string(c.Meta.CheckpointID)
	}
	c, net, source := l.latest, l.net, ""
	if c == nil {
		c, net = s.otherNets()
	}
	if c == nil {
		c, net, source = s.fromJournal(), NetJournal, "the session's journal"
	}
	if c != nil {
		out.Net, source = net, cmp.Or(source, s.sourceOf(c, net))
		out.Text = checkpoint.Restore(c, &checkpoint.RestoreOptions{Occasion: checkpoint.NewSession,
			Cap: max(s.lifeOpt.RestoreTokens, 0), More: plan.More(c), Source: source})
	}
	return out, nil
}

// fromJournal makes the working state of what was summed up of the observed turns; nil
// if none were.
func (s *session) fromJournal() *checkpoint.Checkpoint {
	st, ok := s.account.observed[""]
	if !ok || st.Turn == 0 {
		return nil
	}
	lines := []checkpoint.Line{{Tag: checkpoint.TagGoal, Text: st.Goal.Text}, {Tag: checkpoint.TagTask, Text: st.Request.Text}}
	add := func(tag string, entries []summary.Entry) {
		for _, e := range entries {
			lines = append(lines, checkpoint.Line{Tag: tag, Text: e.Text})
		}
	}
	add(checkpoint.TagConstraint, st.Constraints)
	add(checkpoint.TagDecision, st.Decisions)
	add(checkpoint.TagOpen, st.OpenThreads())
	add(checkpoint.TagModified, st.Artifacts)
	lines = slices.DeleteFunc(lines, func(l checkpoint.Line) bool { return l.Text == "" })
	c := checkpoint.FromLines(lines)
	c.Meta.SessionKey, c.Meta.CreatedAt = checkpoint.Name(s.key), checkpoint.Time{Time: st.Request.Time.UTC()}
	return c
}

// netsOn tells whether the Markdown records of a session may be written.
func (s *session) netsOn(branch, model string, private bool) bool {
	return s.memory != nil && !s.lifeOpt.Off && branch == "" && (private || s.newestLine(branch, model).Private)
}

// netsAfter brings the Markdown records up to date after a turn, or in the middle of
// one where the window fills.
func (s *session) netsAfter(ctx context.Context, w *intake, t Turn, o *Observation, from yielded) []Fault {
	if t.More || o.Outcome == Conflict || !s.netsOn(t.Branch, t.Model, t.Private) {
		return nil
	}
	if _, err := s.lifeNow(); err != nil {
		return []Fault{s.netFault("", err)}
	}
	end := w.turnEnd()
	ended := o.Outcome == Committed || o.AdvancementKey != "" && (o.Outcome == OpenTurn || end == len(w.Msgs))
	r := s.readingAfter(w, t)
	var out []Fault
	if ended && r.Utilization() >= s.lifeOpt.Buffer.at() {
		out = append(out, s.bufferTurn(ctx, bufferedTurn{id: o.AdvancementKey, msgs: w.Msgs[turnStart(w.Msgs, end):end], reading: r, now: t.Now})...)
	}
	over := r.Utilization() >= s.lifeOpt.thresholds(r.Window, 0).Checkpoint || s.cutSince()
	if over {
		faults, _ := s.dump(ctx, checkpoint.TriggerAuto, r, t.Now)
		out = append(out, faults...)
	}
	if ended || over {
		out = append(out, s.writeState(ctx, stateWrite{w: w, now: t.Now, from: from, takes: ended})...)
	}
	return out
}

// netsAt does the same where a boundary is passed, and counts what it wrote to the
// day's log.
func (s *session) netsAt(ctx context.Context, b Boundary, point journal.CommitPoint) (out []Fault, flushed int) {
	if b.Reason == startReason {
		s.started = true
		return nil, 0
	}
	if !s.netsOn(b.Branch, b.Model, b.Private) || s.life == nil {
		return nil, 0
	}
	r := s.lastReading(b)
	if point == journal.PointCompaction || point == journal.PointReset || r.Utilization() >= s.lifeOpt.Buffer.at() && point == journal.PointSessionEnd {
		out, flushed = s.dump(ctx, triggers[point], r, b.Now)
	}
	return append(out, s.writeState(ctx, stateWrite{now: b.Now})...), flushed
}

// dump writes all of the working state: the checkpoint, if it says anything new, what
// is worth remembering to the day's log, and the state itself to the buffer. Equal
// content is written once per compaction cycle. It counts what went to the log.
func (s *session) dump(ctx context.Context, trigger checkpoint.Trigger, r checkpoint.Reading, now time.Time) ([]Fault, int) {
	in := s.checkpointInput(trigger, r, now)
	if !checkpoint.Redundant(s.life.written(), in) {
		if _, err := s.writeCheckpoint(in); err != nil {
			return []Fault{s.netFault(NetCheckpoint, err)}, 0
		}
	}
	out, n := s.flushMechanically(ctx, s.memory, false, now)
	return append(out, s.bufferState(ctx, r, now)...), n
}

// readingAfter is what the next call will hold at least: what the last one was billed
// for, with its answer and what came behind it, else what was planned and has come
// since.
func (s *session) readingAfter(w *intake, t Turn) checkpoint.Reading {
	l := s.newestLine(t.Branch, t.Model)
	r := checkpoint.Reading{Window: l.Window, Estimated: true}
	if r.Window == 0 {
		r.Window = w.model.ContextWindow
	}
	ratio := 1.0
	if cal := s.calib.of(t.Model); w.Count.Kind == budget.Estimated && cal.Trusted() {
		ratio, _ = cal.Factor()
	}
	count := func(from int) int {
		return int(float64(w.TokensFrom(from)) * ratio)
	}
	seen := len(l.Proj.Seen)
	if r.Tokens = count(0); seen > 0 && seen <= len(w.Hosts) {
		r.Tokens = l.Whole() + count(seen)
	}
	if u := t.Usage; u != nil && (seen == 0 && u.InputTotal() > 0 || plausible(u.InputTotal(), r.Tokens)) {
		behind := behindAnswer(w.Msgs)
		answer := max(u.OutputTokens, count(behind-1)-count(behind)) // streaming hosts record stubs
		r.Tokens, r.Estimated = u.InputTotal()+answer+count(behind), false
	}
	return r
}

// behindAnswer is the index of the first message behind the model's last.
func behindAnswer(msgs []memkernel.Message) int {
	for i := len(msgs); i > 0; i-- {
		if msgs[i-1].Role == memkernel.RoleAssistant {
			return i
		}
	}
	return 0
}

// netFault says why a record was not written.
func (s *session) netFault(net Net, err error) Fault {
	return Fault{Code: FaultNet, Cause: string(net), Detail: err.Error()}
}

// netFaults is netFault, told once for what every write will meet again.
func (s *session) netFaults(net Net, err error) []Fault {
	if err == nil {
		return nil
	}
	if errors.Is(err, markdownstore.ErrReadOnly) || errors.Is(err, markdownstore.ErrDenied) || errors.Is(err, errBufferFull) {
		if s.told[net] {
			return nil
		}
		s.told[net] = true
	}
	return []Fault{s.netFault(net, err)}
}
