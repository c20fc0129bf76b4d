package rows

import "github.com/memkernel/memkernel/internal/store"

// Journal panics: this store has logs.
func (s *Store) Journal(string) store.Journal { panic("rows: a store of records has no journals") }
