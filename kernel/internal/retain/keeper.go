// Package retain goes through the sessions of a state directory and removes forgotten, expired
// and damaged contents. A session's journal first promises the removal, which follows. The
// package never decides for how long things are kept, and never removes content that a prompt or
// memory points to.
package retain

import (
	"context"
	"time"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
	"github.com/memkernel/memkernel/pagevm/journal"
	"github.com/memkernel/memkernel/pagevm/mask"
)

// Keeper holds the parts of a kernel that retention uses.
type Keeper struct {
	State    store.Store // the state directory
	Local    store.Store // the state directory of this machine
	Blobs    *store.Blobs
	Sessions *session.Table
	Upkeep   *upkeep.Keeper
	Masker   *mask.Masker
	Now      func() time.Time
	// Memory is the workspace's Markdown, nil if memory is off.
	Memory *memory.Memory
	// Past reports that the words of other sessions are searched.
	Past bool
	// Shared reads the pages that all sessions share.
	Shared func(context.Context) ([]journal.StoredPage, error)
	// NoSession returns the error for a missing session. The error wraps [api.ErrNoSession].
	NoSession func(key string) error
}
