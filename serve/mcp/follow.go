package mcp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/markdownstore"
)

// follower notifies clients when resources to which they subscribed have changed. It watches from
// the first subscription on. If the system can't watch, it announces only this server's own
// writes.
type follower struct {
	s *Server

	mu      sync.Mutex
	of      map[string]*followed // by URI
	watcher watcher
	quit    chan struct{}
	done    sync.WaitGroup
}

// watcher tells when files may have changed.
type watcher interface {
	Changed() <-chan struct{}
	Close() error
}

// followed is a resource with its last known stamp.
type followed struct {
	clients int
	stamp   stamp
}

type stamp struct {
	size int64
	mod  time.Time
}

func newFollower(s *Server) *follower {
	return &follower{s: s, of: map[string]*followed{}, quit: make(chan struct{})}
}

func (f *follower) subscribe(ctx context.Context, req *sdk.SubscribeRequest) error {
	uri := req.Params.URI
	file, ok := pathOf(uri)
	if !ok {
		return sdk.ResourceNotFoundError(uri)
	}
	now, err := f.stat(file)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of[uri] == nil {
		f.of[uri] = &followed{stamp: now}
	}
	f.of[uri].clients++
	f.watch()
	return nil
}

func (f *follower) unsubscribe(ctx context.Context, req *sdk.UnsubscribeRequest) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.of[req.Params.URI]; r != nil {
		if r.clients--; r.clients <= 0 {
			delete(f.of, req.Params.URI)
		}
	}
	return nil
}

// stat returns the stamp of a file, the zero stamp if the file doesn't exist. It returns an error
// for a path that may not be read.
func (f *follower) stat(file string) (stamp, error) {
	got, err := f.s.opts.Store.Stat(file)
	if err != nil {
		return stamp{}, err
	}
	return stamp{got.Size, got.ModTime}, nil
}

// watch begins to watch, once. The caller must hold f.mu.
func (f *follower) watch() {
	if f.watcher != nil {
		return
	}
	w, err := f.open()
	if err != nil {
		if l := f.s.opts.Logger; l != nil {
			l.Warn("files can't be watched", slog.Any("error", err))
		}
		return
	}
	f.watcher = w
	f.done.Go(func() {
		for {
			select {
			case <-f.quit:
				return
			case <-w.Changed():
				f.look(context.Background())
			}
		}
	})
}

// open watches the folder of the files. If there is no folder, it checks the files from time to
// time.
func (f *follower) open() (watcher, error) {
	st := f.s.opts.Store
	if markdownstore.IsRemote(st) {
		return watch.Poll(watch.DefaultDebounce, func(ctx context.Context) (int64, error) { return markdownstore.Version(ctx, st, 0) }), nil
	}
	return watch.Open(watch.Options{Tree: watch.Tree{Root: st.Dir(), Deep: []string{"memory"}, Relevant: func(path string) bool {
		c, ok := markdownstore.Classify(path)
		return ok && c.Memory
	}}})
}

// look notifies clients of every followed resource that has changed.
func (f *follower) look(ctx context.Context) {
	if f == nil {
		return
	}
	f.mu.Lock()
	var changed []string
	for uri, r := range f.of {
		file, _ := pathOf(uri)
		if now, err := f.stat(file); err == nil && now != r.stamp {
			r.stamp = now
			changed = append(changed, uri)
		}
	}
	f.mu.Unlock()
	for _, uri := range changed {
		// A client that has hung up needs no notification.
		_ = f.s.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri})
	}
}

// stop ends the watch and waits for it. It is idempotent.
func (f *follower) stop() {
	if f == nil {
		return
	}
	f.mu.Lock()
	w := f.watcher
	f.watcher = nil
	f.mu.Unlock()
	if w == nil {
		return
	}
	close(f.quit)
	f.done.Wait()
	_ = w.Close() // it was only read from
}
