package workstate

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/fault"
	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/sessions"
)

// Keeper keeps the working state of one session. Callers must hold the session.
type Keeper struct {
	Options Options
	Session session
	// Files is the session's folder.
	Files store.Store
	// Private is the workspace as a private session sees it. Shared is the workspace as every
	// session sees it. Both are nil if memory is off.
	Private, Shared *markdownstore.Store
	// Mask removes secrets from everything that is kept.
	Mask *mask.Masker
	// Sync makes the session's writes durable. It is called before a file of the workspace
	// mentions anything that depends on these writes.
	Sync func() error

	life *life
	// told has the records whose failed writes were already reported.
	told map[api.Net]bool
	// asked is the text that a model was shown for a flush.
	asked asked
}

// life is the working state as last read or written.
type life struct {
	// State is the captured state.
	State checkpoint.State
	// Latest is the newest record of the state, nil if there is no record.
	Latest *checkpoint.Checkpoint
	// From is the source of Latest.
	From api.Net

	store   checkpoint.Store
	damaged []checkpoint.Damage
	// stamp identifies the file of the reading position when the state was read or written.
	// Another process that continues from that position changes the file.
	stamp store.Info
}

// Written returns the newest checkpoint on disk, or nil if no checkpoint is on disk.
func (l *life) Written() *checkpoint.Checkpoint {
	if l == nil || l.From != api.NetCheckpoint {
		return nil
	}
	return l.Latest
}

// Now returns the session's working state, read again if another process has written it.
func (k *Keeper) Now() (*life, error) {
	stamp, err := k.stamp()
	if err != nil {
		return nil, err
	}
	if k.life != nil && k.life.stamp == stamp {
		return k.life, nil
	}
	l := &life{store: checkpoint.NewStore(k.Files), stamp: stamp}
	r, err := l.store.Resume()
	if err != nil {
		return nil, err
	}
	l.State, l.Latest, l.damaged = r.State, r.Latest, r.Damaged
	if err := k.fallBack(l); err != nil {
		return nil, err
	}
	k.life = l
	return l, nil
}

func (k *Keeper) stamp() (store.Info, error) {
	fi, err := k.Files.Stat("state/thread.json")
	if store.OutOfReach(err) {
		return fi, err
	}
	return fi, nil
}

// wrote records that the file matches the known state. If the file can't be examined now, the next
// call reads it again.
func (k *Keeper) wrote(l *life) {
	stamp, err := k.stamp()
	if err != nil {
		stamp.Size = -1 // a size that no file has
	}
	l.stamp = stamp
}

// Known returns the working state if it was read, or nil.
func (k *Keeper) Known() *life { return k.life }

// Forget drops the data read, so that the next use reads it again.
func (k *Keeper) Forget() { k.life = nil }

// CaptureAgain is Capture for a turn that the journal has already, and that begins at message number
// start. It does nothing if the state may know the messages.
func (k *Keeper) CaptureAgain(msgs []memkernel.Message, start int, from checkpoint.Source) error {
	if k.Options.Off {
		return nil
	}
	if l, err := k.Now(); err != nil || l.State.Old(msgs[max(0, start-ingest.Rewound):]) {
		return err
	}
	return k.Capture(msgs, from, nil)
}

// Capture updates the working state from the messages of the main line, and writes the state. from
// is the origin of the session. bill is the call's bill, nil if it is unknown.
func (k *Keeper) Capture(msgs []memkernel.Message, from checkpoint.Source, bill *checkpoint.Usage) error {
	if k.Options.Off {
		return nil
	}
	l, err := k.Now()
	if err != nil {
		return err
	}
	l.State = checkpoint.Update(l.State, msgs, k.Mask.Text)
	k.tell(&l.State, from)
	// A bill may belong to an earlier call than the newest message. If the newest message has the
	// same bill, the message also identifies the call.
	if now := l.State.Thread.Usage; bill != nil && bill.Tokens > 0 && (now == nil || now.Tokens != bill.Tokens && bill.At.After(now.At)) {
		l.State.Thread.Usage = bill
	}
	return k.save(l)
}

func (k *Keeper) save(l *life) error {
	err := l.store.SaveState(l.State)
	if err == nil {
		k.wrote(l)
	}
	return err
}

// maxSource bounds the bytes of each part of a session's origin.
const maxSource = 1024

// tell updates a state by a call's description of the session's origin.
func (k *Keeper) tell(st *checkpoint.State, from checkpoint.Source) {
	for _, v := range []*string{&from.File, &from.Channel, &from.Agent} {
		*v = strings.ToValidUTF8(k.Mask.Text(*v), "\uFFFD")
		if len(*v) > maxSource {
			*v = strings.ToValidUTF8((*v)[:maxSource], "") + "…"
		}
	}
	st.Thread.From = from.Over(st.Thread.From)
}

// WriteCheckpoint writes a checkpoint of the state, if the state differs from the newest
// checkpoint. It returns the newest checkpoint.
func (k *Keeper) WriteCheckpoint(in checkpoint.Input) (*checkpoint.Checkpoint, error) {
	l, err := k.Now()
	if err != nil {
		return nil, err
	}
	if !l.State.Changed(l.Written()) || l.State.Thread.Captured == 0 {
		return l.Written(), nil
	}
	in.Instead = l.Latest
	w, err := l.store.Checkpoint(l.State, in)
	if err != nil {
		return nil, err
	}
	l.State, l.Latest, l.From = w.State, w.Checkpoint, api.NetCheckpoint
	k.wrote(l)
	for _, d := range w.Damaged {
		if !slices.ContainsFunc(l.damaged, func(k checkpoint.Damage) bool { return k.File == d.File }) {
			l.damaged = append(l.damaged, d)
		}
	}
	return l.Latest, nil
}

// Input returns the parts of a checkpoint that are not in the state.
func (k *Keeper) Input(t checkpoint.Trigger, r checkpoint.Reading, now time.Time) checkpoint.Input {
	key := k.Session.Key()
	in := checkpoint.Input{SessionKey: key, AgentID: sessions.AgentOf(key), Now: now, Trigger: t, Reading: r, Compactions: k.Session.Progress().Compactions}
	if k.life == nil {
		return in
	}
	in.Compactions = max(in.Compactions, k.life.State.Thread.From.Since())
	if u := k.life.State.Thread.Usage; in.Reading.Window == 0 && u != nil && u.Model != "" {
		if window := k.Session.Window(u.Model); window >= u.Tokens { // a larger bill is from another window
			in.Reading.Window = window
		}
	}
	return in
}

// Damages reports, once, the parts of the state that could not be used.
func (k *Keeper) Damages() []fault.Fault {
	if k.life == nil {
		return nil
	}
	var out []fault.Fault
	for _, d := range k.life.damaged {
		out = append(out, fault.Fault{Code: fault.Checkpoint, Cause: filepath.Base(d.File), Detail: d.String()})
	}
	k.life.damaged = nil
	return out
}

// Spent returns the cost of the writes to the working state's files since the last call of Spent.
func (k *Keeper) Spent() store.Stats {
	if k.life == nil {
		return store.Stats{}
	}
	return k.life.store.Spent()
}

// checkpointID is the form of a checkpoint's id. Earlier versions named a section after a dot.
var checkpointID = textutil.LazyRegexp(`^(cp_\d{3,})(?:\.[a-z_]+)?$`)

// CheckpointText returns the text of the checkpoint with an id. ok is false if no checkpoint ever
// had the id. If a newer checkpoint is returned instead, note says
// so.
func CheckpointText(files store.Store, id string) (text, note string, ok bool, err error) {
	m := checkpointID.FindStringSubmatch(id)
	if m == nil {
		return "", "", false, nil
	}
	kept := checkpoint.NewStore(files)
	c, err := kept.Load(m[1])
	if errors.Is(err, fs.ErrNotExist) {
		// Prompts and hosts' own summaries name a checkpoint for longer than the checkpoint is kept.
		if c, _, err = kept.Latest(); err != nil || c == nil || ordinal(m[1]) >= ordinal(string(c.Meta.CheckpointID)) {
			return "", "", false, err
		}
		note = fmt.Sprintf("%s is not kept any more; %s goes on from it", m[1], c.Meta.CheckpointID)
		text = "# " + note + "\n"
	}
	if err != nil {
		return "", "", false, err
	}
	whole, err := checkpoint.Marshal(c)
	return text + string(whole), note, true, err
}

// ordinal returns the number in a checkpoint's id.
func ordinal(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "cp_"))
	return n
}
