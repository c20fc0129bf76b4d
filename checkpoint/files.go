package checkpoint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/store"
)

// kept is the number of checkpoints of a session that stay on disk.
const kept = 5

// Written is the result of writing a checkpoint.
type Written struct {
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

// Checkpoint writes a state as the checkpoint after the newest one: the new numbered file, then
// the state of the next cycle. Then it removes the files beyond the last five. An automatic checkpoint that [Redundant] finds to repeat the newest is not
// written, and the state stays as it is.
//
// Checkpoint returns an error for a state that was never fitted to the newest checkpoint, since
// other messages already have the numbers of its messages. After any other error the state on
// disk counts. Callers should then resume from the state on disk or repeat the call.
func (s Store) Checkpoint(st State, in Input) (Written, error) {
	all, there, err := s.numbers()
	if err != nil {
		return Written{}, err
	}
	latest, bad, err := s.latest(all, there, st.Thread.Newest)
	if err != nil {
		return Written{}, err
	}
	if Redundant(latest, in) {
		return Written{Checkpoint: latest, State: st, Damaged: bad}, nil
	}
	if latest != nil && st.Thread.Captured < latest.Meta.Captured {
		return Written{}, fmt.Errorf("checkpoint a state of %d messages behind %s, which holds %d: use the state that Resume or Begin gives", st.Thread.Captured, latest.Meta.CheckpointID, latest.Meta.Captured)
	}
	c := Build(st, latest, in)
	c.Meta.CheckpointID = checkpointID(nextNumber(all, there, st.Thread.Newest))
	data, err := Marshal(c)
	if err != nil {
		return Written{}, err
	}
	if err := s.put(store.Synced, store.Doc{Name: file(string(c.Meta.CheckpointID)), Data: data}); err != nil {
		return Written{}, fmt.Errorf("write checkpoint: %w", err)
	}
	next := st.next()
	next.Thread.Newest = number(string(c.Meta.CheckpointID))
	if err := s.SaveState(next); err != nil {
		return Written{}, err
	}
	return Written{Checkpoint: c, New: true, State: next, Damaged: bad}, s.prune()
}

// gone returns the missing checkpoints among the newest [kept] numbers, except those that were put
// aside. Only older checkpoints are ever removed. newest is the highest number that the state knows.
func (s Store) gone(all []int, there map[string]bool, newest int) (bad []Damage) {
	for _, n := range all {
		newest = max(newest, n)
	}
	for n := newest; n > max(0, newest-kept); n-- {
		id := string(checkpointID(n))
		if !slices.Contains(all, n) && !there[id+".yaml.damaged-1"] {
			bad = append(bad, s.damage(file(id), errMissing))
		}
	}
	return bad
}

// nextNumber returns a number above all numbers that the files and the state show as used, so
// that no file is written twice.
func nextNumber(all []int, there map[string]bool, newest int) int {
	for _, n := range all {
		newest = max(newest, n)
	}
	for name := range there {
		if id, _, ok := strings.Cut(name, ".yaml"); ok && store.IsAside(name) {
			newest = max(newest, number(id))
		}
	}
	return newest + 1
}

// numbers lists the checkpoints on disk, newest first, and all names in their folder.
func (s Store) numbers() (all []int, there map[string]bool, err error) {
	if there, err = s.names(checkpointFolder); err != nil {
		return nil, nil, fmt.Errorf("list checkpoints: %w", err)
	}
	for name := range there {
		id, ok := strings.CutSuffix(name, ".yaml")
		if n := number(id); ok && n > 0 && string(checkpointID(n)) == id {
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b int) int { return b - a })
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
	if n := number(id); n == 0 || string(checkpointID(n)) != id {
		return nil, fmt.Errorf("load checkpoint %q: no such id: use cp_ and a number", id)
	}
	data, err := s.readFile(file(id))
	if err != nil {
		return nil, fmt.Errorf("load checkpoint: %w", err)
	}
	c, err := Unmarshal(data)
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
	return s.latest(all, there, 0)
}

// latest is Latest for the listed checkpoints, and reports that the newest one is gone.
func (s Store) latest(all []int, there map[string]bool, newest int) (*Checkpoint, []Damage, error) {
	var bad []Damage
	if gone := s.gone(all, there, newest); len(gone) > 0 && gone[0].name == file(string(checkpointID(newest))) {
		bad = gone[:1]
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
