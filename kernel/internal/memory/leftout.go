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
		return &left
	}
	data, err := json.Marshal(leftDoc{leftFormat, left})
	if err == nil {
		_, _ = m.o.State.Put(store.Unsynced, store.Doc{Name: leftName, Data: append(data, '\n')})
	}
	return &left
}

// LastLeft returns the files that were last left out. It returns an empty list if they are not
// known.
func (m *Memory) LastLeft() markdownstore.LeftOut {
	var d leftDoc
	data, err := m.o.State.Get(leftName)
	if err != nil || json.Unmarshal(data, &d) != nil || d.Format != leftFormat {
		return markdownstore.LeftOut{}
	}
	return d.LeftOut
}
