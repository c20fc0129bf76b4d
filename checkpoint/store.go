package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"reflect"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/summary"
)

// The state files, the reading position last: see the package comment.
const (
	decisionsFile = "decisions.json"
	resourcesFile = "resources.json"
	openItemsFile = "open_items.json"
	learningsFile = "learnings.json"
	threadFile    = "thread.json"
)

// Store is a session's folder, which holds state/ and checkpoints/. Its methods are
// called under the lock of the session.
type Store struct {
	in    store.Store
	spent *store.Stats
}

// NewStore names the folder of a session. It touches nothing.
func NewStore(in store.Store) Store { return Store{in, new(store.Stats)} }

// Spent returns the statistics of the writes that the methods made since the last call of Spent.
func (s Store) Spent() store.Stats {
	st := *s.spent
	*s.spent = store.Stats{}
	return st
}

// put writes documents and counts the writes.
func (s Store) put(how store.Durability, docs ...store.Doc) error {
	st, err := s.in.Put(how, docs...)
	s.spent.Add(st)
	return err
}

// stateName returns a state file within the folder.
func stateName(name string) string { return path.Join(stateFolder, name) }

const stateFolder, checkpointFolder = "state", "checkpoints"

// Damage is a file that could not be used. Damage is reported next to the result of a call and
// does not make the call fail.
type Damage struct {
	// File is the path of the damaged file.
	File string
	// Err describes the damage.
	Err error
	// Instead names the replacement of the file.
	Instead string

	name string // within the session's folder
}

// damage names a file that could not be used.
func (s Store) damage(name string, err error) Damage {
	return Damage{File: s.in.Where(name), Err: err, name: name}
}

func (d Damage) String() string { return fmt.Sprintf("%s: %v; %s", d.File, d.Err, d.Instead) }

// resumed is the state with which a resumed session starts.
type resumed struct {
	// State is fitted to Latest by [Begin].
	State State
	// Latest is the newest readable checkpoint, nil if there is none.
	Latest *Checkpoint
	// Damaged are the files that could not be used, newest checkpoints first.
	Damaged []Damage
}

// Verify reads every checkpoint, the pointer to the newest checkpoint, and the state files, and
// returns the damaged files. It returns an error if a file can't be read now. It writes nothing.
func (s Store) Verify() ([]Damage, error) {
	all, there, err := s.numbers()
	if err != nil {
		return nil, err
	}
	bad, err := s.pointerDamage(all, there)
	if err != nil {
		return nil, err
	}
	_, worse, err := s.loadState(there)
	if err != nil {
		return bad, err
	}
	if p, err := s.pointer(); err == nil && len(bad) == 0 && !slices.Contains(all, number(p.CheckpointID)) {
		bad = append(bad, s.damage(pointerName, fmt.Errorf("it names %s, which is not there", p.CheckpointID)))
	} else if !there[pointerFile] && len(all) > 1 && !slices.ContainsFunc(worse, func(d Damage) bool { return d.name == pointerName }) {
		bad = append(bad, s.damage(pointerName, errMissing))
	}
	// Only older checkpoints than the newest [kept] numbers are ever removed.
	for n := slices.Max(append(all, 0)); n > max(0, slices.Max(append(all, 0))-kept); n-- {
		if id := string(checkpointID(n)); !slices.Contains(all, n) && !there[id+".yaml.damaged-1"] {
			bad = append(bad, s.damage(file(id), errMissing))
		}
	}
	for _, n := range all {
		c, err := s.Load(string(checkpointID(n)))
		if store.OutOfReach(err) {
			return bad, err
		}
		if err != nil {
			bad = append(bad, s.damage(file(string(checkpointID(n))), err))
		} else if err := s.pointsTo(c); err != nil {
			bad = append(bad, s.damage(pointerName, err))
		}
	}
	return append(bad, worse...), nil
}

// Folder returns the folder of the state files.
func (s Store) Folder() string { return s.in.Where(stateFolder) }

// Captured reports whether the folder holds any captures.
func (s Store) Captured() (bool, error) { return store.Find(s.in, stateName(threadFile)) }

// PutAside renames the damaged files that [Store.Verify] returned, so that nothing reads them any
// more, and returns their new paths. It renews the pointer to the newest checkpoint, and the
// thread's notes on the other files.
func (s Store) PutAside(bad []Damage) ([]string, error) {
	var out []string
	for _, d := range bad {
		aside, err := store.PutAside(s.in, d.name)
		if err == nil && aside == "" && errors.Is(d.Err, errMissing) && d.name != pointerName {
			// A note in its place says that this is known.
			if aside, err = store.AsideName(s.in, d.name); err == nil {
				err = s.put(store.Synced, store.Doc{Name: aside, Data: []byte("it was gone\n")})
			}
		}
		if err != nil {
			return out, fmt.Errorf("put aside: %w", err)
		}
		if aside != "" {
			out = append(out, s.in.Where(aside))
		}
	}
	all, there, err := s.numbers()
	if err != nil {
		return out, err
	}
	c, _, err := s.latest(all, there)
	if err == nil && c != nil {
		err = s.point(c)
	} else if err == nil {
		_, err = store.PutAside(s.in, pointerName) // it names what is gone
	}
	if err != nil {
		return out, err
	}
	st, _, err := s.loadState(there)
	if err == nil {
		err = s.SaveState(st)
	}
	return out, err
}

// Resume reads the state files and the newest checkpoint. If the files are missing, the session
// is a new one. Resume writes nothing. It restores the whole state of a process that ended,
// except for the entries that the newest checkpoint holds.
func (s Store) Resume() (resumed, error) {
	all, there, err := s.numbers()
	if err != nil {
		return resumed{}, err
	}
	st, bad, err := s.loadState(there)
	if err != nil {
		return resumed{}, err
	}
	latest, worse, err := s.latest(all, there)
	if err != nil {
		return resumed{}, err
	}
	return resumed{State: Begin(st, latest), Latest: latest, Damaged: append(worse, bad...)}, nil
}

// loadState reads the five state files. A damaged file is replaced by an empty one and reported.
// loadState returns an error for a file of a newer version, since saving would destroy the file,
// and for a file that can't be read now. points are the names in the folder of the checkpoints.
func (s Store) loadState(points map[string]bool) (State, []Damage, error) {
	var st State
	var bad []Damage
	there, err := s.names(stateFolder)
	if store.OutOfReach(err) {
		return State{}, nil, err
	}
	for _, f := range st.files() {
		if err == nil && !there[f.name] {
			continue
		}
		switch err := s.loadFile(f); {
		case errors.Is(err, errNewer), store.OutOfReach(err):
			return State{}, nil, err
		case err != nil:
			reflect.ValueOf(f.value).Elem().SetZero()
			bad = append(bad, instead([]Damage{s.damage(stateName(f.name), err)}, "begun anew")...)
		}
	}
	for _, name := range st.Thread.Beside {
		switch {
		case name == pointerBeside && !points[pointerFile]:
			bad = append(bad, instead([]Damage{s.damage(pointerName, errGone)}, "listed the files")...)
		case name != pointerBeside && err == nil && !there[name]:
			bad = append(bad, instead([]Damage{s.damage(stateName(name), errGone)}, "begun anew")...)
		}
	}
	st.Thread.Beside = nil
	if st.Thread.Reader.Foreign() {
		st.Thread.Reader = summary.State{}
	}
	return st.clone(), bad, nil
}

// stateFile is a part of a state together with its file.
type stateFile struct {
	name    string
	value   any
	version *int
}

// files returns the parts in the order in which they are written.
func (s *State) files() []stateFile {
	return []stateFile{
		{decisionsFile, &s.Decisions, &s.Decisions.Version},
		{resourcesFile, &s.Resources, &s.Resources.Version},
		{openItemsFile, &s.OpenItems, &s.OpenItems.Version},
		{learningsFile, &s.Learnings, &s.Learnings.Version},
		{threadFile, &s.Thread, &s.Thread.Version},
	}
}

var (
	errNewer = errors.New("written by a newer version")
	errGone  = errors.New("is gone, though " + threadFile + " names it")
	// errMissing is the damage of a checkpoint, or of the pointer, that no kill removes.
	errMissing = errors.New("is gone, though there are others")
)

func (s Store) loadFile(f stateFile) error {
	data, err := s.readFile(stateName(f.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = unseal(data, f.value)
	switch v := *f.version; {
	case errors.Is(err, errNewer):
		return fmt.Errorf("load %s: %w", s.in.Where(stateName(f.name)), err)
	case err != nil:
		return err
	case v > stateVersion:
		return fmt.Errorf("load %s: version %d, this program knows %d: %w: use a newer program, or remove the file", s.in.Where(stateName(f.name)), v, stateVersion, errNewer)
	case v < 1:
		return errors.New("no version in it")
	}
	return nil
}

// readFile reads a file, and refuses a file that is too large to be a checkpoint or a state file.
func (s Store) readFile(name string) ([]byte, error) {
	f, err := s.in.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err == nil && size > maxFileBytes {
		err = fmt.Errorf("more than %d bytes", maxFileBytes)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, 0, size))
}

// SaveState writes the state files that changed, the captures first and the reading position
// last. It reads all files before it writes. It skips a file that is up to date, and does not
// create a file that would be empty. A kill loses nothing. Only checkpoints are synced, as the
// package comment explains.
func (s Store) SaveState(st State) error {
	st.setVersions()
	var docs []store.Doc
	var none State
	none.setVersions()
	empty := none.files()
	if there, err := store.Find(s.in, pointerName); err != nil {
		return fmt.Errorf("save state: %w", err)
	} else if there {
		st.Thread.Beside = append(st.Thread.Beside, pointerBeside)
	}
	for i, f := range st.files() {
		data, old, there, err := s.sealed(f, empty[i])
		if err != nil {
			return fmt.Errorf("save state %s: %w", f.name, err)
		}
		if there || !bytes.Equal(data, old) {
			st.Thread.Beside = append(st.Thread.Beside, f.name) // the thread is the last
		}
		if !bytes.Equal(data, old) {
			docs = append(docs, store.Doc{Name: stateName(f.name), Data: data})
		}
	}
	if err := s.put(store.Unsynced, docs...); err != nil {
		return fmt.Errorf("save state: %w", err)
	}
	return nil
}

// sealed returns a file as it is to be written, and as it is now. A missing file is one without
// contents.
func (s Store) sealed(f, empty stateFile) (data, old []byte, there bool, err error) {
	if data, err = seal(f.value); err != nil {
		return nil, nil, false, err
	}
	switch old, err = s.readFile(stateName(f.name)); {
	case errors.Is(err, fs.ErrNotExist):
		old, err = seal(empty.value)
		return data, old, false, err
	case store.OutOfReach(err):
		return nil, nil, false, err
	case err != nil:
		old = nil // an unreadable file is written again
	}
	return data, old, true, nil
}
