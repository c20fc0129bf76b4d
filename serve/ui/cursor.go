package ui

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay"
)

// cursor is a kernel at some call of a session. It can plan that call again, and the next call
// without a replay. Another plan of the call leaves no trace.
type cursor struct {
	mu     sync.Mutex
	kernel *kernel.Kernel
	dir    string
	at     int // calls before it are planned
	forks  int
	shown  *fork
}

// fork is a copy of the kernel's state for one plan.
type fork struct {
	call   int
	kernel *kernel.Kernel
	dir    string
	plan   *api.ContextPlan
}

// close closes its resources.
func (c *cursor) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shown.close()
	c.shown = nil
	c.leave()
}

func (c *cursor) leave() {
	if c.kernel != nil {
		c.kernel.Close()
		os.RemoveAll(c.dir)
		c.kernel = nil
	}
}

func (f *fork) close() {
	if f != nil && f.kernel != nil {
		f.kernel.Close()
		os.RemoveAll(f.dir)
	}
}

// stand moves the cursor before call n. Callers must hold its lock.
func (t *track) stand(ctx context.Context, n int) error {
	c := &t.cursor
	from := -1
	t.mu.Lock()
	steps, total := t.steps, t.total
	for _, s := range t.snaps {
		if s <= n {
			from = max(from, s)
		}
	}
	t.mu.Unlock()
	if steps == nil {
		return errNotYet
	}
	if n >= steps.Len() || n < 0 {
		return fmt.Errorf("the session has %d calls, there is no call %d", steps.Len(), n+1)
	}
	if n > total {
		return errNotYet
	}
	if c.kernel == nil || c.at > n || c.at < from {
		c.leave()
		c.dir = filepath.Join(t.dir, "cursor")
		if err := os.RemoveAll(c.dir); err != nil {
			return fmt.Errorf("begin the session anew: %w", err)
		}
		c.at = max(from, 0)
		if from > 0 {
			if err := os.CopyFS(c.dir, os.DirFS(t.snapshot(from))); err != nil {
				return fmt.Errorf("copy the state of a session: %w", err)
			}
		}
		var err error
		if c.kernel, err = openScratch(ctx, c.dir, steps); err != nil {
			return err
		}
	}
	for ; c.at < n; c.at++ {
		if _, err := c.kernel.PlanContext(ctx, steps.Request(c.at)); err != nil {
			if _, one := steps.Unplanned(c.at, err); !one {
				return fmt.Errorf("plan call %d: %w", c.at+1, err)
			}
		}
	}
	return nil
}

// show plans call n again in a copy of the state before it, and keeps the copy until a caller
// requests another call. Callers must hold the cursor's lock.
func (t *track) show(ctx context.Context, n int) (*fork, error) {
	c := &t.cursor
	if c.shown != nil && c.shown.call == n {
		return c.shown, nil
	}
	if err := t.stand(ctx, n); err != nil {
		return nil, err
	}
	c.forks++
	f := &fork{call: n, dir: filepath.Join(t.dir, "fork-"+strconv.Itoa(c.forks))}
	if err := os.CopyFS(f.dir, os.DirFS(c.dir)); err != nil {
		return nil, fmt.Errorf("copy the state of a session: %w", err)
	}
	t.mu.Lock()
	steps := t.steps
	t.mu.Unlock()
	var err error
	if f.kernel, err = openScratch(ctx, f.dir, steps); err != nil {
		return nil, err
	}
	req := steps.Request(n)
	req.Table = true
	if f.plan, err = f.kernel.PlanContext(ctx, req); err != nil {
		f.close()
		return nil, err
	}
	c.shown.close()
	c.shown = f
	return f, nil
}

// session is the key of the session that is planned in a scratch folder.
const session = replay.Session
