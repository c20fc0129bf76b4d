package install

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/memkernel/memkernel/markdownstore"
)

// Markdown counts the Markdown files of a workspace by their use.
type Markdown struct {
	// Memory counts the files that a search reads, without the Instructions. Instructions counts
	// the files that hosts read by themselves, such as AGENTS.md and CLAUDE.md. Other counts all
	// other files.
	Memory       int `json:"memory"`
	Instructions int `json:"instructions"`
	Other        int `json:"other"`
	// Looked is the number of counted files.
	Looked int `json:"looked"`
	// More reports whether there are further files.
	More bool `json:"more"`
}

// Total returns the number of all counted files.
func (m *Markdown) Total() int { return m.Memory + m.Instructions + m.Other }

// instructionNames are files that hosts read by themselves.
var instructionNames = []string{"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "HEARTBEAT.md", "BOOT.md", "BOOTSTRAP.md",
	".cursorrules", "copilot-instructions.md"}

// Look counts a workspace's Markdown files, whether or not the store lists them. It calls
// progress from time to time.
func Look(ctx context.Context, st *markdownstore.Store, progress func(looked int)) (*Markdown, error) {
	m := &Markdown{}
	for f, err := range st.Walk(ctx) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(err, markdownstore.ErrTooMany):
			m.More = true
		case err != nil:
			continue // the index names files that can't be read
		case slices.Contains(instructionNames, path.Base(f.Path)):
			m.Instructions++
		case f.Indexed && !f.Shadowed && !f.TooLarge:
			m.Memory++
		default:
			continue
		}
		if m.Looked++; m.Looked%1000 == 0 {
			progress(m.Looked)
		}
	}
	left, err := st.LeftOut(ctx)
	if err != nil {
		return nil, err
	}
	m.Other, m.Looked, m.More = left.Files, m.Looked+left.Files, m.More || left.More
	return m, ctx.Err()
}
