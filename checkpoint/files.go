package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

// kept is the number of checkpoints of a session that stay on disk.
const kept = 5

// pointerVersion is the format of _latest.json.
const pointerVersion = 1

const (
	pointerFile = "_latest.json"
	pointerName = checkpointFolder + "/" + pointerFile
	// pointerBeside is the path of the pointer from the folder of thread.json.
	pointerBeside = "../" + pointerName
)

// pointer is the file _latest.json, which names the newest checkpoint. It is for readers that
// don't want to list the folder. If it disagrees with the files that exist, the files decide.
type pointer struct {
	Version      int    `json:"version"`
	CheckpointID string `json:"checkpoint_id"`
	// Path is relative to the pointer.
	Path      string `json:"path"`
	CreatedAt string `json:"created_at"`
}

// written is the result of writing a checkpoint.
type written struct {
	// Checkpoint is the checkpoint of the current state.
	Checkpoint *Checkpoint
	// New reports whether this call wrote the checkpoint. It is false if a new checkpoint would
	// have been redundant.
	New bool
	// State is the state to continue with. It is already saved if the checkpoint is new.
	State   State
	Damaged []Damage
}

// file returns a checkpoint's file within the session's folder.
func file(id string) string { return path.Join(checkpointFolder, id+".yaml") }

// Checkpoint writes a state as the checkpoint after the newest one: the new numbered file, the
// pointer to it, and the state of the next cycle, in this order. Then it removes the files beyond
// the last five. An automatic checkpoint that [Redundant] finds to repeat the newest is not
// written, and the state stays as it is.
//
// Checkpoint returns an error for a state that was never fitted to the newest checkpoint, since
// other messages already have the numbers of its messages. After any other error the state on
// disk counts. Callers should then resume from the state on disk or repeat the call.
func (s Store) Checkpoint(st State, in Input) (written, error) {
	latest, bad, err := s.Latest()
	if err != nil {
		return written{}, err
	}
	if Redundant(latest, in) {
		return written{Checkpoint: latest, State: st, Damaged: bad}, nil
	}
	if latest != nil && st.Thread.Captured < latest.Meta.Captured {
		return written{}, fmt.Errorf("checkpoint a state of %d messages behind %s, which holds %d: use the state that Resume or Begin gives", st.Thread.Captured, latest.Meta.CheckpointID, latest.Meta.Captured)
	}
	c := Build(st, latest, in)
	if err := s.write(c); err != nil {
		return written{}, err
	}
	next := st.next()
	if err := s.SaveState(next); err != nil {
		return written{}, err
	}
	return written{Checkpoint: c, New: true, State: next, Damaged: bad}, s.prune()
}

// write gives a checkpoint the next number and makes its file, then the pointer.
func (s Store) write(c *Checkpoint) error {
	// A number above all that the files and the pointer show as used writes no file twice.
	all, there, err := s.numbers()
	if err != nil {
		return err
	}
	top := slices.Max(append(all, 0))
	switch p, err := s.pointer(); {
	case store.OutOfReach(err):
		return err
	case err == nil:
		top = max(top, number(p.CheckpointID))
	}
	for name := range there {
		if id, _, _ := strings.Cut(name, ".yaml"); store.IsAside(name) {
			top = max(top, number(id))
		}
	}
	c.Meta.CheckpointID = checkpointID(top + 1)
	data, err := Marshal(c)
	if err != nil {
		return err
	}
	id := string(c.Meta.CheckpointID)
	if err := s.put(store.Synced, store.Doc{Name: file(id), Data: data}); err != nil {
		return fmt.Errorf("write checkpoint: %w", err)
	}
	if err := s.point(c); err != nil {
		return fmt.Errorf("write checkpoint %s: %w", id, err)
	}
	return nil
}

// point makes the pointer to the newest checkpoint. It only repeats the listing, and is not synced.
func (s Store) point(c *Checkpoint) error {
	p, err := c.pointer()
	if err != nil {
		return err
	}
	return s.put(store.Unsynced, store.Doc{Name: pointerName, Data: p})
}

// numbers lists the checkpoints on disk, newest first, and all names in their folder.
func (s Store) numbers() (all []int, there map[string]bool, err error) {
	if there, err = s.names(checkpointFolder); err != nil {
		return nil, nil, fmt.Errorf("list checkpoints: %w", err)
	}
	for name := range there {
		id, ok := strings.CutSuffix(name, ".yaml")
		if n := number(id); ok && n > 0 {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	slices.Reverse(all)
	return all, there, nil
}

// names lists a folder.
func (s Store) names(folder string) (map[string]bool, error) {
	entries, err := s.in.List(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	there := make(map[string]bool, len(entries))
	for _, e := range entries {
		there[e.Name] = true
	}
	return there, nil
}

// List returns the ids of the checkpoints on disk, newest first, including damaged checkpoints.
func (s Store) List() ([]string, error) {
	all, _, err := s.numbers()
	var out []string
	for _, n := range all {
		out = append(out, string(checkpointID(n)))
	}
	return out, err
}

// Load reads one checkpoint by its id. Load returns fs.ErrNotExist for a checkpoint that was
// removed or never existed.
func (s Store) Load(id string) (*Checkpoint, error) {
	if number(id) == 0 {
		return nil, fmt.Errorf("load checkpoint %q: no such id: use cp_ and a number", id)
	}
	data, err := s.readFile(file(id))
	if err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	c, err := unmarshal(data)
	if err == nil && string(c.Meta.CheckpointID) != id {
		err = fmt.Errorf("it calls itself %s", c.Meta.CheckpointID)
	}
	if err != nil {
		return nil, fmt.Errorf("load checkpoint %s: %w", s.in.Where(file(id)), err)
	}
	return c, nil
}

// Latest reads the newest checkpoint that can be read. The result is nil if there is none. A
// damaged checkpoint is left in place and reported as damage with its replacement. Latest returns
// an error if a checkpoint can't be read now.
func (s Store) Latest() (*Checkpoint, []Damage, error) {
	all, there, err := s.numbers()
	if err != nil {
		return nil, nil, err
	}
	return s.latest(all, there)
}

func (s Store) latest(all []int, there map[string]bool) (*Checkpoint, []Damage, error) {
	bad, err := s.pointerDamage(all, there)
	if err != nil {
		return nil, nil, err
	}
	for _, n := range all {
		id := string(checkpointID(n))
		c, err := s.Load(id)
		if err == nil {
			return c, instead(bad, "went back to "+id), nil
		}
		if store.OutOfReach(err) {
			return nil, nil, err
		}
		bad = append(bad, s.damage(file(id), err))
	}
	return nil, instead(bad, "no checkpoint before it can be read"), nil
}

func instead(bad []Damage, what string) []Damage {
	for i := range bad {
		if bad[i].Instead == "" {
			bad[i].Instead = what
		}
	}
	return bad
}

func (s Store) pointer() (p pointer, err error) {
	data, err := s.readFile(pointerName)
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err == nil && (p.Version != pointerVersion || number(p.CheckpointID) == 0) {
		err = fmt.Errorf("version %d, checkpoint %q", p.Version, p.CheckpointID)
	}
	return p, err
}

// pointer returns the contents of _latest.json for a checkpoint.
func (c *Checkpoint) pointer() ([]byte, error) {
	id := string(c.Meta.CheckpointID)
	p, err := json.Marshal(pointer{pointerVersion, id, id + ".yaml", c.Meta.CreatedAt.Format(time.RFC3339)})
	return append(p, '\n'), err
}

// pointsTo compares the pointer with the checkpoint if the pointer names that checkpoint.
func (s Store) pointsTo(c *Checkpoint) error {
	p, err := s.pointer()
	if err != nil || p.CheckpointID != string(c.Meta.CheckpointID) {
		return nil // is reported elsewhere
	}
	have, err := s.readFile(pointerName)
	if err != nil {
		return err
	}
	if want, err := c.pointer(); err != nil || !bytes.Equal(have, want) {
		return fmt.Errorf("it does not say of %s what that file says", c.Meta.CheckpointID)
	}
	return nil
}

// pointerDamage returns the damage of the pointer. A kill may leave a pointer to an older file,
// which loses nothing. A pointer to a newer file means that the newer file is gone. pointerDamage
// returns an error if the pointer can't be read now.
func (s Store) pointerDamage(all []int, there map[string]bool) ([]Damage, error) {
	if !there[pointerFile] {
		return nil, nil
	}
	p, err := s.pointer()
	switch {
	case store.OutOfReach(err):
		return nil, err
	case err != nil:
		return instead([]Damage{s.damage(pointerName, err)}, "listed the files"), nil
	case len(all) == 0 || number(p.CheckpointID) > all[0]:
		return []Damage{s.damage(file(p.CheckpointID), errors.New("is gone, though "+pointerFile+" names it"))}, nil
	}
	return nil, nil
}

// prune removes the checkpoints beyond the last five, oldest first, and the half-written files of
// killed processes.
func (s Store) prune() error {
	if err := s.in.Tidy(checkpointFolder, stateFolder); err != nil {
		return fmt.Errorf("tidy checkpoints: %w", err)
	}
	all, _, err := s.numbers()
	if err != nil {
		return err
	}
	var old []string
	for _, n := range slices.Backward(all[min(kept, len(all)):]) {
		old = append(old, file(string(checkpointID(n))))
	}
	st, err := s.in.Remove(store.Synced, old...)
	s.spent.Add(st)
	if err != nil {
		return fmt.Errorf("remove old checkpoint: %w", err)
	}
	return nil
}
