package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// configName is the workspace's own configuration, in the state folder.
const configName = "config.yaml"

// includeKey is the setting that says which Markdown is memory.
const includeKey = "index.include"

// storeOptions are the settings of the workspace's files.
func (s *Settings) storeOptions() markdownstore.Options {
	o := storeSettings(s.Config)
	o.Own = s.ownFolder()
	s.choose(&o)
	return o
}

func storeSettings(c *config.Config) markdownstore.Options {
	return markdownstore.Options{Timezone: c.Workspace.Timezone.Location(),
		ChunkTokens: int(c.Chunking.Tokens), OverlapTokens: orNone(int(c.Chunking.Overlap)),
		Include: c.Index.Include, Exclude: c.Index.Exclude}
}

// ownFolder is the state folder by its path in the workspace, "" if it is elsewhere.
func (s *Settings) ownFolder() string {
	inside, err := within(s.Workspace, s.StateDir)
	if err != nil || !inside {
		return ""
	}
	root, err1 := followed(s.Workspace)
	dir, err2 := followed(s.StateDir)
	rel, err3 := filepath.Rel(root, dir)
	if errors.Join(err1, err2, err3) != nil || rel == "." {
		return ""
	}
	return filepath.ToSlash(rel)
}

// choose takes all Markdown in, where nobody said what is memory. If nothing in the
// workspace looks as if an agent kept its memory there, shared sessions read it too.
// That is written to the workspace's own configuration before the first write to memory
// or the index: what is written then would look so.
func (s *Settings) choose(o *markdownstore.Options) {
	if s.Config.Origin(includeKey) != (config.Origin{}) || len(s.Config.Index.Include) > 0 || !s.Config.Workspace.Enabled || InRows(s) {
		return // in rows there is what was meant to be memory
	}
	st, err := markdownstore.Open(s.Workspace, nil)
	if err != nil {
		return // whoever opens it says why
	}
	defer st.Close()
	o.Include = markdownstore.Everything()
	if o.PrivateNotes = st.MemoryWorkspace(); !o.PrivateNotes {
		o.Settle = s.settle
	}
}

// settle writes the choice down, once.
func (s *Settings) settle() error {
	choosing.Lock()
	defer choosing.Unlock()
	if s.settled {
		return nil
	}
	err := s.add(chosen, includeKey, config.List(markdownstore.Everything()))
	if err != nil {
		return fmt.Errorf("write to %s which Markdown is memory: %w", filepath.Join(s.StateDir, configName), err)
	}
	s.settled = true
	return nil
}

// choosing is held while the choice is written.
var choosing sync.Mutex

const configLock = "config.lock"

// lockWait is how long another process may take to write the same.
const lockWait = 2 * time.Second

// chosen stands above the setting in a file that is made for it.
const chosen = "# Which Markdown is memory: all of it, since none of memory's own files was here at the\n# first index. doc/config.md has the rules of index.include and index.exclude.\n"

// searched stood above sessionsKey in a file that earlier versions made.
const searched = "# Past sessions are searched, too: memkernel init has read them in.\n"

// sessionsKey is the setting that has past sessions found; they set it.
const sessionsKey = "retrieval.sessions.enabled"

// add adds a setting to the workspace's own configuration; head begins a file that is made
// for it.
func (s *Settings) add(head, key, value string) error {
	dir, path := store.Files(s.StateDir), filepath.Join(s.StateDir, configName)
	ctx, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	release, err := store.Wait(ctx, dir, configLock, store.Alone)
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("another process is writing it")
	}
	if err != nil {
		return err
	}
	defer release()
	old, err := dir.Get(configName)
	mode := fs.FileMode(0o600)
	switch {
	case err == nil:
		if fi, err := os.Stat(path); err == nil {
			mode = fi.Mode().Perm()
		}
	case errors.Is(err, fs.ErrNotExist):
		old = []byte(head)
	default:
		return err
	}
	text, err := config.Add(old, path, key, value)
	if err != nil || string(text) == string(old) {
		return err
	}
	return atomicfile.WriteFile(path, text, mode)
}

// OnlyWritten tells whether a workspace's own configuration is, to the byte, what the first
// index writes where there is none, or what earlier versions wrote beside it, in either order.
func OnlyWritten(text []byte) bool {
	return slices.ContainsFunc(written(), func(own []byte) bool { return bytes.Equal(own, text) })
}

// written are all configurations that the program makes by itself.
var written = sync.OnceValue(func() (out [][]byte) {
	writes := []struct{ head, key, value string }{
		{chosen, includeKey, config.List(markdownstore.Everything())},
		{searched, sessionsKey, "true"},
	}
	for range writes {
		text := []byte(writes[0].head)
		for _, w := range writes {
			var err error
			if text, err = config.Add(text, configName, w.key, w.value); err != nil {
				break
			}
			out = append(out, text)
		}
		slices.Reverse(writes)
	}
	return out
})

// OwnChoice takes which Markdown is memory from the workspace's own configuration, where
// no other file says it: an index made it for this workspace.
func (s *Settings) OwnChoice() error {
	if s.Config.Origin(includeKey) != (config.Origin{}) || InRows(s) {
		return nil // in rows it is the same for all machines
	}
	if _, err := store.Files(s.StateDir).Stat(configName); store.Foreign(err) {
		return nil // none of the program's files
	}
	own, err := config.Load(filepath.Join(s.StateDir, configName))
	if err != nil {
		return nil // it is not there, or the file that --config names is in its place
	}
	if from := own.Origin(includeKey); from != (config.Origin{}) {
		return s.Config.Take(own, includeKey)
	}
	return nil
}

// folders are those of index.folders.
func (s *Settings) folders() []api.MemoryFolder {
	var out []api.MemoryFolder
	for _, f := range s.Config.Index.Folders {
		name, path := config.FolderOf(f)
		out = append(out, api.MemoryFolder{Name: name, Path: s.inWorkspace(path)})
	}
	return out
}
