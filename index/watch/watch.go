package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// DefaultDebounce is how long nothing must happen before a change is reported.
const DefaultDebounce = 1500 * time.Millisecond

// maxDelay is how many times the debounce a change waits at most while others
// keep coming.
const maxDelay = 10

// Tree is a folder that is watched.
type Tree struct {
	// Root is watched itself. Deep are folders below it, with slashes, that are watched with
	// everything below them, now or as soon as they exist. "." is Root.
	Root string
	Deep []string
	// Skip leaves out folders of Deep, and the folders below them, by their paths relative to
	// Root.
	Skip func(dir string) bool
	// Relevant reports whether a change of this path, relative to Root and
	// with slashes, matters. Folders of Deep always do.
	Relevant func(path string) bool
}

// Options name the watched folders.
type Options struct {
	Tree
	// Also are watched too, if they are there when the watch begins.
	Also []Tree
	// Debounce is how long nothing must happen before a change is reported;
	// default DefaultDebounce. After ten times as long it is reported in any
	// case.
	Debounce time.Duration

	// after makes the timers, open the system's watcher, for tests.
	after func(time.Duration) <-chan time.Time
	open  func() (notifier, error)
}

// notifier holds the needed methods of an fsnotify.Watcher.
type notifier interface {
	Add(dir string) error
	Close() error
	events() <-chan fsnotify.Event
	errors() <-chan error
}

type system struct{ *fsnotify.Watcher }

func (s system) events() <-chan fsnotify.Event { return s.Events }
func (s system) errors() <-chan error          { return s.Errors }

func openSystem() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return system{w}, nil
}

// Watcher watches until it is closed.
type Watcher struct {
	opts    Options
	n       notifier
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex // guards the fields below
	folders map[string]bool
	// missing is why a folder is not watched, by folder; lost why events were.
	missing map[string]error
	lost    error
}

// Open begins to watch. The error is for a system that can't watch at all, or not
// even Root.
func Open(o Options) (*Watcher, error) {
	if o.Debounce <= 0 {
		o.Debounce = DefaultDebounce
	}
	if o.after == nil {
		o.after = time.After
	}
	if o.open == nil {
		o.open = openSystem
	}
	n, err := o.open()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", o.Root, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &Watcher{opts: o, n: n, changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}),
		folders: map[string]bool{}, missing: map[string]error{}}
	if w.add(o.Root); len(w.missing) > 0 {
		cancel()
		n.Close()
		return nil, w.missing[o.Root]
	}
	for _, t := range o.Also {
		w.add(t.Root)
	}
	w.addDeep()
	go w.run(ctx)
	return w, nil
}

// Changed gets a value when something has changed and settled. It is never closed.
func (w *Watcher) Changed() <-chan struct{} { return w.changed }

// Close ends the watch and waits for it. It is idempotent.
func (w *Watcher) Close() error {
	w.cancel()
	<-w.done
	return nil
}

// State returns how many folders are watched, and why others are not; nil if all
// are.
func (w *Watcher) State() (folders int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.missing {
		err = e
	}
	if n := len(w.missing); n > 1 {
		err = fmt.Errorf("%w, and %d folders more", err, n-1)
	}
	return len(w.folders), errors.Join(err, w.lost)
}

// run turns events into one word per burst of them.
func (w *Watcher) run(ctx context.Context) {
	defer close(w.done)
	defer w.n.Close()
	var settled, latest <-chan time.Time
	touch := func() {
		settled = w.opts.after(w.opts.Debounce)
		if latest == nil {
			latest = w.opts.after(maxDelay * w.opts.Debounce)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.n.events():
			if !ok {
				w.lose(errors.New("the system ended the watch"))
				return
			}
			if w.event(e) {
				touch()
			}
		case err, ok := <-w.n.errors():
			if !ok {
				return
			}
			w.overflow(err)
			touch()
		case <-settled:
			settled, latest = nil, nil
			w.notify()
		case <-latest:
			settled, latest = nil, nil
			w.notify()
		}
	}
}

// notify reports that something has changed, unless a report is waiting to be
// received.
func (w *Watcher) notify() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// event handles one event and reports whether it matters.
func (w *Watcher) event(e fsnotify.Event) bool {
	t, rel := w.treeOf(e.Name)
	if t == nil || e.Op == fsnotify.Chmod {
		return false
	}
	if e.Has(fsnotify.Create) && t.within(rel) {
		if fi, err := os.Lstat(e.Name); err == nil && fi.IsDir() {
			if t.Skip != nil && t.Skip(rel) && !slices.Contains(t.Deep, rel) {
				return false
			}
			w.addBelow(t, e.Name)
			return true
		}
	}
	w.mu.Lock()
	watched := w.folders[e.Name]
	if watched && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		// The system has dropped it; a folder of the same name must be added anew.
		delete(w.folders, e.Name)
	}
	w.mu.Unlock()
	return watched || t.Relevant == nil || t.Relevant(rel)
}

// trees are all watched trees.
func (w *Watcher) trees() []Tree { return append([]Tree{w.opts.Tree}, w.opts.Also...) }

// treeOf finds the innermost tree that something is in, nil if none, and its path there.
func (w *Watcher) treeOf(name string) (*Tree, string) {
	var in *Tree
	path := ""
	for _, t := range w.trees() {
		rel, err := filepath.Rel(t.Root, name)
		if err == nil && filepath.IsLocal(rel) && (in == nil || len(t.Root) > len(in.Root)) {
			in, path = &t, filepath.ToSlash(rel)
		}
	}
	return in, path
}

// within reports whether a path is one of Deep or below.
func (t *Tree) within(rel string) bool {
	for _, d := range t.Deep {
		if d == "." || rel == d || len(rel) > len(d) && rel[:len(d)] == d && rel[len(d)] == '/' {
			return true
		}
	}
	return false
}

// overflow handles dropped events: there may be new folders that were not
// seen.
func (w *Watcher) overflow(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.lose(fmt.Errorf("watch %s: %w", w.opts.Root, err))
		return
	}
	w.addDeep()
}

func (w *Watcher) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = err
}

func (w *Watcher) addDeep() {
	for _, t := range w.trees() {
		for _, d := range t.Deep {
			w.addBelow(&t, filepath.Join(t.Root, filepath.FromSlash(d)))
		}
	}
}

// addBelow watches a folder and those below it. Symbolic links are not followed, as
// no listing does.
func (w *Watcher) addBelow(t *Tree, dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			w.miss(path, err)
			return fs.SkipDir
		case !d.IsDir():
			return nil
		case path != dir && t.skips(path):
			return fs.SkipDir
		}
		w.add(path)
		return nil
	})
}

func (t *Tree) skips(path string) bool {
	rel, err := filepath.Rel(t.Root, path)
	return err == nil && t.Skip != nil && t.Skip(filepath.ToSlash(rel))
}

// add watches one folder.
func (w *Watcher) add(dir string) {
	err := w.n.Add(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != w.opts.Root {
		return // it went as it came
	}
	if err != nil {
		w.miss(dir, err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.folders[dir] = true
	delete(w.missing, dir)
}

func (w *Watcher) miss(dir string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missing[dir] = fmt.Errorf("watch %s: %w%s", dir, err, wayOut(err))
}
