package kernel

import (
	"context"

	"github.com/memkernel/memkernel/kernel/api"
)

// Remember appends a text to a file of the workspace, durably and once. It writes the request to
// the journal before it writes the file. After a kill between the two writes, the file is written
// when the session is next opened.
func (k *Kernel) Remember(ctx context.Context, req api.RememberRequest) (*api.Remembered, error) {
	done := k.watch.begin(api.OpRemember)
	r, err := k.desk.Remember(ctx, req)
	k.watch.end(ctx, done, err, func(d *api.Done) { d.Found = 1 })
	return r, err
}
