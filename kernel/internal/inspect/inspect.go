// Package inspect reads a kernel's state. Status reports the places and sizes of everything that
// is kept. Check verifies that the state is whole. Doctor reports findings, and Kept has the state
// directory's part in an audit of memory. Get follows a pointer of a session to the stored
// content: a page, a span, a blob, a checkpoint, or the whole of a capped list. Known content that
// can't be read is reported as a fault, never as empty. The package opens sessions for reading,
// and never writes, mends or removes anything.
package inspect

import (
	"maps"
	"slices"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/session"
)

// Inspector reports on one kernel. Its fields are set once.
type Inspector struct {
	*session.Options
	Workspace, StateDir string
	Elsewhere           bool // the state is not in StateDir
	Backups             *store.Blobs
	Sessions            *session.Table
	// Set holds the settings of memory. A status adds the measured sizes.
	Set api.MemoryStatus
	// IndexPath is the file of memory's index.
	IndexPath string
	// Embedder makes the vectors of memory. It may be nil.
	Embedder embed.Provider
	// StateFile and Buffer report which records of the working state are kept.
	StateFile, Buffer bool
	// NoSession returns the error for a missing session.
	NoSession func(key string) error
}

// sorted lists the keys of a map in order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
