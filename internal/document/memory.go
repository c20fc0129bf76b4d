package document

import (
	"github.com/memkernel/memkernel/kernel/api"
)

// History is the document of history.
type History struct {
	Schema string `json:"schema"`
	*api.History
}

// OfHistory is what a file or an entry of memory was.
func OfHistory(h *api.History) History { return History{"memkernel/history/v1", h} }

// Why is the document of why.
type Why struct {
	Schema string `json:"schema"`
	*api.Grounds
}

// OfGrounds is what speaks for an entry of memory.
func OfGrounds(g *api.Grounds) Why { return Why{"memkernel/why/v1", g} }

// Undo is the document of prune --undo.
type Undo struct {
	Schema string `json:"schema"`
	*api.PruneUndone
}

// OfUndone is what an undo brought back.
func OfUndone(u *api.PruneUndone) Undo { return Undo{"memkernel/undo/v1", u} }
