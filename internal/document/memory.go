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

// Entries is the document of list.
type Entries struct {
	Schema string `json:"schema"`
	*api.MemoryList
}

// OfList returns the document of a list of entries of memory.
func OfList(l *api.MemoryList) Entries { return Entries{"memkernel/list/v1", l} }

// Undone is the document of undo.
type Undone struct {
	Schema string `json:"schema"`
	*api.EditUndone
}

// OfUndone makes the document of an undone edit.
func OfUndone(u *api.EditUndone) Undone { return Undone{"memkernel/undone/v1", u} }

// Edited is the document of remember, edit and forget PATH:LINE.
type Edited struct {
	Schema string `json:"schema"`
	*api.EntryEdited
}

// OfEdited makes the document of an entry that was added, replaced or removed.
func OfEdited(e *api.EntryEdited) Edited { return Edited{"memkernel/edited/v1", e} }
