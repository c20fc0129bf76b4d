package memory

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/pagevm/mask"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/sessions"
)

func put(t *testing.T, dir, path, text string) {
	t.Helper()
	path = filepath.Join(dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// note writes a file of which it is sure that it was not written while it is read:
// such a file is read again.
func note(t *testing.T, dir, path, text string) {
	t.Helper()
	put(t, dir, path, text)
	at := time.Date(2026, 10, 1, 9, 0, 0, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, filepath.FromSlash(path)), at, at); err != nil {
		t.Fatal(err)
	}
}

// workspace is one with a few files, at rest.
func workspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	note(t, dir, "AGENTS.md", "# Rules\n\nNever push to main.\n")
	note(t, dir, "MEMORY.md", "# Memory\n\n- The staging cluster is called heron.\n")
	note(t, dir, "memory/queue.md", "# Queue\n\nA worker retries a job five times, then parks it.\n")
	return dir
}

// sqlite keeps an index in a file.
func sqlite(path string) api.Backend {
	some := func(ix *index.Index, err error) (api.MemoryIndex, error) {
		if err != nil {
			return nil, err
		}
		return ix, nil
	}
	return api.Backend{Place: path,
		Open: func(_ context.Context, o *index.Options) (api.MemoryIndex, error) { return some(index.Open(path, o)) },
		Rebuild: func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
			return some(index.Rebuild(ctx, path, o))
		}}
}

// opens opens the memory of a workspace, changed as a test wants it.
func opens(t *testing.T, dir string, change func(*Options)) *Memory {
	t.Helper()
	folder := filepath.Join(dir, ".state")
	state := store.Files(folder)
	masker, err := mask.NewMasker(mask.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{State: state, Masker: masker, Now: time.Now, Backend: sqlite(filepath.Join(folder, "index.sqlite")),
		Prepare:  func() error { return os.MkdirAll(folder, 0o700) },
		Sessions: SessionOptions{}}
	if change != nil {
		change(&o)
	}
	m, err := Open(context.Background(), dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

func reindexed(t *testing.T, m *Memory) *api.Reindexed {
	t.Helper()
	r, err := m.Reindex(context.Background(), &api.ReindexOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func paths(res retrieval.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Path)
	}
	return out
}

// Who asks sees what is theirs: shared sessions no private file, agents no other's past,
// a session not its own documents.
func TestScopes(t *testing.T) {
	dir, from := workspace(t), t.TempDir()
	own := func(ctx context.Context, yield func(sessions.Conversation) bool, failed func(string, error)) {
		for key, says := range map[string]string{"agent:main:one": "The heron stands in the reeds.", "agent:lee:two": "The heron flew to the weir.", "three": "The heron slept."} {
			read := func(_ context.Context, _ *sessions.Conversation, _ sessions.Position, turn func(sessions.Turn) error) (sessions.Position, error) {
				return sessions.Position{Line: 1, Offset: 10, Dialect: "test"}, turn(sessions.Turn{Line: 1, Role: "user", Text: says, Time: time.Date(2026, 10, 5, 9, 0, 0, 0, time.UTC)})
			}
			name := strings.ReplaceAll(key, ":", "_")
			put(t, from, name, strings.Repeat("x", 10))
			if !yield(sessions.Conversation{Key: key, Name: name, Path: filepath.Join(from, name), Size: 10, Read: read}) {
				return
			}
		}
	}
	m := opens(t, dir, func(o *Options) {
		o.Sessions.Enabled, o.Sessions.Own = true, own
	})
	if r := reindexed(t, m); r.Sessions.Turns != 3 || len(r.Skipped) != 0 {
		t.Fatalf("%+v", r)
	}
	for _, c := range []struct {
		name                   string
		private                bool
		agent, session, source string
		want                   []string // of each path the beginning
	}{
		{"shared", false, "", "", "", nil},
		{"private", true, "", "", "", []string{"MEMORY.md", "sessions/main/", "sessions/main/"}},
		{"files", true, "", "", api.SourceMemory, []string{"MEMORY.md"}},
		{"past", true, "", "", api.SourceSessions, []string{"sessions/main/", "sessions/main/"}},
		{"the one that asks", true, "", "three", api.SourceSessions, []string{"sessions/main/agent_main_one"}},
		{"another agent's session", true, "", "agent:lee:four", api.SourceSessions, []string{"sessions/lee/"}},
		{"another agent", true, "lee", "three", "", []string{"MEMORY.md", "sessions/lee/"}},
		{"nobody", true, "max", "", api.SourceSessions, nil},
	} {
		res := m.Search(context.Background(), m.Scope(c.private, c.agent, c.session, c.source), retrieval.Query{Text: "heron", Now: time.Now()}, Patience{})
		got := paths(res)
		slices.Sort(got)
		if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q (%s %s)", c.name, got, c.want, res.Reason, res.Detail)
		}
		for _, h := range res.Hits {
			want := api.SourceMemory
			if IsPast(h.Path) {
				want = api.SourceSessions
			}
			if h.Source != want {
				t.Errorf("%s is of %s", h.Path, h.Source)
			}
			if _, err := m.Document(m.Scope(c.private, c.agent, c.session, ""), h.Path, 0, 0); IsPast(h.Path) && err != nil {
				t.Errorf("%s: %s was found and can't be read: %v", c.name, h.Path, err)
			}
		}
	}
	if res := m.Search(context.Background(), m.Scope(false, "", "", api.SourceSessions), retrieval.Query{Text: "heron"}, Patience{}); res.Reason != retrieval.Denied {
		t.Errorf("a shared session that asks for the past: %s", res.Reason)
	}
	res := m.Search(context.Background(), m.Scope(true, "lee", "", api.SourceSessions), retrieval.Query{Text: "heron"}, Patience{})
	var denied *markdownstore.DeniedError
	if _, err := m.Document(m.Scope(true, "main", "", ""), res.Hits[0].Path, 0, 0); !errors.As(err, &denied) || denied.Reason != markdownstore.DenyAgent {
		t.Errorf("another's document: %v", err)
	}
}

// A file is read once while it stays as it is, its secrets masked; what is blank is none.
func TestFile(t *testing.T) {
	dir := workspace(t)
	m := opens(t, dir, nil)
	note(t, dir, "USER.md", "\ufeff# User\n\ntoken ghp_0123456789abcdefghijABCDEFGHIJ012345\n")
	f, ok, err := m.File(true, "USER.md")
	if err != nil || !ok || strings.Contains(f.Text, "ghp_") || !strings.HasPrefix(f.Text, "# User") || f.Lines != 3 || len(f.Hash) != 64 {
		t.Errorf("%v %v %+v", ok, err, f)
	}
	put(t, dir, "USER.md", "Kim.\n")
	if g, ok, err := m.File(true, "USER.md"); err != nil || !ok || g.Text != "Kim.\n" || g.Hash == f.Hash {
		t.Errorf("changed: %v %v %+v", ok, err, g)
	}
	var denied *markdownstore.DeniedError
	if _, _, err := m.File(false, "USER.md"); !errors.As(err, &denied) {
		t.Errorf("shared: %v", err)
	}
	for _, path := range []string{"SOUL.md", "memory/none.md"} {
		if _, ok, err := m.File(true, path); ok || err != nil {
			t.Errorf("%s: %v %v", path, ok, err)
		}
	}
	put(t, dir, "SOUL.md", " \n\n")
	if _, ok, err := m.File(true, "SOUL.md"); ok || err != nil {
		t.Errorf("blank: %v %v", ok, err)
	}
	if got := m.Remembered(); got != "MEMORY.md" {
		t.Error(got)
	}
	if err := os.Remove(filepath.Join(dir, "MEMORY.md")); err != nil {
		t.Fatal(err)
	}
	if got := m.Remembered(); got != "memory.md" {
		t.Error(got)
	}
}

// A backend that can't be opened is left alone by searches for as long as it says.
func TestLeftAlone(t *testing.T) {
	tries := 0
	m := opens(t, workspace(t), func(o *Options) {
		o.Backend.LeaveAlone = time.Hour
		o.Backend.Open = func(context.Context, *index.Options) (api.MemoryIndex, error) {
			tries++
			return nil, errors.New("nobody answers")
		}
	})
	for range 3 {
		res := m.Search(context.Background(), m.Scope(true, "", "", ""), retrieval.Query{Text: "heron"}, Patience{})
		if res.Reason != retrieval.BackendError || !strings.Contains(res.Detail, "nobody answers") {
			t.Fatalf("%+v", res)
		}
	}
	if tries != 1 {
		t.Errorf("%d tries", tries)
	}
}

// damaged is an index that says so the first time that it is written.
type damaged struct {
	api.MemoryIndex
	said *bool
}

func (d damaged) Sync(ctx context.Context, source iter.Seq2[index.FileStat, error], read index.Reader, o *index.SyncOptions) (index.SyncReport, error) {
	if !*d.said {
		*d.said = true
		return index.SyncReport{}, &index.Error{Kind: index.ErrDamaged, Err: errors.New("a page is gone")}
	}
	return d.MemoryIndex.Sync(ctx, source, read, o)
}

// Damage that shows only while an index is written has that index made anew.
func TestReindexDamaged(t *testing.T) {
	rebuilt := 0
	m := opens(t, workspace(t), func(o *Options) {
		var said bool
		open, again := o.Backend.Open, o.Backend.Rebuild
		o.Backend.Open = func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
			ix, err := open(ctx, o)
			if err != nil {
				return nil, err
			}
			return damaged{ix, &said}, nil
		}
		o.Backend.Rebuild = func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
			rebuilt++
			return again(ctx, o)
		}
	})
	if r := reindexed(t, m); r.Stats.Files != 2 || rebuilt != 1 {
		t.Errorf("made anew %d times: %+v", rebuilt, r)
	}
}

// An audit says what is wrong and leaves nothing beside the index, also where it has a log.
func TestAudit(t *testing.T) {
	dir := workspace(t)
	m := opens(t, dir, nil)
	path := m.o.Backend.Place
	if _, _, err := m.Audit(context.Background(), path); !errors.Is(err, index.ErrMissing) {
		t.Fatalf("without an index: %v", err)
	}
	reindexed(t, m)
	entries := func() (out []string) {
		all, err := os.ReadDir(filepath.Dir(path))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			out = append(out, e.Name())
		}
		return out
	}
	before := entries()
	if found, skipped, err := m.Audit(context.Background(), path); err != nil || skipped != "" || len(found) != 0 {
		t.Errorf("%v %v", found, err)
	}
	if got := entries(); !slices.Equal(got, before) {
		t.Errorf("left %q, were %q", got, before)
	}
	// A reader keeps the log where it is.
	if res := m.Search(context.Background(), m.Scope(true, "", "", ""), retrieval.Query{Text: "heron"}, Patience{}); len(res.Hits) == 0 {
		t.Fatalf("%+v", res)
	}
	note(t, dir, "memory/birds.md", "The stork eats frogs.\n")
	reindexed(t, m)
	if fi, err := os.Stat(path + "-wal"); err != nil || fi.Size() == 0 {
		t.Fatalf("there is no log: %v", err)
	}
	if found, skipped, err := m.Audit(context.Background(), path); err != nil || skipped != "" || len(found) != 0 {
		t.Errorf("with a log: %v %v", found, err)
	}
	if err := os.WriteFile(path, []byte("dear diary"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, _, err := m.Audit(context.Background(), path)
	if err != nil {
		found = append(found, err)
	}
	if len(found) == 0 {
		t.Error("a text has nothing wrong")
	}
	for _, f := range found {
		if strings.Contains(f.Error(), "memkernel-audit-") || !strings.Contains(f.Error(), path) {
			t.Errorf("it names the copy: %v", f)
		}
	}
}

// A file that was rewritten with its old size and time is read again, by searches and by readers
// of the file.
func TestRewrittenAtEqualSizeAndTime(t *testing.T) {
	dir := t.TempDir()
	note(t, dir, "MEMORY.md", "The port of the database is 5432.\n")
	if fi, err := os.Stat(filepath.Join(dir, "MEMORY.md")); err != nil || markdownstore.Changed(fi) == 0 {
		t.Skip("this system does not say when a file changed: ", err)
	}
	m := opens(t, dir, nil)
	for i, text := range []string{"The port of the database is 5432.\n", "The port of the database is 6543.\n", "The port of the database is 7654.\n"} {
		note(t, dir, "MEMORY.md", text)
		res := opens(t, dir, nil).Search(context.Background(), scope{Private: true}, retrieval.Query{Text: "database port", Passages: true}, Patience{Asked: true, Wait: -1})
		if len(res.Hits) != 1 || res.Hits[0].Text != strings.TrimSpace(text) {
			t.Errorf("%d: a search finds %+v", i, res.Hits)
		}
		if f, _, err := m.File(true, "MEMORY.md"); err != nil || f.Text != text {
			t.Errorf("%d: the file is %q, %v", i, f.Text, err)
		}
		time.Sleep(20 * time.Millisecond) // the clock of files has a grain
	}
}
