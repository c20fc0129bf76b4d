package install

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// Memories is a folder in which a host keeps memories of its own.
type Memories struct {
	// Title is the host's own name for itself.
	Title  string `json:"host"`
	Folder string `json:"folder"`
	// Files is the number of Markdown files in the folder, at most maxSessionFiles.
	Files int `json:"files"`
}

// Memories returns the folders in which the user's hosts keep memories of their own. They are
// Claude Code's memories of this workspace, and Codex's memories of all projects. Links are not
// followed.
func (s *Site) Memories() (out []Memories) {
	for i := range hosts {
		h := &hosts[i]
		for _, home := range s.homes(h) {
			dir := ""
			switch h.name {
			case "claude":
				dir = filepath.Join(s.claudeProject(home), "memory")
			case "codex":
				dir = filepath.Join(home, "memories")
			default:
				continue
			}
			n := 0
			_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				switch {
				case err != nil || n >= maxSessionFiles:
					return fs.SkipAll // the rest can't be read, or is more than is counted
				case d.Type().IsRegular() && strings.EqualFold(filepath.Ext(path), ".md"):
					n++
				}
				return nil
			})
			if n > 0 {
				out = append(out, Memories{h.title, dir, n})
			}
		}
	}
	return out
}
