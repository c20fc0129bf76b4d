package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/fetch"
)

// Get restores a page, a span or a blob of a session, byte for byte as stored. For an id with
// lines, as a search cites them, it returns these lines of the page's text. An unknown id is no
// error: the content says NO_MATCH. Known content that is gone or damaged is none either: the
// content says BACKEND_ERROR, with the fault, and never passes for empty. Content that can't be
// read now fails the call.
func (k *Kernel) Get(ctx context.Context, sessionKey, id string) (*api.Content, error) {
	s, unlock, err := k.open(ctx, sessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return fetch.Get(k.state, s, id, func(key string) string { return (&api.NoSessionError{Key: key}).Error() })
}
