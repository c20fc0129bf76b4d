package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxEach is the largest number of files or directories that a group syncs one by one. For more,
// one syncfs call is cheaper (BenchmarkGroup), although it also flushes the writes of other
// programs to the file system.
const maxEach = 4

// Group makes many new files durable together: Write stages each file as a temp. Commit syncs all
// temps, renames them, and syncs each directory once. On Linux a large group costs two syncfs
// calls whatever its size. Small groups, and all groups on other systems, cost one fsync per file
// and directory.
//
// A group is not a transaction: if a rename fails, the files renamed before it keep their new
// names. No file is ever seen half written. A Group is for one goroutine and is used up by Commit
// or Abort.
type Group struct {
	stage  string   // directory of the temps
	root   *os.File // stage, opened before the first write, for syncfs
	staged []staged
	dirs   map[string]bool
	st     Stats
}

type staged struct{ tmp, path string }

// NewGroup returns a group whose temps are in the directory stage, which
// must exist and be on the file system of the targets.
func NewGroup(stage string) *Group {
	return &Group{stage: stage, dirs: make(map[string]bool)}
}

// Write stages data for path.
func (g *Group) Write(path string, data []byte, perm fs.FileMode) error {
	err := g.openRoot()
	var tmp string
	if err == nil {
		tmp, err = writeTemp(g.stage, data, perm, false, &g.st)
	}
	if err != nil {
		return fmt.Errorf("stage %s: %w", path, err)
	}
	g.st.Files++
	g.st.Bytes += int64(len(data))
	g.staged = append(g.staged, staged{tmp, path})
	return nil
}

// NeedDir makes Commit sync dir too. Callers need this for a file in dir that they rely on but
// did not stage.
func (g *Group) NeedDir(dir string) { g.dirs[dir] = true }

func (g *Group) openRoot() (err error) {
	if haveSyncFS && g.root == nil {
		g.root, err = os.Open(g.stage)
	}
	return err
}

// Commit makes every staged file durable under its name. It creates missing directories. After an
// error no temp is left.
func (g *Group) Commit() (Stats, error) {
	defer g.Abort()
	err := g.syncFiles()
	for err == nil && len(g.staged) > 0 {
		if err = g.place(g.staged[0]); err == nil {
			g.staged = g.staged[1:]
		}
	}
	if err == nil {
		err = g.syncDirs()
	}
	if err != nil {
		return g.st, fmt.Errorf("commit group: %w", err)
	}
	return g.st, nil
}

// Abort removes the staged files. After Commit it does nothing.
func (g *Group) Abort() {
	for _, s := range g.staged {
		os.Remove(s.tmp)
	}
	g.staged = nil
	if g.root != nil {
		g.root.Close()
		g.root = nil
	}
}

// syncAll syncs n files or directories with one call if that is cheaper and the system can.
func (g *Group) syncAll(n int) (done bool, err error) {
	if !haveSyncFS || n <= maxEach {
		return false, nil
	}
	if err = g.openRoot(); err == nil {
		err = syncFS(g.root, &g.st)
	}
	// Sandboxes refuse the call itself.
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return false, nil
	}
	return true, err
}

func (g *Group) syncFiles() error {
	if done, err := g.syncAll(len(g.staged)); done {
		return err
	}
	for _, s := range g.staged {
		f, err := os.OpenFile(s.tmp, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		err = syncFile(f, &g.st)
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
	return nil
}

// place renames a temp to its target. It makes further calls only if the target's directory is
// missing.
func (g *Group) place(s staged) error {
	dir := filepath.Dir(s.path)
	err := rename(s.tmp, s.path)
	if errors.Is(err, fs.ErrNotExist) && !exists(dir) {
		if err := mkdir(dir, 0o700); err != nil {
			return err
		}
		g.NeedDir(filepath.Dir(dir))
		err = rename(s.tmp, s.path)
	}
	if err == nil {
		g.NeedDir(dir)
	}
	return err
}

func (g *Group) syncDirs() error {
	if done, err := g.syncAll(len(g.dirs)); done {
		return err
	}
	for _, d := range slices.Sorted(maps.Keys(g.dirs)) {
		if err := syncDir(d, &g.st); err != nil {
			return err
		}
	}
	return nil
}

func exists(dir string) bool {
	_, err := os.Stat(dir)
	return err == nil
}
