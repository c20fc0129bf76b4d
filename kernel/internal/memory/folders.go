package memory

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
)

// extra is an additional folder. It is opened when it is first needed, because it may be created
// later.
type extra struct {
	api.MemoryFolder
	opts markdownstore.Options
	// inside is the folder's path in the workspace, with a final slash. It is "" if the folder is
	// outside the workspace.
	inside string

	mu              sync.Mutex // guards the fields below
	private, shared *markdownstore.Store
}

// newExtras returns the additional folders of the workspace's settings.
func newExtras(all []api.MemoryFolder, workspace string, o markdownstore.Options) []*extra {
	var out []*extra
	o.Include, o.Settle, o.Own, o.Private, o.PrivateNotes = markdownstore.Everything(), nil, "", true, false
	for _, f := range all {
		x := &extra{MemoryFolder: f, opts: o}
		x.opts.Shown = f.Shown
		if dir, err := filepath.Abs(f.Path); err == nil {
			if rel, err := filepath.Rel(workspace, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
				x.inside = filepath.ToSlash(rel) + "/"
			}
		}
		out = append(out, x)
	}
	return out
}

// holds reports whether a file of the workspace is in the folder.
func (x *extra) holds(path string) bool { return x.inside != "" && strings.HasPrefix(path, x.inside) }

func (x *extra) prefix() string { return x.Name + ":" }

// store opens the folder as a private or a shared session sees it.
func (x *extra) store(private bool) (*markdownstore.Store, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.private == nil {
		st, err := markdownstore.Open(x.Path, &x.opts)
		if err != nil {
			return nil, err
		}
		x.private, x.shared = st, st.Shared()
	}
	if private {
		return x.private, nil
	}
	return x.shared, nil
}

func (x *extra) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.private == nil {
		return nil
	}
	return x.private.Close()
}

// list lists the folder's files by their names in the index.
func (x *extra) list(ctx context.Context, skipped func(api.SkippedFile)) iter.Seq2[index.FileStat, error] {
	return func(yield func(index.FileStat, error) bool) {
		st, err := x.store(true)
		if errors.Is(err, fs.ErrNotExist) {
			skip(skipped, x.prefix(), "there is no folder "+x.Path)
			return
		}
		if err != nil {
			yield(index.FileStat{Path: x.prefix()}, err)
			return
		}
		listMarkdown(ctx, st, x.prefix(), skipped)(yield)
	}
}

// folderOf returns the additional folder with which a path begins, and the rest of the path. It
// returns nil for a path in the workspace.
func (c *corpus) folderOf(path string) (x *extra, rest string) {
	for _, x := range c.extras {
		if rest, ok := strings.CutPrefix(path, x.prefix()); ok {
			return x, rest
		}
	}
	return nil, path
}

// storeOf returns the store that holds a file, as a session may see it, and the file's path
// there.
func (c *corpus) storeOf(path string, private bool) (*markdownstore.Store, string, error) {
	if x, rest := c.folderOf(path); x != nil {
		if x.Host != "" && !private {
			return nil, rest, &markdownstore.DeniedError{Path: path, Reason: markdownstore.DenyPrivate}
		}
		st, err := x.store(private)
		return st, rest, err
	}
	if private {
		return c.store, path, nil
	}
	return c.shared, path, nil
}

// classify returns the class of a file by its name in the index, as a session may see it.
func (c *corpus) classify(path string, private bool) (markdownstore.Class, bool) {
	st, rest, err := c.storeOf(path, private)
	if err != nil {
		return markdownstore.Class{}, false
	}
	return st.Classify(rest)
}

// Read returns lines of a file of the workspace or of an additional folder.
func (m *Memory) Read(private bool, path string, from, lines int) (markdownstore.Content, error) {
	st, rest, err := m.corpus.storeOf(path, private)
	if errors.Is(err, fs.ErrNotExist) {
		return markdownstore.Content{Path: path, Reason: markdownstore.ReasonNoMatch, Detail: "the folder is not there"}, nil
	}
	if err != nil {
		return markdownstore.Content{}, err
	}
	c, err := st.Read(rest, from, lines)
	if denied := (*markdownstore.DeniedError)(nil); errors.As(err, &denied) {
		return c, &markdownstore.DeniedError{Path: path, Reason: denied.Reason, Left: denied.Left}
	}
	c.Path = strings.TrimSuffix(path, rest) + c.Path
	return c, err
}

// Stores yields the workspace and the additional folders that exist. The key is the prefix of the
// names that their files have in the index.
func (m *Memory) Stores() iter.Seq2[string, *markdownstore.Store] {
	return func(yield func(string, *markdownstore.Store) bool) {
		more := yield("", m.Private)
		for _, x := range m.corpus.extras {
			if st, err := x.store(true); more && err == nil {
				more = yield(x.prefix(), st)
			}
		}
	}
}

// collection is the name of the collection of the workspace's own files.
const collection = "workspace"

// inCollection reports whether a path belongs to a collection, which is a named folder or the
// workspace.
func (c *corpus) inCollection(name, path string) bool {
	x, _ := c.folderOf(path)
	if x == nil {
		return name == collection
	}
	return strings.EqualFold(x.Name, name)
}

// Collections returns the names of the searched collections.
func (m *Memory) Collections() []string {
	out := []string{collection}
	for _, x := range m.corpus.extras {
		out = append(out, x.Name)
	}
	return out
}
