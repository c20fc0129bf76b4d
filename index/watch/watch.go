package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/fsnotify/fsnotify"
)

// defaultDebounce is the default of Options.Debounce.
const defaultDebounce = 1500 * time.Millisecond

// maxDelay bounds, in multiples of the debounce, how long a report waits while changes continue.
const maxDelay = 10

// Tree is a folder that is watched with the folders below it.
type Tree struct {
	// Root is a watched folder.
	Root string
	// Skip leaves out folders below Root, and the folders below them, by their paths relative to
	// Root.
	Skip func(dir string) bool
	// Relevant reports whether a change of this path, relative to Root and with slashes, matters.
	// New folders that Skip does not leave out always do.
	Relevant func(path string) bool
}

// Options name the watched folders.
type Options struct {
	Tree
	// Also are further trees. A tree is watched if its Root exists when the watch begins.
	Also []Tree
	// Debounce is the quiet time that must follow a change before the change is reported. The
	// default is one and a half seconds. If changes continue, the report comes after ten times as long.
	Debounce time.Duration

	// open opens the system's watcher. Tests replace it.
	open func() (notifier, error)
}

// notifier holds the parts of an fsnotify.Watcher that this package uses.
type notifier struct {
	add    func(dir string) error
	close  func() error
	events <-chan fsnotify.Event
	errors <-chan error
}

func openSystem() (notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return notifier{}, err
	}
	return notifier{w.Add, w.Close, w.Events, w.Errors}, nil
}

// watcher watches until it is closed.
type watcher struct {
	opts    Options
	n       notifier
	changed chan struct{}
	cancel  context.CancelFunc
	done    chan struct{}

	mu      sync.Mutex // guards the fields below
	folders map[string]bool
	// missing holds, for each folder that is not watched, the reason.
	missing map[string]error
	// lost is the reason why events were lost.
	lost error
}

// Open begins to watch. It returns an error if the system can't watch at all or can't watch Root.
func Open(o Options) (*watcher, error) {
	if o.Debounce <= 0 {
		o.Debounce = defaultDebounce
	}
	if o.open == nil {
		o.open = openSystem
	}
	n, err := o.open()
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", o.Root, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w := &watcher{opts: o, n: n, changed: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{}),
		folders: map[string]bool{}, missing: map[string]error{}}
	w.addAll()
	if err := w.missing[o.Root]; err != nil {
		cancel()
		n.close()
		return nil, err
	}
	go w.run(ctx)
	return w, nil
}

// Changed gets a value when something has changed and settled. It is never closed.
func (w *watcher) Changed() <-chan struct{} { return w.changed }

// Close ends the watch and waits until it has ended. It is idempotent.
func (w *watcher) Close() error {
	w.cancel()
	<-w.done
	return nil
}

// State returns the number of watched folders, and an error if some folders are not watched or
// events were lost.
func (w *watcher) State() (folders int, err error) {
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

// run sends one report for each burst of events.
func (w *watcher) run(ctx context.Context) {
	defer close(w.done)
	defer w.n.close()
	var settled, latest <-chan time.Time
	touch := func() {
		settled = time.After(w.opts.Debounce)
		if latest == nil {
			latest = time.After(maxDelay * w.opts.Debounce)
		}
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.n.events:
			if !ok {
				w.lose(errors.New("the system ended the watch"))
				return
			}
			if w.event(e) {
				touch()
			}
		case err, ok := <-w.n.errors:
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
func (w *watcher) notify() {
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// event handles one event and reports whether it matters.
func (w *watcher) event(e fsnotify.Event) bool {
	t, rel := w.treeOf(e.Name)
	if t == nil || e.Op == fsnotify.Chmod {
		return false
	}
	if e.Has(fsnotify.Create) {
		if fi, err := os.Lstat(e.Name); err == nil && fi.IsDir() {
			if t.skips(e.Name) {
				return false
			}
			w.addBelow(t, e.Name)
			return true
		}
	}
	w.mu.Lock()
	watched := w.folders[e.Name]
	if watched && (e.Has(fsnotify.Remove) || e.Has(fsnotify.Rename)) {
		// The system no longer watches this folder. A new folder of the same name must be added
		// again.
		delete(w.folders, e.Name)
	}
	w.mu.Unlock()
	return watched || t.Relevant == nil || t.Relevant(rel)
}

// trees are all watched trees.
func (w *watcher) trees() []Tree { return append([]Tree{w.opts.Tree}, w.opts.Also...) }

// treeOf returns the innermost tree that contains name, and the path of name in that tree. The
// tree is nil if no tree contains name.
func (w *watcher) treeOf(name string) (*Tree, string) {
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

// overflow handles an error of the system's watcher. After dropped events it looks for new
// folders, because their events may be lost.
func (w *watcher) overflow(err error) {
	if !errors.Is(err, fsnotify.ErrEventOverflow) {
		w.lose(fmt.Errorf("watch %s: %w", w.opts.Root, err))
		return
	}
	w.addAll()
}

func (w *watcher) lose(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost = err
}

func (w *watcher) addAll() {
	for _, t := range w.trees() {
		w.addBelow(&t, t.Root)
	}
}

// addBelow watches a folder and the folders below it. It follows no symbolic links, just as
// listings don't.
func (w *watcher) addBelow(t *Tree, dir string) {
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && path != w.opts.Root:
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
func (w *watcher) add(dir string) {
	err := w.n.add(dir)
	if errors.Is(err, fs.ErrNotExist) && dir != w.opts.Root {
		return // the folder is gone already
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

func (w *watcher) miss(dir string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.missing[dir] = fmt.Errorf("watch %s: %w%s", dir, err, wayOut(err))
}
