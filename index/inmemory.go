package index

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// memoryPath is the path of an index in memory.
const memoryPath = ":memory:"

// inMemory counts the indexes in memory that were made. Each gets its name from this count.
var inMemory atomic.Int64

// InMemory makes an empty index in memory, for searches where nothing may be written. Close
// discards the index, and no other process sees it. Callers must run only one Sync at a time.
// Check, Intact and Rebuild are only for files.
func InMemory(ctx context.Context, opts *Options) (*Index, error) {
	o := opts.orDefaults()
	o.ReadOnly, o.Immutable = false, false
	name := fmt.Sprintf("/memkernel-%d", inMemory.Add(1))
	h := &handles{}
	var err error
	if h.write, err = drv.Open(name, drv.Memory, o.BusyTimeout); err == nil {
		// One connection stays open, because the content is lost with the last connection.
		h.write.SetMaxOpenConns(1)
		err = lay(ctx, h.write, o)
	}
	if err == nil {
		h.read, err = drv.Open(name, drv.Memory, o.BusyTimeout)
	}
	if err == nil {
		err = h.prepare(ctx, h.read)
	}
	if err != nil {
		h.close()
		return nil, explain("make index in memory", memoryPath, err)
	}
	h.read.SetMaxOpenConns(maxReaders)
	return &Index{door: &door{path: memoryPath, opts: o, cur: h}}, nil
}
