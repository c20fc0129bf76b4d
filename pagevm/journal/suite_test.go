package journal

import (
	"path/filepath"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(25) }

// place is the store of a file's folder, and the file's name in it.
func place(path string) (store.Store, string) {
	return store.Files(filepath.Dir(path)), filepath.Base(path)
}

// openPath opens the journal at a path.
func openPath(path string, opt *Options) (*Journal, error) {
	in, name := place(path)
	return OpenJournalIn(in, name, opt)
}
