package kernel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/sessions"
)

// LifeOptions say how a session's working state is kept.
type LifeOptions struct {
	// Off keeps none: no gauge, no checkpoints, no SESSION-STATE.md, no working buffer,
	// no restore text.
	Off bool
	// Show and Checkpoint are the shares of the window from which the gauge is shown
	// and a checkpoint is written; 0 takes [checkpoint.DefaultThresholds].
	Show, Checkpoint float64
	// Compact is the share at which the host compacts; 0 takes where the reserve
	// begins.
	Compact float64
	// RestoreTokens bounds the text from which a model goes on; 0 takes
	// [checkpoint.RestoreCap], negative shows none.
	RestoreTokens int
	// Flush says when memory is written by itself.
	Flush FlushOptions
	// Progress keeps a session from being compacted for nothing.
	Progress ProgressOptions
	// NoCheckpoints writes and reads none: SESSION-STATE.md and the working buffer are
	// then what a session goes on from.
	NoCheckpoints bool
	// StateFile and Buffer are the other two records of the working state, both
	// Markdown of the workspace.
	StateFile StateFileOptions
	Buffer    BufferOptions
	// Source stands in the checkpoints of sessions of which no call says it better. In
	// its File "{session}" stands for the session's key.
	Source Source
}

// Source says where a session's conversation comes from. What a call says of it stands
// in the session's checkpoints from then on.
type Source = checkpoint.Source

// thresholds are those of a window, the host's compaction beginning at its reserve.
func (o *LifeOptions) thresholds(window, reserve int) checkpoint.Thresholds {
	t := checkpoint.DefaultThresholds()
	if o.Show > 0 {
		t.Show = o.Show
	}
	if o.Checkpoint > 0 {
		t.Checkpoint = o.Checkpoint
	}
	if at := checkpoint.CompactionPoint(window, reserve); at > 0 {
		t.Compact = at
	}
	if o.Compact > 0 {
		t.Compact = o.Compact
	}
	return t
}

func (o *LifeOptions) check() error {
	t := o.thresholds(0, 0)
	if err := t.Check(); err != nil {
		return err
	}
	return o.Buffer.check()
}

// life is the working state of a session, as it was read or last written.
type life struct {
	store   checkpoint.Store
	state   checkpoint.State
	latest  *checkpoint.Checkpoint
	damaged []checkpoint.Damage
	// net is what latest was read from; "" if there is none.
	net Net
	// stamp is the reading position's file when state was read or written: another
	// process that goes on from there changes it.
	stamp fileStamp
}

type fileStamp struct {
	size int64
	mod  time.Time
}

// lifeNow is the session's working state, read again if another process has
// written it.
func (s *session) lifeNow() (*life, error) {
	stamp := s.lifeStamp()
	if s.life != nil && s.life.stamp == stamp {
		return s.life, nil
	}
	l := &life{store: checkpoint.NewStore(s.files), stamp: stamp}
	r, err := l.store.Resume()
	if err != nil {
		return nil, err
	}
	l.state, l.latest, l.damaged = r.State, r.Latest, r.Damaged
	s.fallBack(l)
	s.life = l
	return l, nil
}

func (s *session) lifeStamp() fileStamp {
	fi, err := s.files.Stat("state/thread.json")
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{fi.Size, fi.Time}
}

// captureTurn is captureState for a turn that begins at from. One that stands in the
// journal was captured: the state, which knows the newest keys only, is not asked about
// an old one.
func (s *session) captureTurn(t *Turn, msgs []memkernel.Message, from int, stands bool) error {
	h := heardOf{from: t.Source}
	if stands && !s.lifeOpt.Off && t.Branch == "" {
		if l, err := s.lifeNow(); err != nil || l.state.Old(msgs[max(0, from-ingest.Rewound):]) {
			return err
		}
	} else {
		h.bill = t.bill()
	}
	return s.captureState(t.Branch, msgs, h)
}

// heardOf is what a call says beside its messages.
type heardOf struct {
	from Source
	bill *checkpoint.Usage
}

// bill is the turn's usage, nil if it has none.
func (t *Turn) bill() *checkpoint.Usage {
	if t.Usage == nil {
		return nil
	}
	return &checkpoint.Usage{Tokens: t.Usage.InputTotal(), Model: t.Model, At: t.Now.UTC().Truncate(time.Second)}
}

// captureState takes in what the messages of the main line say of the working
// state, and writes it. A plan does not: what it leaves out is read again from the
// host's next conversation.
func (s *session) captureState(branch string, msgs []memkernel.Message, h heardOf) error {
	if s.lifeOpt.Off || branch != "" {
		return nil
	}
	l, err := s.lifeNow()
	if err != nil {
		return err
	}
	l.state = checkpoint.UpdateMasked(l.state, msgs, s.masker.Text)
	s.tell(&l.state, h.from)
	// A bill may be that of an earlier call than the newest message's; where that says the
	// same it says which call it was, too.
	if now := l.state.Thread.Usage; h.bill != nil && h.bill.Tokens > 0 && (now == nil || now.Tokens != h.bill.Tokens && h.bill.At.After(now.At)) {
		l.state.Thread.Usage = h.bill
	}
	if err := l.store.SaveState(l.state); err != nil {
		return err
	}
	l.stamp = s.lifeStamp()
	return nil
}

// writeCheckpoint bundles the state, if it says anything that the newest checkpoint
// does not.
func (s *session) writeCheckpoint(in checkpoint.Input) (*checkpoint.Checkpoint, error) {
	l, err := s.lifeNow()
	if err != nil {
		return nil, err
	}
	if s.lifeOpt.NoCheckpoints {
		return nil, nil
	}
	if !l.state.Changed(l.written()) || l.state.Thread.Captured == 0 {
		return l.written(), nil
	}
	in.Instead = l.latest
	w, err := l.store.Checkpoint(l.state, in)
	if err != nil {
		return nil, err
	}
	l.state, l.latest, l.net, l.stamp = w.State, w.Checkpoint, NetCheckpoint, s.lifeStamp()
	for _, d := range w.Damaged {
		if !slices.ContainsFunc(l.damaged, func(k checkpoint.Damage) bool { return k.File == d.File }) {
			l.damaged = append(l.damaged, d)
		}
	}
	return l.latest, nil
}

// checkpointInput is what a checkpoint holds beside the state.
func (s *session) checkpointInput(t checkpoint.Trigger, r checkpoint.Reading, now time.Time) checkpoint.Input {
	o := &s.lifeOpt.Source
	in := checkpoint.Input{SessionKey: s.key, SessionFile: strings.ReplaceAll(o.File, "{session}", s.key), Channel: o.Channel,
		AgentID: cmp.Or(o.Agent, sessions.AgentOf(s.key)), Now: now, Trigger: t, Reading: r, Compactions: s.account.compactions}
	if s.life != nil && in.Reading.Window == 0 {
		in.Reading.Window = s.windowOf(s.life.state.Thread.Usage)
	}
	return in
}

// windowOf is the window of the model that a call was billed for, 0 if it is not known or
// must be a larger one.
func (s *session) windowOf(u *checkpoint.Usage) int {
	if u == nil || u.Model == "" {
		return 0
	}
	m, _ := s.prices.Lookup(u.Model, s.now())
	if m.ContextWindow < u.Tokens {
		return 0
	}
	return m.ContextWindow
}

// maxSource bounds what a call may say of where a session comes from, in bytes.
const maxSource = 1024

// tell has a state take what a call says of where the session comes from.
func (s *session) tell(st *checkpoint.State, from Source) {
	for _, v := range []*string{&from.File, &from.Channel, &from.Agent} {
		*v = strings.ToValidUTF8(s.masker.Text(*v), "\uFFFD")
		if len(*v) > maxSource {
			*v = strings.ToValidUTF8((*v)[:maxSource], "") + "…"
		}
	}
	st.Thread.From = from.Over(st.Thread.From)
}

// damages tells, once, what of the state could not be used.
func (s *session) damages() []Fault {
	if s.life == nil {
		return nil
	}
	var out []Fault
	for _, d := range s.life.damaged {
		out = append(out, Fault{Code: FaultCheckpoint, Cause: filepath.Base(d.File), Detail: d.String()})
	}
	s.life.damaged = nil
	return out
}

// checkpointID is the form of a checkpoint's id; behind a dot may stand a section.
var checkpointID = regexp.MustCompile(`^(cp_\d{3,})(?:\.([a-z_]+))?$`)

// getCheckpoint gives a checkpoint as its file says it, or one section in full.
func (s *session) getCheckpoint(id string) (*Content, error) {
	m := checkpointID.FindStringSubmatch(id)
	store := checkpoint.NewStore(s.files)
	c, err := store.Load(m[1])
	out := &Content{ID: id, Reason: ReasonOK}
	if errors.Is(err, fs.ErrNotExist) {
		c, err = succeeding(store, m[1])
		if c == nil {
			return &Content{ID: id, Reason: ReasonNoMatch}, err
		}
		out.Detail = fmt.Sprintf("%s is not kept any more; %s goes on from it", m[1], c.Meta.CheckpointID)
		out.Text = "# " + out.Detail + "\n"
	}
	if err != nil {
		return nil, err
	}
	if m[2] != "" {
		out.Text += checkpoint.SectionText(c, checkpoint.Section(m[2]))
		return out, nil
	}
	text, err := checkpoint.Marshal(c)
	out.Text += string(text)
	return out, err
}

// succeeding is the newest checkpoint, if the one with id stood before it: prompts
// and hosts' own summaries name checkpoints for longer than they are kept. Nil if
// id was never given.
func succeeding(store checkpoint.Store, id string) (*checkpoint.Checkpoint, error) {
	latest, _, err := store.Latest()
	if err != nil || latest == nil || ordinal(id) >= ordinal(string(latest.Meta.CheckpointID)) {
		return nil, err
	}
	return latest, nil
}

// ordinal is the number in a checkpoint's id.
func ordinal(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "cp_"))
	return n
}

// recordLife writes the checkpoint that the plan asks for, before it is used.
func (s *session) recordLife(ctx context.Context, pl *planned) error {
	if pl.Trigger == "" && !pl.Behind {
		return nil
	}
	l, err := s.lifeNow()
	if err != nil {
		return err
	}
	if pl.Behind { // before this conversation's messages are in it
		left := s.checkpointInput(checkpoint.TriggerSessionEnd, checkpoint.Reading{}, pl.req.Now)
		if _, err := s.writeCheckpoint(left); err != nil || pl.Trigger == "" {
			return err
		}
	}
	if pl.Captured != nil {
		l.state = *pl.Captured
	} else {
		l.state = checkpoint.UpdateMasked(l.state, pl.Msgs, s.masker.Text)
		s.tell(&l.state, pl.req.Source)
	}
	in := s.checkpointInput(pl.Trigger, pl.Reading, pl.req.Now)
	if checkpoint.Redundant(l.written(), in) {
		return nil
	}
	if _, err := s.writeCheckpoint(in); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if pl.Made.Cut == nil || !s.lifeOpt.Flush.AtCuts && !pl.Refused {
		return nil
	}
	faults, _ := s.flushMechanically(ctx, s.memory, false, pl.req.Now)
	pl.faults = append(pl.faults, faults...)
	return nil
}

// spend adds what the files of the working state have cost since it was last asked.
func (s *session) spend(st *Stats) {
	if s.life != nil {
		spent := s.life.store.Spent()
		st.StateBytes += spent.Bytes
		st.Files += spent.Files
		st.Syncs += spent.Syncs
		st.SyncTime += spent.SyncTime
	}
}
