package pgstore

import "github.com/memkernel/memkernel/internal/store"

// waitBehind changes nothing. Its commit waits for the disk, and for a standby that the server
// waits for, and so do all earlier commits. The fence ensures that the server that gave the lock
// runs it.
const waitBehind = `r AS (INSERT INTO locks AS l(root, path, alone, held, holder) SELECT $1::bigint, $5::text, false, '{}', '' FROM ok WHERE ok.ok ON CONFLICT(root, path) DO UPDATE SET holder=l.holder)
	SELECT ok.ok FROM ok`

// Stands implements [store.Stands].
func (s *Store) Stands(lock string) error {
	at, err := s.at(lock)
	if err != nil {
		return err
	}
	return s.change("wait for", store.Synced, []string{at}, nil, nil, waitBehind, []any{at})
}

// Takeovers is for [store.Takeovers].
func (s *Store) Takeovers() int64 { return s.takeovers.Load() }
