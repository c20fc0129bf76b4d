// Package memory searches and reads the workspace's memory: the Markdown, media and past sessions
// that belong to it, the index over them, and the rules for who may see which file. It also
// makes, moves and checks the index and fills it with vectors.
//
// It writes to the index and to the documents of past sessions, and never to the workspace's
// files. It does not depend on kernels, plans and journals. A session is only its key, and
// conversations come from a [sessions.Lister]. A [syncer] decides when the index is brought up
// to date.
package memory

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/watch"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

// Options configure memory and the place of its index. State, Prepare, Masker, Now, Backend and
// Sessions.Folder must be set.
type Options struct {
	// Store are the settings of the workspace. Open sets its Private.
	Store markdownstore.Options
	// Files, if not nil, keeps the workspace elsewhere than in its folder.
	Files markdownstore.Files
	// State is the state folder.
	State store.Store
	// Prepare makes the state folder. It is called before a write to the folder.
	Prepare func() error
	Masker  *mask.Masker
	Now     func() time.Time
	// Backend keeps the index.
	Backend api.Backend
	// Ranking are the settings of the search.
	Ranking retrieval.Options
	// Leases, if not nil, has the lock for making vectors of one index, so that only one machine
	// sends each text.
	Leases store.Store
	// Embedder makes vectors. Nil makes none.
	Embedder embed.Provider
	// Allow, if not nil, returns an error if texts must not be sent to Embedder unless a caller has
	// approved that.
	Allow func(api.EmbedEstimate) error
	// MediaPaths are folders of the workspace with images and sounds.
	MediaPaths []string
	// Folders are searched in addition to the workspace.
	Folders  []api.MemoryFolder
	Sessions SessionOptions
	// Wait is how long searches wait for the index to be made, or brought up to date. It defaults
	// to DefaultWait. If it is negative, searches use the index as it is.
	Wait time.Duration
	// After makes the timers for Wait. It defaults to [time.After].
	After func(time.Duration) <-chan time.Time
	// Sync decides when the index is brought up to date in the background. Open fills in the
	// function of a run and the watched folders, but not the Debounce.
	Sync SyncOptions
}

// SessionOptions decide whether past sessions are searched.
type SessionOptions struct {
	Enabled bool
	// Sources are folders of transcripts that hosts write. Own, if not nil, lists sessions from
	// elsewhere.
	Sources []sessions.Source
	Own     sessions.Lister
	// DeltaBytes: see [sessions.Options].
	DeltaBytes int64
}

// Memory is a workspace's memory with its index.
type Memory struct {
	// Private sees all files. Shared sees only the files that every session may see.
	Private, Shared *markdownstore.Store
	// Past are documents of the words said in sessions.
	Past  *sessions.Store
	heard *past // reads the past sessions into Past
	// Sync keeps the index up to date.
	Sync *syncer

	o      Options
	corpus corpus
	index  opened
	bring  bringer
	// nothing is the index of no files.
	nothing *reading

	mu    sync.Mutex // guards the fields below
	files map[string]readFile
}

// Open opens the workspace. The index is opened when it is first needed.
func Open(ctx context.Context, dir string, o Options) (*Memory, error) {
	o.Store.Private = true
	if o.Store.Now == nil {
		o.Store.Now = o.Now
	}
	o.Wait = cmp.Or(o.Wait, defaultWait)
	if o.After == nil {
		o.After = time.After
	}
	store, err := openFiles(ctx, dir, &o)
	if err != nil {
		return nil, err
	}
	m := &Memory{o: o, Private: store, Shared: store.Shared(), files: map[string]readFile{}}
	m.Past = sessions.Open(o.State.In(pastDir), &sessions.Options{Mask: o.Masker.Text, Location: m.location(),
		DeltaBytes: o.Sessions.DeltaBytes})
	m.heard = &past{store: m.Past, o: &m.o, agent: m.Agent}
	m.corpus = corpus{store: store, shared: m.Shared, extras: newExtras(o.Folders, store.Dir(), o.Store), masker: o.Masker, embedder: o.Embedder, mediaPaths: o.MediaPaths, past: m.Past, searched: o.Sessions.Enabled}
	m.index = opened{backend: o.Backend, ranking: &m.o.Ranking, rules: index.Options{Chunker: store.Chunking().Name() + chunkerMark}}
	m.nothing = &reading{retriever: m.worded(failing{})}
	m.Sync = newSyncer(m.syncOptions())
	return m, nil
}

// openFiles opens the workspace in its folder, or in o.Files.
func openFiles(ctx context.Context, dir string, o *Options) (*markdownstore.Store, error) {
	if o.Files == nil {
		return markdownstore.Open(dir, &o.Store)
	}
	if len(o.MediaPaths) > 0 {
		return nil, errors.New("images and sounds are found in a folder, and the workspace's files are kept elsewhere: name no folders of media, or keep the workspace in its folder")
	}
	s := markdownstore.New(o.Files, &o.Store)
	_, err := s.Version(ctx, 0) // a fault of the place is reported now
	return s, err
}

// Fresh makes later reads see all writes of other processes so far.
func (m *Memory) Fresh(ctx context.Context) error {
	_, err := m.Private.Version(ctx, 0)
	return err
}

// recently is the greatest age of a search's knowledge of files outside the workspace's folder. A
// caller that needs newer knowledge must call Fresh first.
const recently = time.Second

// syncOptions returns the syncer's functions and watched folders.
func (m *Memory) syncOptions() SyncOptions {
	o := m.o.Sync
	o.State, o.Now, o.Lag = m.o.State, m.o.Now, m.lag
	o.Update = func(ctx context.Context) (*api.Reindexed, error) { return m.reindex(ctx, &how{delta: true}) }
	if m.Private.IsRemote() {
		o.Version = func(ctx context.Context) (int64, error) { return m.Private.Version(ctx, recently) }
		o.Open = func(w watch.Options) (watcher, error) { return poll(m.Private, &w), nil }
		return o
	}
	if o.Watch != nil {
		w := *o.Watch
		w.Tree = watched(m.Private)
		for _, x := range m.corpus.extras {
			if st, err := x.store(true); err == nil { // a later folder is seen at intervals
				w.Also = append(w.Also, watched(st))
			}
		}
		o.Watch = &w
	}
	return o
}

// poll returns a watcher for files that the system can't watch.
func poll(st *markdownstore.Store, w *watch.Options) watcher {
	return watch.Poll(w.Debounce, func(ctx context.Context) (int64, error) { return st.Version(ctx, 0) })
}

// watched returns the tree of a store to watch.
func watched(st *markdownstore.Store) watch.Tree {
	return watch.Tree{Root: st.Dir(), Skip: func(dir string) bool { return !st.Enters(dir) },
		Relevant: func(path string) bool {
			c, ok := st.Classify(path)
			return ok && c.Indexed || st.Includes() && strings.HasSuffix(path, ".gitignore")
		}}
}

// Close ends the background's work, then closes the files.
func (m *Memory) Close() error {
	err := m.endRuns()
	m.Sync.Close()
	errs := []error{err, m.index.close(), m.Private.Close()}
	for _, x := range m.corpus.extras {
		errs = append(errs, x.close())
	}
	return errors.Join(errs...)
}

// Store returns the workspace as a session sees it.
func (m *Memory) Store(private bool) *markdownstore.Store {
	if private {
		return m.Private
	}
	return m.Shared
}

// location returns the time zone of the user's days.
func (m *Memory) location() *time.Location { return cmp.Or(m.o.Store.Timezone, time.Local) }

// placedFile is a file of the workspace that has a place in prompts.
type placedFile struct {
	Path string
	// Type is the page type of the file's class.
	Type markdownstore.PageType
	// Text is the content with its secrets masked. Hash is the SHA-256 of the content, in hex.
	Text, Hash string
	Lines      int
}

// readFile is the content of a file. It is valid while the file's stat stays the same.
type readFile struct {
	size, nanos int64
	placedFile
}

// mtimeGrain is the age from which a modification time is trusted. Within the grain of a clock a
// file can change twice and keep its time.
const mtimeGrain = 2 * time.Second

// File reads a file of the workspace. ok is false if the file does not exist, or is empty.
func (m *Memory) File(private bool, path string) (file placedFile, ok bool, err error) {
	store := m.Store(private)
	f, err := store.Stat(path)
	if err != nil || f.ModTime.IsZero() {
		return placedFile{}, false, err
	}
	m.mu.Lock()
	r, known := m.files[path]
	m.mu.Unlock()
	if known && r.size == f.Size && r.nanos == statOf(f).Nanos() {
		return r.placedFile, true, nil
	}
	l, err := store.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return placedFile{}, false, nil
	}
	if err != nil {
		return placedFile{}, false, err
	}
	text := m.o.Masker.Text(strings.TrimPrefix(l.Text, "\ufeff"))
	sum := sha256.Sum256([]byte(text))
	r = readFile{size: f.Size, nanos: statOf(f).Nanos(), placedFile: placedFile{Path: path, Type: f.PageType, Text: text, Hash: hex.EncodeToString(sum[:]),
		Lines: 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")}}
	if !l.Unsettled && time.Since(f.ModTime) > mtimeGrain {
		m.mu.Lock()
		m.files[path] = r
		m.mu.Unlock()
	}
	return r.placedFile, strings.TrimSpace(text) != "", nil
}

// Remembered returns the file of curated memory.
func (m *Memory) Remembered() string {
	if f, err := m.Private.Stat("MEMORY.md"); err == nil && f.ModTime.IsZero() {
		return "memory.md"
	}
	return "MEMORY.md"
}

// DailyLogs returns the logs of today and yesterday; see [markdownstore.Store.DailyLogs].
func (m *Memory) DailyLogs(private bool, now time.Time) (today, yesterday markdownstore.File) {
	return m.Store(private).DailyLogs(now)
}
