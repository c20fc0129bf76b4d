package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/config"
	edits "github.com/memkernel/memkernel/internal/settings"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/sessions"
)

// configName is the workspace's own configuration, in the state folder.
const configName = "config.yaml"

// includeKey is the setting that lists the Markdown files of memory.
const includeKey = "index.include"

// sharedName is the document in the state folder that lets shared sessions read all Markdown.
const sharedName = "shared_notes.json"

// storeOptions are the settings of the workspace's files.
func (s *Settings) storeOptions() markdownstore.Options {
	o := storeSettings(s.Config)
	o.Own = s.ownFolder()
	s.choose(&o)
	return o
}

func storeSettings(c *config.Config) markdownstore.Options {
	return markdownstore.Options{Timezone: c.Workspace.Timezone.Location(),
		ChunkTokens: int(c.Chunking.Tokens), OverlapTokens: cmp.Or(int(c.Chunking.Overlap), -1),
		Include: c.Index.Include, Exclude: c.Index.Exclude}
}

// ownFolder returns the path of the state folder relative to the workspace, "" if it is outside.
func (s *Settings) ownFolder() string {
	rel, err := within(s.Workspace, s.StateDir)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return ""
	}
	return filepath.ToSlash(rel)
}

// choose includes all Markdown if no setting lists the files of memory. If no file in the
// workspace looks like an agent's memory, shared sessions may read all Markdown too. Settle records
// that choice before the first write to memory or the index, because later the written files would
// look like memory.
func (s *Settings) choose(o *markdownstore.Options) {
	if s.Config.Origin(includeKey) != (config.Origin{}) || len(s.Config.Index.Include) > 0 || !s.Config.Workspace.Enabled || inRows(s) {
		return // all Markdown in rows is memory
	}
	st, err := markdownstore.Open(s.Workspace, nil)
	if err != nil {
		return // the caller that opens it returns the error
	}
	defer st.Close()
	o.Include = markdownstore.Everything()
	kept := store.Files(s.StateDir)
	if store.Exists(kept, sharedName) {
		return
	}
	if o.PrivateNotes = st.MemoryWorkspace(); !o.PrivateNotes {
		o.Settle = func() error {
			if store.Exists(kept, sharedName) {
				return nil
			}
			_, err := kept.Put(store.Synced, store.Doc{Name: sharedName, Data: []byte("{}\n")})
			return err
		}
	}
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

// inWorkspace returns the folder for a path in the configuration. A relative path is relative to
// the workspace, or to the user's home if it begins with ~/.
func (s *Settings) inWorkspace(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Workspace, path)
}

// Within reports whether a path leads into a folder. It follows the links that exist.
func Within(folder, path string) (bool, error) {
	rel, err := within(folder, path)
	return filepath.IsLocal(rel), err
}

// within returns a path relative to a folder, with all links resolved, "" if there is no way from
// the folder.
func within(folder, path string) (string, error) {
	both := [2]string{folder, path}
	for i := range both {
		abs, err := filepath.Abs(both[i])
		if err == nil {
			both[i], err = edits.Follow(abs)
		}
		if err != nil {
			return "", err
		}
	}
	rel, _ := filepath.Rel(both[0], both[1])
	return rel, nil
}
