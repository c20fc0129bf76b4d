package install

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/serve/hook"
)

// action is the change to a file.
type action string

// The actions.
const (
	create  action = "create"   // the file is created
	modify  action = "modify"   // entries are added or updated
	keep    action = "keep"     // nothing has to change
	restore action = "restore"  // the file gets its earlier content back
	strip   action = "take_out" // the file was changed since, so only our entries are removed
	remove  action = "delete"   // the file had only our entries
)

// Word returns the word for the action in messages.
func (a action) Word() string {
	return map[action]string{create: "new", modify: "add to", keep: "has it", restore: "put back", strip: "take out of", remove: "delete"}[a]
}

// Changes reports whether the action changes the file.
func (a action) Changes() bool { return a != keep }

// Whole reports whether the action replaces or removes the whole file.
func (a action) Whole() bool { return a == restore || a == remove }

// Change is a file and the change to it.
type Change struct {
	// Host is "" for SESSION-STATE.md.
	Host string `json:"host"`
	Path string `json:"path"`
	// Target is the file that a link points to, "" if there is no link.
	Target string `json:"target"`
	Action action `json:"action"`
	// Adds are hooks, tools, plugin or rules.
	Adds []string `json:"adds"`
	// Done reports whether the change was made.
	Done bool `json:"done"`
	// Error is the reason why the file was not changed, "" if it was changed. If Error is set,
	// ByHand is the text that a person can add.
	Error  string   `json:"error"`
	ByHand []string `json:"by_hand"`
}

// Installer changes the files of hosts for one workspace.
type Installer struct {
	*Site
	// State is the workspace's state directory.
	State store.Store
	// Project is the user's own configuration of the workspace, outside it. OwnProject reports
	// whether only the program wrote its text.
	Project    string
	OwnProject func(text []byte) bool
	// OwnState reports whether only the kernel wrote the text of SESSION-STATE.md.
	OwnState func(text string) bool
}

// tries is how often a file is read again because its host writes to it at the same moment.
const tries = 8

// installWait is how long [Installer.Lock] waits for another process that holds the lock.
const installWait = 10 * time.Second

// Lock keeps other processes from the same work. If another process holds the lock, Lock waits
// for it.
func (in *Installer) Lock(ctx context.Context) (release func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, installWait)
	defer cancel()
	if release, err = store.Wait(ctx, in.State, lockName, store.Alone); errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("another init or uninstall of this folder is at work: %w", err)
	}
	return release, err
}

// Put adds memkernel to the files of these hosts. Without write it only returns the changes that
// it would make. A file that can't be changed has an Error, and Put continues with the other
// files. The caller must hold the lock.
func (in *Installer) Put(names []string, write bool) ([]Change, error) {
	r, err := readRecord(in.State)
	if err != nil {
		return nil, err
	}
	if write {
		if err := store.KeepOutOfGit(in.State); err != nil {
			return nil, err
		}
		if err := in.hooksOff(names, false); err != nil {
			return nil, err
		}
	}
	return in.each(names, false, r, write), nil
}

// TakeOut removes memkernel from the files of these hosts, or of all hosts without names. Without
// write it only returns the changes that it would make. The caller must hold the lock, unless
// there is no state.
func (in *Installer) TakeOut(names []string, write bool) ([]Change, error) {
	r, err := readRecord(in.State)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		names = Names()
	}
	if write && store.Exists(in.State, "") {
		if err := in.hooksOff(names, true); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(in.each(names, true, r, write), func(c Change) bool { return c.Action == keep && c.Error == "" }), nil
}

// hooksOff notes in the state directory whether the hooks of hosts are off, because a running host
// continues to run the hooks that it read at its start.
func (in *Installer) hooksOff(names []string, off bool) (err error) {
	for _, name := range hook.HostNames() {
		switch mark := hook.Host(name).OffName(); {
		case !slices.Contains(names, name):
		case off:
			_, err = in.State.Put(store.Synced, store.Doc{Name: mark})
		default:
			_, err = in.State.Remove(store.Synced, mark)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each changes the files of hosts. If gone is set, it takes memkernel out of them, and includes files
// that only an earlier installation changed.
func (in *Installer) each(names []string, gone bool, r *record, write bool) []Change {
	out := []Change{}
	for i := range hosts {
		h := &hosts[i]
		if !slices.Contains(names, h.name) {
			continue
		}
		for _, f := range in.hostFiles(h, gone) {
			if !gone && f.hooks && in.userWide(h) != "" {
				f.parts = f.parts[1:] // the hooks would run twice
			}
			if len(f.parts) == 0 {
				continue
			}
			f.host = h
			c := Change{Host: h.name, Path: f.path, Action: keep, Adds: []string{}, ByHand: []string{}}
			for _, p := range f.parts {
				if p.what != "" {
					c.Adds = append(c.Adds, p.what)
				}
			}
			if err := in.change(&f, &c, r, gone, write); err != nil {
				c.Error, c.ByHand = in.why(err, f.path), f.byHand()
			}
			out = append(out, c)
		}
	}
	return out
}

// why returns an error as one sentence that names the file.
func (in *Installer) why(err error, path string) string {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Sprintf("%s can't be read or written: make the file and its folder yours", path)
	}
	if text := err.Error(); strings.Contains(text, filepath.Base(path)) {
		return text
	}
	return fmt.Sprintf("%s: %v", path, err)
}

// byHand returns the content of a file that has only our entries.
func (f *file) byHand() []string {
	data, err := f.add(nil)
	if err != nil {
		return []string{}
	}
	if !f.json {
		return strings.Split(strings.TrimSpace(string(data)), "\n")
	}
	var line bytes.Buffer
	if json.Compact(&line, data) != nil {
		return []string{}
	}
	return []string{line.String()}
}

func (f *file) add(data []byte) (after []byte, err error) {
	for _, p := range f.parts {
		if data, err = p.edit(data, true); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// takeOut returns a content without our entries. It returns nil if the content had only our
// entries. e is the file's record, nil if there is no record.
func (f *file) takeOut(data []byte, e *recorded) ([]byte, error) {
	after := data
	for _, p := range slices.Backward(f.parts) {
		if after == nil {
			break
		}
		var err error
		if after, err = p.edit(after, false); err != nil {
			return nil, err
		}
	}
	switch {
	case settings.Same(after, data):
	case e != nil && !e.Absent && after == nil:
		after = []byte("{}\n") // there was a file, although it had no settings
	case (e == nil || e.Absent) && (len(bytes.TrimSpace(after)) == 0 || f.json && settings.SameJSON(after, []byte("{}")) && !bytes.ContainsRune(after, '/')):
		after = nil
	}
	return after, nil
}

// look returns the file that a path leads to, and its content. With tidy it removes half-written
// files that killed processes left next to it.
func look(f *file, c *Change, tidy bool) (path string, data []byte, err error) {
	if path, err = settings.Follow(f.path); err != nil {
		return "", nil, err
	}
	if tidy {
		_ = atomicfile.CleanTemps(filepath.Dir(path)) // a file that can't be removed does no harm
	}
	if st, err := os.Lstat(f.path); err == nil && st.Mode()&fs.ModeSymlink != 0 {
		c.Target = path
	}
	data, err = settings.Read(path)
	return path, data, err
}

// change changes a file. If gone is set, it takes memkernel out of it.
func (in *Installer) change(f *file, c *Change, r *record, gone, write bool) error {
	for n := 1; ; n++ {
		path, data, err := look(f, c, write)
		if err != nil {
			return err
		}
		edit, commit := in.with, in.writeNew
		if gone {
			edit, commit = in.without, in.writeOld
		}
		after, err := edit(f, c, r.of(path), path, data)
		if err != nil {
			return err
		}
		same := settings.Same(after, data)
		if same {
			c.Action = keep
		}
		if !write || same && !gone {
			return nil
		}
		err = commit(f, r, path, data, after)
		if c.Done = err == nil && !same; err == nil || n == tries || !errors.Is(err, settings.ErrChanged) {
			return err
		}
	}
}

// with returns a file's content with memkernel's entries.
func (in *Installer) with(f *file, c *Change, _ *recorded, path string, data []byte) ([]byte, error) {
	if f.isRules() && !in.inside(path) {
		return nil, &settings.Error{Path: f.path, Err: fmt.Errorf("it leads out of this folder, to %s, which others may read", in.Short(path))}
	}
	after, err := f.add(data)
	switch {
	case err != nil:
	case data == nil:
		c.Action = create
	default:
		c.Action = modify
	}
	return after, err
}

// without returns a file's earlier content or, if it was changed since, its content without
// memkernel's entries. e is the file's record, nil if there is no record.
func (in *Installer) without(f *file, c *Change, e *recorded, path string, data []byte) (after []byte, err error) {
	switch {
	case data == nil, e != nil && e.notYet(data), f.isRules() && !in.inside(path):
		return data, nil
	case e != nil && e.untouched(data):
		c.Action, after = restore, e.before()
	default:
		c.Action = strip
		after, err = f.takeOut(data, e)
	}
	if after == nil && err == nil {
		c.Action = remove
	}
	return after, err
}

// isRules reports whether a file has only rules, and nothing that is specific to one host.
func (f *file) isRules() bool {
	return !slices.ContainsFunc(f.parts, func(p part) bool { return p.what != "rules" })
}

// inside reports whether a file is in the workspace after all links are followed.
func (in *Installer) inside(path string) bool {
	dir, err := settings.Follow(in.Workspace)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// writeNew records a file's content, and then writes the new content.
func (in *Installer) writeNew(f *file, r *record, path string, data, after []byte) error {
	var was *recorded
	if e := r.of(path); e != nil {
		copied := *e
		was = &copied
	}
	// The content that a file gets when memkernel is removed is its earlier content or, if it was
	// changed since, its present content without our entries.
	before, err := data, error(nil)
	switch {
	case was != nil && (was.untouched(data) || was.notYet(data)):
		before = was.before()
	case data != nil:
		before, err = f.takeOut(data, was)
	}
	if err != nil {
		return err
	}
	e := recorded{Host: f.host.name, Path: path, Absent: before == nil, Before: before, After: store.Sum(after)}
	if was != nil {
		e.Host = was.Host
	}
	r.set(e)
	r.made(filepath.Dir(path))
	if err := r.write(in.State); err != nil {
		return err
	}
	if err = settings.Write(path, data, after); err == nil {
		return nil
	}
	// The file was not changed, so the record gets its earlier state, too.
	if was != nil {
		r.set(*was)
	} else {
		r.drop(path)
	}
	r.unmake(path)
	return errors.Join(err, r.write(in.State))
}

// writeOld gives a file its old content, and forgets it.
func (in *Installer) writeOld(_ *file, r *record, path string, data, after []byte) error {
	if err := settings.Write(path, data, after); err != nil {
		return err
	}
	if r.of(path) != nil {
		r.drop(path)
		r.unmake(path)
		return r.write(in.State)
	}
	if dir := filepath.Dir(path); data != nil && after == nil && dir != filepath.Clean(in.Workspace) {
		_ = os.Remove(dir) // if nothing else is in it
	}
	return nil
}
