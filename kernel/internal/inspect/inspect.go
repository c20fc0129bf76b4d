// Package inspect reports on a kernel's state: where everything is and how big (status), whether
// it is whole (check), a doctor's findings, and the state directory's part in an audit of memory.
// It opens sessions for reading, and never writes, mends or removes anything.
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

// Inspector reports on one kernel. Its fields are set once.
type Inspector struct {
	Workspace, StateDir string
	State               store.Store // the state, in StateDir or Elsewhere
	Elsewhere           bool
	Blobs, Backups      *store.Blobs
	Sessions            *session.Table
	Upkeep              *upkeep.Keeper
	Prices              *cachelayout.Book
	Now                 func() time.Time
	// Memory is nil if it is off. Set holds its settings, which the findings complete. IndexPath
	// is the file of its index. Embedder makes its vectors and may be nil.
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
