package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/kernel/internal/fetch"
)

// Get restores a page, a span or a blob of a session, byte for byte as stored; an
// id with lines, as a search cites them, gives these lines of what the page says.
// An id that nothing is known of is no error: the content says NO_MATCH. Nor is
// content that is known and gone or damaged: it says BACKEND_ERROR, with the fault,
// and never passes for empty. What can't be read now fails the call.
func (k *Kernel) Get(ctx context.Context, sessionKey, id string) (*api.Content, error) {
	s, unlock, err := k.open(ctx, sessionKey, false)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return fetch.Get(k.state, s, id, func(key string) string { return (&api.NoSessionError{Key: key}).Error() })
}
