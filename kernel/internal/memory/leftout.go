package memory

import (
	"context"
	"encoding/json"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// leftName is the document that lists the files that were left out when the index was last
// requested.
const leftName = "left_out.json"

// leftFormat is the version of left_out.json.
//
//	1: first version
const leftFormat = 1

type leftDoc struct {
	Format int `json:"format"`
	markdownstore.LeftOut
}

// surveyed returns LeftOut, kept for searches that find nothing, which have no time to look
// through a workspace.
func surveyed(ctx context.Context, m *Memory) *markdownstore.LeftOut {
	left, err := m.Private.LeftOut(ctx)
	if err != nil {
		return nil
	}
	if left.Files == 0 {
		_, _ = m.o.State.Remove(store.Unsynced, leftName)
	} else {
		keepDoc(m.o.State, store.Unsynced, leftName, leftDoc{leftFormat, left})
	}
	return &left
}

// LastLeft returns the files that were last left out. It returns an empty list if they are not
// known.
func (m *Memory) LastLeft() markdownstore.LeftOut {
	if d := keptDoc[leftDoc](m.o.State, leftName); d.Format == leftFormat {
		return d.LeftOut
	}
	return markdownstore.LeftOut{}
}

// keepDoc writes a small document of the state folder. It ignores errors, because nothing depends
// on the document.
func keepDoc(state store.Store, how store.Durability, name string, doc any) {
	if data, err := json.Marshal(doc); err == nil {
		_, _ = state.Put(how, store.Doc{Name: name, Data: append(data, '\n')})
	}
}

// keptDoc reads a document that keepDoc wrote. It returns a zero value if it can't.
func keptDoc[T any](state store.Store, name string) (doc T) {
	if data, err := state.Get(name); err != nil || json.Unmarshal(data, &doc) != nil {
		return *new(T)
	}
	return doc
}
