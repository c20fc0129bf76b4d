package ui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay"
)

// cursor is a kernel at some call of a session. It can plan the next calls. For an earlier call it
// begins at a copy of the session's state.
type cursor struct {
	mu     sync.Mutex
	kernel *kernel.Kernel
	dir    string
	at     int              // calls before it are planned
	plan   *api.ContextPlan // of the call before at
}

// close closes its resources.
func (c *cursor) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.leave()
}

func (c *cursor) leave() {
	if c.kernel != nil {
		c.kernel.Close()
		c.kernel, c.plan = nil, nil
	}
	os.RemoveAll(c.dir)
}

// show plans call n again. Callers must hold the cursor's lock.
func (t *track) show(ctx context.Context, n int) (*api.ContextPlan, error) {
	c := &t.cursor
	from := 0
	t.mu.Lock()
	steps, total := t.steps, t.total
	for _, s := range t.snaps {
		if s <= n {
			from = max(from, s)
		}
	}
	t.mu.Unlock()
	switch {
	case steps == nil:
		return nil, errNotYet
	case n >= steps.Len() || n < 0:
		return nil, fmt.Errorf("the session has %d calls, there is no call %d", steps.Len(), n+1)
	case n > total:
		return nil, errNotYet
	case c.plan != nil && c.at == n+1:
		return c.plan, nil
	}
	if c.kernel == nil || c.at > n || c.at < from {
		c.leave()
		c.dir, c.at = filepath.Join(t.dir, "cursor"), from
		if from > 0 {
			if err := os.CopyFS(c.dir, os.DirFS(t.snapshot(from))); err != nil {
				return nil, fmt.Errorf("copy the state of a session: %w", err)
			}
		}
		var err error
		if c.kernel, err = openScratch(ctx, c.dir, steps); err != nil {
			return nil, err
		}
	}
	for ; c.at <= n; c.at++ {
		req := steps.Request(c.at)
		req.Table = c.at == n
		var err error
		if c.plan, err = c.kernel.PlanContext(ctx, req); err != nil {
			if _, one := steps.Unplanned(c.at, err); !one || c.at == n {
				return nil, fmt.Errorf("plan call %d: %w", c.at+1, err)
			}
		}
	}
	return c.plan, nil
}

// session is the key of the session that is planned in a scratch folder.
const session = replay.Session
