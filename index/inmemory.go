package index

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// memoryPath takes the place of the path for an index in memory.
const memoryPath = ":memory:"

// inMemory counts the indexes in memory that were made, which gives each a name.
var inMemory atomic.Int64

// InMemory makes an empty index that no file keeps: Close forgets it. It is for searches where
// nothing may be written. No other process sees it. Callers must run only one Sync of it at a
// time. Check, Intact and Rebuild are only for files.
func InMemory(ctx context.Context, opts *Options) (*Index, error) {
	o := opts.orDefaults()
	o.ReadOnly, o.Immutable = false, false
	name := fmt.Sprintf("/memkernel-%d", inMemory.Add(1))
	h := &handles{}
	var err error
	if h.write, err = drv.Open(name, drv.Memory, o.BusyTimeout); err == nil {
		// One connection stays open: with the last, all would be gone.
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
