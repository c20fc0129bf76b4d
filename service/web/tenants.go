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
	"github.com/memkernel/memkernel/serve"
)

// defaultIdle is how long a tenant that nobody calls stays open.
const defaultIdle = 15 * time.Minute

// Tenants are workspaces that know nothing of each other. Each tenant has its own folder and
// state. A tenant is opened when it is first called, and closed when nobody has called it for a
// while.
type Tenants struct {
	// Root is the folder that holds the tenants, in tenants/NAME/workspace and
	// tenants/NAME/state.
	Root string
	// Open opens a tenant. It also returns a function that closes everything that it opened. The
	// caller must call that function after the server has stopped.
	Open func(ctx context.Context, name, workspace, state string) (*serve.Server, func() error, error)
	// Most is how many tenants are open at once, 0 for any number. To open one more, the idle
	// tenant that was called longest ago is closed.
	Most int
	// Idle is how long a tenant that nobody calls stays open. The default is defaultIdle.
	Idle time.Duration

	mu     sync.Mutex
	closed bool
	open   map[string]*tenant
}

// tenant is a tenant that is open, or being opened or closed.
type tenant struct {
	name string
	// users are the calls that use the tenant, or wait until it is open.
	users   int
	last    time.Time
	closing bool
	// ready is closed once server or failed is set. gone is closed once the tenant is closed.
	ready, gone chan struct{}
	server      *serve.Server
	shut        func() error
	// failed is the error of opening the tenant, and ended is the error of closing it.
	failed, ended error
}

// Server opens a tenant. It is the value of [Options.Server] for a door with [Options.Tenants].
func (t *Tenants) Server(ctx context.Context, name string) (*serve.Server, func(), error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for !t.closed {
		x := t.open[name]
		if x == nil && t.Most > 0 && len(t.open) >= t.Most {
			if x = t.idlest(); x == nil {
				return nil, nil, errBusy("calls of too many tenants are running")
			}
		}
		// Opening continues if this call stops waiting, because other calls may wait for it too.
		if x == nil {
			x = t.begin(context.WithoutCancel(ctx), name)
		}
		if x.name == name && !x.closing {
			return t.use(ctx, x)
		}
		if !x.closing {
			t.end(context.WithoutCancel(ctx), x)
		}
		if err := t.wait(ctx, x.gone); err != nil {
			return nil, nil, err
		}
		if x.ended != nil {
			return nil, nil, x.ended
		}
	}
	return nil, nil, serve.ErrStopping()
}

// idlest returns a tenant that is being closed. If there is none, it returns the tenant without
// users that was called longest ago, or nil if all have users. Callers of idlest, use, wait, begin
// and end must hold t.mu.
func (t *Tenants) idlest() (x *tenant) {
	for _, y := range t.open {
		switch {
		case y.closing:
			return y
		case y.users == 0 && (x == nil || y.last.Before(x.last)):
			x = y
		}
	}
	return x
}

// use adds a user to a tenant, and waits until the tenant is open. The returned function removes
// the user.
func (t *Tenants) use(ctx context.Context, x *tenant) (*serve.Server, func(), error) {
	x.users++
	err := t.wait(ctx, x.ready)
	if err == nil {
		err = x.failed
	}
	if err != nil {
		x.users--
		return nil, nil, err
	}
	return x.server, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		x.users--
		x.last = time.Now()
	}, nil
}

// wait releases t.mu until a channel is closed or ctx ends.
func (t *Tenants) wait(ctx context.Context, until chan struct{}) error {
	t.mu.Unlock()
	defer t.mu.Lock()
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin begins to open a tenant. If it can't be opened, the next call tries again.
func (t *Tenants) begin(ctx context.Context, name string) *tenant {
	x := &tenant{name: name, ready: make(chan struct{}), gone: make(chan struct{})}
	if t.open == nil {
		t.open = map[string]*tenant{}
	}
	t.open[name] = x
	go func() {
		defer close(x.ready)
		var s *serve.Server
		workspace, state, err := t.folders(name)
		if err == nil {
			s, x.shut, err = t.Open(ctx, name, workspace, state)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if err != nil {
			x.failed = fmt.Errorf("open tenant %q: %w", name, err)
			delete(t.open, name)
			return
		}
		x.server = s
	}()
	return x
}

// end begins to close a tenant, once it is open.
func (t *Tenants) end(ctx context.Context, x *tenant) {
	x.closing = true
	go func() {
		defer close(x.gone)
		<-x.ready
		if x.failed != nil {
			return
		}
		err := x.server.Stop(ctx)
		if err != nil {
			err = fmt.Errorf("calls were still running: %w", err)
		}
		if err = errors.Join(err, x.shut()); err != nil {
			x.ended = fmt.Errorf("close tenant %q: %w", x.name, err)
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.open, x.name)
	}()
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

// Tidy closes the tenants that nobody has called for [Tenants.Idle]. In all open tenants it also
// releases sessions that nobody has called for long.
func (t *Tenants) Tidy(ctx context.Context) error {
	for _, s := range t.servers() {
		s.Release()
	}
	idle := cmp.Or(t.Idle, defaultIdle)
	return t.close(ctx, func(x *tenant) bool { return x.users == 0 && time.Since(x.last) >= idle })
}

// servers returns the servers of the open tenants.
func (t *Tenants) servers() (out []*serve.Server) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, x := range t.open {
		if x.server != nil && !x.closing {
			out = append(out, x.server)
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

// close closes the tenants that which selects.
func (t *Tenants) close(ctx context.Context, which func(*tenant) bool) error {
	var going []*tenant
	t.mu.Lock()
	for _, x := range t.open {
		if !x.closing && which(x) {
			t.end(ctx, x)
			going = append(going, x)
		}
	}
	t.mu.Unlock()
	var errs []error
	for _, x := range going {
		<-x.gone
		errs = append(errs, x.ended)
	}
	return errors.Join(errs...)
}
