// Package retain goes through the sessions of a state directory and removes forgotten, expired
// and damaged contents. A session's journal first promises the removal, which follows. The
// package never decides for how long things are kept, and never removes content that a prompt or
// memory points to.
package retain

import (
	"context"

	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/pagevm/journal"
)

// Keeper holds the parts of a kernel that retention uses.
type Keeper struct {
	*session.Options
	Sessions *session.Table
	// Past reports that the words of other sessions are searched.
	Past bool
	// Shared reads the pages that all sessions share.
	Shared func(context.Context) ([]journal.StoredPage, error)
	// NoSession returns the error for a missing session. The error wraps [api.ErrNoSession].
	NoSession func(key string) error
}
