// Package retain goes through the sessions of a state directory and takes out of them what
// is to be forgotten, what is older than it has to be kept, and what is damaged. What goes
// is promised in a session's journal first, and removed after. The package never decides
// for how long things are kept, and never removes what a prompt or memory points to.
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

// Keeper is what it works on.
type Keeper struct {
	State    store.Store // the state directory
	Blobs    *store.Blobs
	Sessions *session.Table
	Upkeep   *upkeep.Keeper
	Masker   *mask.Masker
	Now      func() time.Time
	// Memory is the workspace's Markdown, nil if it is off. Past: what was said in other
	// sessions is searched.
	Memory *memory.Memory
	Past   bool
	// Shared reads the pages that all sessions share.
	Shared func(context.Context) ([]journal.StoredPage, error)
	// NoSession is the error for a session that is not there, which wraps
	// [folder.ErrNone].
	NoSession func(key string) error
}
