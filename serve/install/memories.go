package install

import (
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/memkernel/memkernel/sessions"
)

// Memories is a folder in which a host keeps memories of its own.
type Memories struct {
	// Title is the host's own name for itself.
	Title  string `json:"host"`
	Folder string `json:"folder"`
	// Files is the number of Markdown files in the folder, at most maxSessionFiles.
	Files int `json:"files"`
}

// Memories returns the folders in which the user's hosts keep memories of this workspace.
func (s *Site) Memories() (out []Memories) {
	for _, m := range sessions.HostMemories(s.Workspace, s.Home, s.Getenv) {
		n := 0
		_ = filepath.WalkDir(m.Folder, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || n >= maxSessionFiles:
				return fs.SkipAll // the rest can't be read, or is more than is counted
			case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md"):
				n++
			}
			return nil
		})
		if n > 0 {
			out = append(out, Memories{m.Host, m.Folder, n})
		}
	}
	return out
}
