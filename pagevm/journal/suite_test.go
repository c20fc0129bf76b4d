package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(25) }

// place is the store of a file's folder, and the file's name in it. One behind memory:
// is kept in memory.
func place(path string) (store.Store, string) {
	dir, name := filepath.Split(path)
	if in, ok := strings.CutPrefix(dir, "memory:"); ok {
		return inMemory.In(in), name
	}
	return store.Files(dir), name
}

var inMemory = storetest.New()

// memoryDir is a folder in memory for tests of what is above the disk.
func memoryDir(t *testing.T) string {
	t.Cleanup(func() { inMemory.Remove(store.Unsynced, t.Name()) })
	return "memory:" + t.Name()
}

// readPath is what is at a path, nothing if nothing does.
func readPath(path string) []byte {
	in, name := place(path)
	b, _ := in.Get(name)
	return b
}

// openPath opens the journal at a path.
func openPath(path string, opt *Options) (*Journal, error) {
	in, name := place(path)
	return OpenJournalIn(in, name, opt)
}
