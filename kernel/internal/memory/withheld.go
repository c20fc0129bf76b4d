package memory

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// Withheld lists the existing contents that a shared session may not see, whether or not they
// would answer anything. source is the Source of a [scope].
func (m *Memory) Withheld(private bool, source string) []retrieval.Withheld {
	if private {
		return nil
	}
	const why = "it is private, and this session is shared"
	var out []retrieval.Withheld
	if source != api.SourceSessions {
		for _, path := range []string{m.Remembered(), "USER.md"} {
			if f, err := m.Private.Stat(path); err == nil && !f.ModTime.IsZero() {
				out = append(out, retrieval.Withheld{Path: path, Reason: why})
			}
		}
		if m.o.Store.PrivateNotes && anyNote(m.Private) {
			out = append(out, retrieval.Withheld{Class: "notes", Reason: "index.include does not name them, and this session is shared"})
		}
		if slices.ContainsFunc(m.o.Folders, func(f api.MemoryFolder) bool { return f.Host != "" }) {
			out = append(out, retrieval.Withheld{Class: "host memories", Reason: why})
		}
		if len(m.o.MediaPaths) > 0 {
			out = append(out, retrieval.Withheld{Class: "media", Reason: why})
		}
	}
	if source != api.SourceMemory && m.o.Sessions.Enabled && m.heard.any(context.Background()) {
		out = append(out, retrieval.Withheld{Class: "sessions", Reason: why})
	}
	return out
}

// anyNote reports whether a store lists a file that is not memory's own.
func anyNote(st *markdownstore.Store) bool {
	for f, err := range st.Walk(context.Background()) {
		if _, own := markdownstore.Classify(f.Path); err == nil && !own {
			return true
		}
	}
	return false
}

// partly makes a result report that contents are withheld. Otherwise the result might claim that
// memory holds nothing.
func partly(res *retrieval.Result, withheld []retrieval.Withheld) {
	res.Withheld = withheld
	if len(withheld) == 0 || len(res.Hits) > 0 || res.Reason == retrieval.Denied || res.Reason == retrieval.BackendError {
		return
	}
	res.Detail = "of what this session may see: " + res.Detail + "; " + retrieval.WithheldLine(withheld)
}

// leftName is the document that lists the Markdown that was left out when a caller last requested a
// reindex.
const leftName = "left_out.json"

// leftFormat is the version of left_out.json.
//
//	1: first version
const leftFormat = 1

type leftDoc struct {
	Format int `json:"format"`
	markdownstore.LeftOut
}

// surveyed counts the Markdown that is left out, and keeps the count for searches that find
// nothing. Such searches have no time to look through a workspace.
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
