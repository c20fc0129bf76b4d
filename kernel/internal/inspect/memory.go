package inspect

import (
	"cmp"
	"context"
	"errors"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
)

// MemoryStatus reads the settings and the index of memory.
func (in *Inspector) MemoryStatus(ctx context.Context) api.MemoryStatus {
	st, m := in.Set, in.Memory
	if m == nil {
		return st
	}
	st.NeverEmbedded, _, _ = m.NeverEmbedded(ctx) // IndexStatus reports an index that can't be read
	st.Index = in.IndexStatus(ctx)
	st.Sync.Watch, st.Sync.Last = m.Sync.Status()
	n, err := m.Past.Stats()
	if err != nil {
		st.Sessions.Error = err.Error()
	}
	st.Sessions.Agent, st.Sessions.Sessions, st.Sessions.Turns, st.Sessions.Forgotten = m.Agent(""), n.Conversations, n.Turns, n.Forgotten
	st.Collections = m.Collections()
	if left := m.LastLeft(); left.Files > 0 {
		st.LeftOut = left
	}
	return st
}

// indexStates maps the names that package index uses to states.
var indexStates = []struct {
	err   error
	state api.IndexState
}{
	{index.ErrMissing, api.IndexMissing}, {index.ErrForeign, api.IndexForeign}, {index.ErrNewer, api.IndexNewer},
	{index.ErrOlder, api.IndexOlder}, {index.ErrDamaged, api.IndexDamaged},
}

// IndexStatus reads the content of the index, and how much of memory the index still lacks.
func (in *Inspector) IndexStatus(ctx context.Context) api.IndexStatus {
	st, m := in.Set.Index, in.Memory
	if m == nil {
		return st
	}
	ix, err := m.Index(ctx)
	var s index.Stats
	if err == nil {
		s, err = ix.Stats(ctx)
	}
	if err == nil {
		st.Files, st.Unread, st.Chunks, st.TextBytes, st.FileBytes = s.Files, s.Unread, s.Chunks, s.TextBytes, s.FileBytes
		st.Model, st.Vectors = s.Model, s.Vectors
		if st.Lag, err = m.Behind(ctx, ix); err == nil {
			st.State, st.Behind = api.IndexOK, !st.Lag.Zero()
			return st
		}
	}
	st.State, st.Detail = api.IndexFailed, err.Error()
	if e := (*index.Error)(nil); errors.As(err, &e) {
		st.Detail, st.Hint = e.Kind.Error(), cmp.Or(e.Hint, unsearchable[api.IndexFailed].Hint)
		if e.Err != nil {
			st.Detail += " (" + e.Err.Error() + ")"
		}
	}
	for _, s := range indexStates {
		if errors.Is(err, s.err) {
			st.State = s.state
		}
	}
	return st
}
