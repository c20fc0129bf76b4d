package document

import (
	"github.com/memkernel/memkernel/kernel/api"
)

// History is the document of history.
type History struct {
	Schema string `json:"schema"`
	*api.History
}

// OfHistory returns the document of the earlier versions of a file or an entry of memory.
func OfHistory(h *api.History) History { return History{"memkernel/history/v1", h} }

// Why is the document of why.
type Why struct {
	Schema string `json:"schema"`
	*api.Grounds
}

// OfGrounds returns the document of the grounds for an entry of memory.
func OfGrounds(g *api.Grounds) Why { return Why{"memkernel/why/v1", g} }

// Undo is the document of prune --undo.
type Undo struct {
	Schema string `json:"schema"`
	*api.PruneUndone
}

// OfUndone returns the document of the entries that an undo brought back.
func OfUndone(u *api.PruneUndone) Undo { return Undo{"memkernel/undo/v1", u} }
