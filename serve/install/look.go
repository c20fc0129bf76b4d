package install

import (
	"context"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// Markdown counts the Markdown files of a workspace by what they are for.
type Markdown struct {
	// Memory is what a search looks in: MEMORY.md, USER.md and the files in memory/.
	Memory int `json:"memory"`
	// Instructions are what hosts read by themselves, such as AGENTS.md and CLAUDE.md.
	Instructions int `json:"instructions"`
	Other        int `json:"other"`
	// Looked is how many files and folders were looked at; More, that there are more.
	Looked int  `json:"looked"`
	More   bool `json:"more"`
}

// Total is how many there are.
func (m *Markdown) Total() int { return m.Memory + m.Instructions + m.Other }

// maxLooked is how many files and folders are looked at.
const maxLooked = 200_000

// instructionNames are files that hosts read by themselves.
var instructionNames = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md"}

// Look counts the workspace's Markdown. Hidden folders, node_modules and vendor are not
// looked into, links not followed. It calls progress now and then.
func (s *Site) Look(ctx context.Context, progress func(looked int)) (*Markdown, error) {
	return s.look(ctx, maxLooked, progress)
}

func (s *Site) look(ctx context.Context, limit int, progress func(looked int)) (*Markdown, error) {
	m := &Markdown{}
	folders := []string{""}
	for len(folders) > 0 && !m.More {
		dir := folders[0]
		folders = folders[1:]
		f, err := os.Open(filepath.Join(s.Workspace, filepath.FromSlash(dir)))
		if err != nil {
			if dir == "" {
				return nil, err
			}
			continue // what can't be looked into holds nothing that can be read
		}
		for !m.More {
			if err := ctx.Err(); err != nil {
				f.Close()
				return nil, err
			}
			entries, err := f.ReadDir(1000)
			for _, e := range entries {
				if m.More = m.Looked >= limit; m.More {
					break
				}
				if m.Looked++; m.Looked%1000 == 0 {
					progress(m.Looked)
				}
				p := path.Join(dir, e.Name())
				switch {
				case e.IsDir():
					if !markdownstore.Skipped(e.Name()) && e.Name() != "vendor" {
						folders = append(folders, p)
					}
				case e.Type().IsRegular() && strings.EqualFold(filepath.Ext(e.Name()), ".md"):
					m.count(p)
				}
			}
			if err != nil && err != io.EOF || len(entries) == 0 {
				break
			}
		}
		f.Close()
	}
	return m, nil
}

func (m *Markdown) count(p string) {
	switch c, ok := markdownstore.Classify(p); {
	case ok && c.Memory:
		m.Memory++
	case slices.Contains(instructionNames, path.Base(p)):
		m.Instructions++
	default:
		m.Other++
	}
}
