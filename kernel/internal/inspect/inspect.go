// Package inspect looks at what a kernel keeps and says how it is: what is where and how
// big (status), whether it is whole (check), what a doctor sees, what an audit of memory
// asks of the state directory. It opens sessions to be read, and never writes, mends or
// removes anything.
package inspect

import (
	"maps"
	"slices"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/memory"
	"github.com/memkernel/memkernel/kernel/internal/session"
	"github.com/memkernel/memkernel/kernel/internal/upkeep"
)

// Inspector is what is looked at. Its fields are set once.
type Inspector struct {
	Workspace, StateDir string
	State               store.Store // what is kept in StateDir, or Elsewhere
	Elsewhere           bool
	Blobs, Backups      *store.Blobs
	Sessions            *session.Table
	Upkeep              *upkeep.Keeper
	Prices              *cachelayout.Book
	Now                 func() time.Time
	// Memory is nil if it is off. Set is how it is set, to be completed by what is found;
	// IndexPath is the file of its index, Embedder makes its vectors, nil for none.
	Memory    *memory.Memory
	Set       api.MemoryStatus
	IndexPath string
	Embedder  embed.Provider
	// StateFile and Buffer say which records of the working state are kept.
	StateFile, Buffer bool
	// NoSession is the error for a session that is not there.
	NoSession func(key string) error
}

// sorted lists the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
