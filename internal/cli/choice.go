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
	"github.com/memkernel/memkernel/sessions"
)

// configName is the workspace's own configuration, in the state folder.
const configName = "config.yaml"

// includeKey is the setting that lists the Markdown files of memory.
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

// ownFolder returns the path of the state folder relative to the workspace, "" if it is outside.
func (s *Settings) ownFolder() string {
	inside, err := Within(s.Workspace, s.StateDir)
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

// choose includes all Markdown if no setting lists the files of memory. If no file in the
// workspace looks like an agent's memory, shared sessions may read all Markdown too. Then settle
// writes the choice to the workspace's own configuration before the first write to memory or the
// index, because later the written files would look like memory.
func (s *Settings) choose(o *markdownstore.Options) {
	if s.Config.Origin(includeKey) != (config.Origin{}) || len(s.Config.Index.Include) > 0 || !s.Config.Workspace.Enabled || InRows(s) {
		return // all Markdown in rows is memory
	}
	st, err := markdownstore.Open(s.Workspace, nil)
	if err != nil {
		return // the caller that opens it returns the error
	}
	defer st.Close()
	o.Include = markdownstore.Everything()
	if o.PrivateNotes = st.MemoryWorkspace(); !o.PrivateNotes {
		o.Settle = s.settle
	}
}

// settle writes the choice to the configuration, once.
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

// choosing must be locked while the choice is written.
var choosing sync.Mutex

const configLock = "config.lock"

// lockWait is the time to wait for another process that writes the same file.
const lockWait = 2 * time.Second

// chosen is the comment above the setting in a new file.
const chosen = "# Which Markdown is memory: all of it, since none of memory's own files was here at the\n# first index. doc/config.md has the rules of index.include and index.exclude.\n"

// add adds a setting to the workspace's own configuration. If there is no file, the new one
// begins with head.
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

// OnlyWritten reports whether the program itself wrote all of a workspace's own configuration:
// the text of the first index.
func OnlyWritten(text []byte) bool {
	own, err := config.Add([]byte(chosen), configName, includeKey, config.List(markdownstore.Everything()))
	return err == nil && bytes.Equal(own, text)
}

// OwnChoice takes includeKey from the workspace's own configuration if no other file sets the
// key. An index made that choice for this workspace.
func (s *Settings) OwnChoice() error {
	if s.Config.Origin(includeKey) != (config.Origin{}) || InRows(s) {
		return nil // in rows it is the same for all machines
	}
	if _, err := store.Files(s.StateDir).Stat(configName); store.Foreign(err) {
		return nil // none of the program's files
	}
	own, err := config.Load(filepath.Join(s.StateDir, configName))
	if err != nil {
		return nil // it is missing, or --config names another file
	}
	if from := own.Origin(includeKey); from != (config.Origin{}) {
		return s.Config.Take(own, includeKey)
	}
	return nil
}

// folders returns the folders of index.folders, and those in which hosts keep their own memories.
func (s *Settings) folders() []api.MemoryFolder {
	var out []api.MemoryFolder
	for _, f := range s.Config.Index.Folders {
		name, path := config.FolderOf(f)
		out = append(out, api.MemoryFolder{Name: name, Path: s.inWorkspace(path)})
	}
	home, err := os.UserHomeDir()
	if err == nil && s.TenantName == "" && s.Config.Workspace.Private && s.Config.Retrieval.HostMemories {
		for _, m := range sessions.HostMemories(s.Workspace, home, os.Getenv) {
			if !slices.ContainsFunc(out, func(f api.MemoryFolder) bool { return f.Name == m.Name || filepath.Clean(f.Path) == m.Folder }) {
				out = append(out, api.MemoryFolder{Name: m.Name, Path: m.Folder, Host: m.Host, Shown: m.Shown})
			}
		}
	}
	return out
}
