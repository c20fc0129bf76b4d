package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/serve"
)

const (
	// DefaultIdle is how long a tenant that nobody calls stays open.
	DefaultIdle = 15 * time.Minute
	// DefaultTenants is how many tenants are open at once.
	DefaultTenants = 64
)

// Opened is a tenant's kernel, its server, and the function that closes everything else with the
// kernel.
type Opened struct {
	Kernel *kernel.Kernel
	Serve  *serve.Options
	Close  func() error
}

// Tenants are workspaces that know nothing of each other. Each tenant has its own folder and
// state. A tenant is opened when it is first called, and closed when nobody has called it for a
// while.
type Tenants struct {
	// Root is the folder that holds the tenants, in tenants/NAME/workspace and
	// tenants/NAME/state.
	Root string
	// Open opens a tenant's kernel.
	Open func(ctx context.Context, name, workspace, state string) (*Opened, error)
	// Most is how many tenants are open at once. The default is DefaultTenants. To open one more,
	// the idle tenant that was called longest ago is closed.
	Most int
	// Idle is how long a tenant that nobody calls stays open. The default is DefaultIdle.
	Idle time.Duration

	mu     sync.Mutex
	closed bool
	open   map[string]*tenant
}

// tenant is a tenant that is open, or being opened or closed.
type tenant struct {
	users int
	last  time.Time
	// ready is closed once the tenant is open or err is set. gone is closed once the tenant is
	// closed.
	ready, gone chan struct{}
	closing     bool
	server      *serve.Server
	opened      *Opened
	err         error
}

// Hold keeps other servers from the root, until release is called. The error wraps
// [serve.ErrServed] if another process has it.
func (t *Tenants) Hold() (release func(), err error) { return serve.Hold(t.Root) }

// Server opens a tenant, for [Options.Server] of a door with [Options.Tenants].
func (t *Tenants) Server(ctx context.Context, name string) (*serve.Server, func(), error) {
	for {
		x, mine, err := t.enter(ctx, name)
		if err != nil {
			return nil, nil, err
		}
		if x == nil {
			continue // the tenant was being closed, and is opened again
		}
		if mine {
			t.begin(ctx, name, x)
		}
		select {
		case <-x.ready:
		case <-ctx.Done():
			t.leave(x)
			return nil, nil, ctx.Err()
		}
		if x.err != nil {
			t.leave(x)
			return nil, nil, x.err
		}
		return x.server, func() { t.leave(x) }, nil
	}
}

// enter counts a user of a tenant. If mine is true, the caller must open the tenant. If the
// tenant is being closed, enter waits for that and returns nil.
func (t *Tenants) enter(ctx context.Context, name string) (x *tenant, mine bool, err error) {
	t.mu.Lock()
	if x := t.open[name]; x != nil && x.closing && !t.closed {
		t.mu.Unlock()
		select {
		case <-x.gone:
			return nil, false, nil
		case <-ctx.Done():
			return nil, false, ctx.Err()
		}
	}
	defer t.mu.Unlock()
	if t.closed {
		return nil, false, serve.ErrStopping()
	}
	if x = t.open[name]; x == nil {
		if len(t.open) >= cmp.Or(t.Most, DefaultTenants) {
			t.mu.Unlock()
			err := t.makeRoom(ctx)
			t.mu.Lock()
			return nil, false, err
		}
		x = &tenant{ready: make(chan struct{}), gone: make(chan struct{})}
		if t.open == nil {
			t.open = map[string]*tenant{}
		}
		t.open[name], mine = x, true
	}
	x.users++
	return x, mine, nil
}

// makeRoom closes the idle tenant that was called longest ago, or waits for one that is being
// closed.
func (t *Tenants) makeRoom(ctx context.Context) error {
	var oldest, going *tenant
	t.mu.Lock()
	for _, x := range t.open {
		switch {
		case x.closing:
			going = x
		case x.users > 0: // a tenant that is being opened has a user too
		case oldest == nil || x.last.Before(oldest.last):
			oldest = x
		}
	}
	t.mu.Unlock()
	switch {
	case going != nil:
		select {
		case <-going.gone:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	case oldest == nil:
		return serve.ErrBusy("calls of too many tenants are running", "wait as long as Retry-After says, and deliver it again")
	}
	// The tenant is closed even if this call stops waiting, because other calls need the room
	// too.
	return t.close(context.WithoutCancel(ctx), func(x *tenant) bool { return x == oldest && x.users == 0 })
}

func (t *Tenants) leave(x *tenant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	x.users--
	x.last = time.Now()
}

// begin opens a tenant and wakes the calls that wait for it. If it can't be opened, the next call
// tries again.
func (t *Tenants) begin(ctx context.Context, name string, x *tenant) {
	defer close(x.ready)
	workspace, state, err := t.folders(name)
	if err == nil {
		// The tenant is opened even if the first call stops waiting, because other calls may wait
		// for it.
		if x.opened, err = t.Open(context.WithoutCancel(ctx), name, workspace, state); err == nil {
			x.server = serve.New(x.opened.Kernel, x.opened.Serve)
			return
		}
	}
	x.err = fmt.Errorf("open tenant %q: %w", name, err)
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.open, name)
}

// folders makes a tenant's folders. It refuses a link, which could lead to another tenant's
// folder.
func (t *Tenants) folders(name string) (workspace, state string, err error) {
	dir := filepath.Join(t.Root, "tenants")
	own := filepath.Join(dir, textutil.SafeName(name))
	workspace, state = filepath.Join(own, "workspace"), filepath.Join(own, "state")
	for _, path := range []string{dir, own, workspace, state} {
		if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return "", "", fmt.Errorf("make folder: %w", err)
		}
		fi, err := os.Lstat(path)
		if err != nil {
			return "", "", err
		}
		if !fi.IsDir() {
			return "", "", fmt.Errorf("%s is a link or no folder: remove it", path)
		}
	}
	return workspace, state, nil
}

// Tidy closes tenants that nobody has called for long. In all open tenants it also releases
// sessions that nobody has called for long.
func (t *Tenants) Tidy(ctx context.Context) error {
	for _, s := range t.servers() {
		s.Release()
	}
	idle := t.Idle
	if idle <= 0 {
		idle = DefaultIdle
	}
	return t.close(ctx, func(x *tenant) bool { return x.users == 0 && time.Since(x.last) >= idle })
}

// servers returns the servers of the open tenants.
func (t *Tenants) servers() (out []*serve.Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.open {
		select {
		case <-x.ready:
			if x.err == nil && !x.closing {
				out = append(out, x.server)
			}
		default: // the tenant is being opened
		}
	}
	return out
}

// Close closes all tenants once their calls or ctx have ended. No tenant can be opened after
// that.
func (t *Tenants) Close(ctx context.Context) error {
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	return t.close(ctx, func(*tenant) bool { return true })
}

func (t *Tenants) close(ctx context.Context, which func(*tenant) bool) error {
	going := map[string]*tenant{}
	t.mu.Lock()
	for name, x := range t.open {
		select {
		case <-x.ready:
		default:
			if !t.closed {
				continue
			}
		}
		if !x.closing && which(x) {
			x.closing = true
			going[name] = x
		}
	}
	t.mu.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, 2*len(going))
	for name, x := range going {
		wg.Go(func() {
			defer close(x.gone)
			<-x.ready
			if x.err == nil {
				if err := x.server.Stop(ctx); err != nil {
					errs <- fmt.Errorf("stop tenant %q: calls were still running: %w", name, err)
				}
				err := x.opened.Kernel.Close()
				if x.opened.Close != nil {
					err = errors.Join(err, x.opened.Close())
				}
				if err != nil {
					errs <- fmt.Errorf("close tenant %q: %w", name, err)
				}
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.open[name] == x {
				delete(t.open, name)
			}
		})
	}
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}
