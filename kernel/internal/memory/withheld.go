package memory

import (
	"context"
	"slices"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

// The classes of contents that are withheld as a whole.
const (
	classSessions = "sessions"
	classMedia    = "media"
	classNotes    = "notes" // files that index.include does not name
	classHosts    = "host memories"
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
			out = append(out, retrieval.Withheld{Class: classNotes, Reason: "index.include does not name them, and this session is shared"})
		}
		if slices.ContainsFunc(m.o.Folders, func(f api.MemoryFolder) bool { return f.Host != "" }) {
			out = append(out, retrieval.Withheld{Class: classHosts, Reason: why})
		}
		if len(m.o.MediaPaths) > 0 {
			out = append(out, retrieval.Withheld{Class: classMedia, Reason: why})
		}
	}
	if source != api.SourceMemory && m.o.Sessions.Enabled && m.heard.any(context.Background()) {
		out = append(out, retrieval.Withheld{Class: classSessions, Reason: why})
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

// partly makes a result report that contents are withheld. Without this, the result might say
// that memory holds nothing.
func partly(res *retrieval.Result, withheld []retrieval.Withheld) {
	res.Withheld = withheld
	if len(withheld) == 0 || len(res.Hits) > 0 || res.Reason == retrieval.Denied || res.Reason == retrieval.BackendError {
		return
	}
	res.Detail = "of what this session may see: " + res.Detail + "; " + retrieval.WithheldLine(withheld)
}
