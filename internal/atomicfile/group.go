package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxOpenStaged is the largest number of staged files that a group keeps open to call fsync on
// each. For more files, one syncfs call is cheaper (BenchmarkGroup), although it also flushes the
// writes of other programs to the file system.
const maxOpenStaged = 4

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
	open   int // staged files that are still open
	dirs   []string
	seen   map[string]bool
	st     Stats
}

type staged struct {
	tmp, path string
	f         *os.File // nil once closed
	synced    bool
}

// NewGroup returns a group whose temps are in the directory stage, which
// must exist and be on the file system of the targets.
func NewGroup(stage string) *Group {
	return &Group{stage: stage, seen: make(map[string]bool)}
}

// Write stages data for path. perm is subject to the umask.
func (g *Group) Write(path string, data []byte, perm fs.FileMode) error {
	f, err := g.create(perm)
	if err != nil {
		return fmt.Errorf("stage %s: %w", path, err)
	}
	if err := writeAll(f, data); err != nil {
		discard(f)
		return fmt.Errorf("stage %s: %w", path, err)
	}
	return g.add(path, f, int64(len(data)))
}

// NeedDir makes Commit sync dir too. Callers need this for a file in dir that they rely on but
// did not stage.
func (g *Group) NeedDir(dir string) {
	if !g.seen[dir] {
		g.seen[dir] = true
		g.dirs = append(g.dirs, dir)
	}
}

func (g *Group) create(perm fs.FileMode) (*os.File, error) {
	if err := g.openRoot(); err != nil {
		return nil, err
	}
	return createTemp(g.stage, perm)
}

func (g *Group) openRoot() (err error) {
	if haveSyncFS && g.root == nil {
		g.root, err = os.Open(g.stage)
	}
	return err
}

// add takes over f. The first few files stay open for their fsync. On systems without syncfs, add
// syncs every file at once.
func (g *Group) add(path string, f *os.File, n int64) error {
	s := staged{tmp: f.Name(), path: path, f: f}
	g.st.Files++
	g.st.Bytes += n
	var err error
	switch {
	case !haveSyncFS:
		err = syncFile(f, &g.st)
		s.synced = true
		err = errors.Join(err, f.Close())
		s.f = nil
	case g.open >= maxOpenStaged:
		err = f.Close()
		s.f = nil
	default:
		g.open++
	}
	if err != nil {
		os.Remove(s.tmp)
		return fmt.Errorf("stage %s: %w", path, err)
	}
	g.staged = append(g.staged, s)
	return nil
}

// Commit makes every staged file durable under its name. It creates missing directories. After an
// error no temp is left.
func (g *Group) Commit() (Stats, error) {
	defer g.Abort()
	if len(g.staged) == 0 && len(g.dirs) == 0 {
		return g.st, nil
	}
	if err := g.syncFiles(); err != nil {
		return g.st, fmt.Errorf("commit group: %w", err)
	}
	for len(g.staged) > 0 {
		if err := g.place(g.staged[0]); err != nil {
			return g.st, fmt.Errorf("commit group: %w", err)
		}
		g.staged = g.staged[1:]
	}
	if err := g.syncDirs(); err != nil {
		return g.st, fmt.Errorf("commit group: %w", err)
	}
	return g.st, nil
}

// CommitUnsynced puts every staged file under its name, in the order in which they were staged,
// and syncs nothing. The files survive the end of the process at any instant, but not a power
// cut: callers must be able to make them again.
func (g *Group) CommitUnsynced() (Stats, error) {
	defer g.Abort()
	for len(g.staged) > 0 {
		s := g.staged[0]
		if s.f != nil {
			if err := s.f.Close(); err != nil {
				return g.st, fmt.Errorf("commit group: %w", err)
			}
			g.staged[0].f = nil
		}
		if err := g.place(s); err != nil {
			return g.st, fmt.Errorf("commit group: %w", err)
		}
		g.staged = g.staged[1:]
	}
	return g.st, nil
}

// Abort removes the staged files. After Commit it does nothing.
func (g *Group) Abort() {
	for _, s := range g.staged {
		if s.f != nil {
			s.f.Close()
		}
		os.Remove(s.tmp)
	}
	g.staged, g.dirs, g.open = nil, nil, 0
	if g.root != nil {
		g.root.Close()
		g.root = nil
	}
}

// large reports whether the group has so many files that syncfs is cheaper.
func (g *Group) large() bool { return haveSyncFS && len(g.staged) > maxOpenStaged }

func (g *Group) syncFiles() error {
	if g.large() {
		err := syncFS(g.root, &g.st)
		if err == nil {
			return g.closeAll()
		}
		if !unsupported(err) {
			return err
		}
	}
	for i := range g.staged {
		if err := g.syncOne(&g.staged[i]); err != nil {
			return err
		}
	}
	return nil
}

func (g *Group) closeAll() error {
	for i := range g.staged {
		s := &g.staged[i]
		if s.f == nil {
			continue
		}
		if err := s.f.Close(); err != nil {
			return err
		}
		s.f = nil
	}
	return nil
}

func (g *Group) syncOne(s *staged) (err error) {
	if s.synced {
		return nil
	}
	if s.f == nil {
		// This happens only if the system refused syncfs. An fsync of the reopened file still
		// covers all its content.
		if s.f, err = os.OpenFile(s.tmp, os.O_WRONLY, 0); err != nil {
			return err
		}
	}
	if err := syncFile(s.f, &g.st); err != nil {
		return err
	}
	s.synced = true
	err = s.f.Close()
	s.f = nil
	return err
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
	if haveSyncFS && len(g.dirs) > maxOpenStaged {
		err := g.openRoot()
		if err == nil {
			err = syncFS(g.root, &g.st)
		}
		if err == nil || !unsupported(err) {
			return err
		}
	}
	for _, d := range g.dirs {
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

// unsupported reports whether the system refuses the call itself, as sandboxes do.
func unsupported(err error) bool {
	return errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission)
}

func discard(f *os.File) {
	f.Close()
	os.Remove(f.Name())
}
