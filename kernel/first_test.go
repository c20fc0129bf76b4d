package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// birds fills a workspace that was never indexed.
func birds(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	put(t, dir, "memory/birds.md", "# Birds\n\nThe heron eats herring.\n")
	put(t, dir, "memory/鳥 と 魚.md", "鷺は魚を食べる。\n")
	put(t, dir, "MEMORY.md", "# Memory\n\n- The harbour is called Ebbe.\n")
	return dir
}

func hit(t *testing.T, res *retrieval.Result, path string) {
	t.Helper()
	if len(res.Hits) == 0 || res.Hits[0].Path != path {
		t.Errorf("no hit in %s: %s, %s, %d hits", path, res.Reason, res.Detail, len(res.Hits))
	}
}

// The first search makes the index, and so does the first plan; where there is nothing to
// find none is made, and nothing else.
func TestTheFirstSearchMakesTheIndex(t *testing.T) {
	for name, c := range map[string]struct{ ask, path string }{"latin": {"what does the heron eat", "memory/birds.md"}, "cjk": {"鷺は何を食べる", "memory/鳥 と 魚.md"}} {
		t.Run(name, func(t *testing.T) {
			dir := birds(t)
			k := openKernel(t, dir)
			res := found(t, k, c.ask)
			hit(t, res, c.path)
			if res.Reason != retrieval.OK || res.Detail != "" || res.Err != nil || res.Progress != nil || res.Behind != nil {
				t.Errorf("%+v", res)
			}
			k.Close() // what it did is written down by then
			k = openKernel(t, dir)
			defer k.Close()
			if st, err := k.Status(context.Background(), nil); err != nil || st.Memory.Index.State != api.IndexOK || st.Memory.Index.Files != 3 || st.Memory.Sync.Last == nil || st.Memory.Sync.Last.Reason != "search" {
				t.Errorf("%v %+v", err, st.Memory)
			}
		})
	}
	t.Run("plan", func(t *testing.T) {
		k := openKernel(t, birds(t))
		defer k.Close()
		c := newConversation(3)
		c.user()
		c.msgs[len(c.msgs)-1].Parts[0] = words("What does the heron eat?")
		if p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Model: "claude-opus-4-5", Messages: c.msgs, Now: c.now}); p.Retrieval.Reason != "OK" || p.Retrieval.Items == 0 {
			t.Errorf("%+v", p.Retrieval)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		dir := t.TempDir()
		put(t, dir, "main.go", "package main\n")
		k := openKernel(t, dir)
		defer k.Close()
		if res := found(t, k, "heron"); res.Reason != retrieval.NoMatch || res.Detail != "there are no files of memory yet" {
			t.Errorf("%+v", res)
		}
		if _, err := os.Stat(filepath.Join(dir, kernel.DefaultStateDir)); err == nil {
			t.Error("a state folder was made for nothing")
		}
		put(t, dir, "memory/birds.md", "The heron eats herring.\n")
		hit(t, found(t, k, "heron"), "memory/birds.md")
	})
}

// wrapped is a backend whose index a test changes.
func wrapped(dir string, open func(api.MemoryIndex, *index.Options) (api.MemoryIndex, error)) api.Backend {
	b := api.SQLite(filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite"))
	file := b.Open
	b.Open = func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
		ix, err := file(ctx, o)
		if err != nil {
			return nil, err
		}
		return open(ix, o)
	}
	return b
}

// gated is an index whose reading waits behind the first file of a name.
type gated struct {
	api.MemoryIndex
	at      string
	reached chan<- bool
	gate    <-chan bool
}

func (g gated) Sync(ctx context.Context, files iter.Seq2[index.FileStat, error], read index.Reader, o *index.SyncOptions) (index.SyncReport, error) {
	small := index.SyncOptions{}
	if o != nil {
		small = *o
	}
	small.BatchChunks = 1
	return g.MemoryIndex.Sync(ctx, files, func(path string) ([]index.Chunk, error) {
		if path == g.at {
			select {
			case g.reached <- true:
			default:
			}
			select {
			case <-g.gate:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return read(path)
	}, &small)
}

// askUntil searches until the index is read up to the gate. A run of the index ends early if the
// index is locked for longer than the wait, and the next search begins another one.
func askUntil(t *testing.T, k *kernel.Kernel, reached <-chan bool) {
	t.Helper()
	for {
		select {
		case <-reached:
			return
		case <-time.After(50 * time.Millisecond):
			found(t, k, "the stork flies")
		}
	}
}

// An index that takes longer than a search waits answers with what there is, says how
// far it is, and is finished in the background; one that waits longer gets all of it.
func TestSlowIndex(t *testing.T) {
	dir := t.TempDir()
	for i := range 9 {
		put(t, dir, fmt.Sprintf("memory/a%d.md", i), fmt.Sprintf("# A%d\n\nThe heron of number %d stands in the reeds.\n", i, i))
	}
	put(t, dir, "memory/b.md", "The owl sleeps.\n")
	put(t, dir, "memory/c.md", "The stork flies.\n")
	reached, gate := make(chan bool, 1), make(chan bool)
	k := withEmbedder(t, dir, kernel.MemoryOptions{Sync: kernel.SyncOptions{Wait: time.Millisecond},
		Backend: wrapped(dir, func(ix api.MemoryIndex, o *index.Options) (api.MemoryIndex, error) {
			return gated{ix, "memory/c.md", reached, gate}, nil
		})})
	res := found(t, k, "the stork flies") // begins it
	if res.Reason != retrieval.Indexing || res.Progress == nil || res.Progress.Total != 11 || res.Progress.Files == 11 || res.Err != nil {
		t.Fatalf("%+v, %+v", res, res.Progress)
	}
	askUntil(t, k, reached)
	for range 1000 { // until what was read before the gate is written, which no signal tells
		if res = found(t, k, "heron number 3"); len(res.Hits) > 0 {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if res.Reason != retrieval.Indexing || len(res.Hits) == 0 || !strings.Contains(res.Detail, fmt.Sprintf("%d of 11 files", res.Progress.Files)) {
		t.Errorf("%+v, %+v", res, res.Progress)
	}
	close(gate)
	told := 0
	all, err := k.Search(context.Background(), api.SearchRequest{Query: "the stork flies", Wait: -1, Progress: func(api.ReindexProgress) { told++ }})
	if err != nil {
		t.Fatal(err)
	}
	hit(t, all, "memory/c.md")
	if all.Reason != retrieval.OK || all.Progress != nil {
		t.Errorf("%+v", all)
	}
}

// A process that ends before the index is made leaves what it has, and the next goes on;
// Close waits for nothing but the write that is under way.
func TestIndexingGoesOnInTheNextProcess(t *testing.T) {
	dir := birds(t)
	reached, gate := make(chan bool, 1), make(chan bool)
	slow := withEmbedder(t, dir, kernel.MemoryOptions{Sync: kernel.SyncOptions{Wait: time.Millisecond},
		Backend: wrapped(dir, func(ix api.MemoryIndex, o *index.Options) (api.MemoryIndex, error) {
			return gated{ix, "memory/birds.md", reached, gate}, nil
		})})
	if res := found(t, slow, "heron"); res.Reason != retrieval.Indexing {
		t.Errorf("%+v", res)
	}
	askUntil(t, slow, reached)
	if err := slow.Close(); err != nil {
		t.Fatal(err)
	}
	k := openKernel(t, dir)
	defer k.Close()
	hit(t, found(t, k, "heron"), "memory/birds.md")
}

// busyOnce is an index that can't tell how far it lags the first time that it is asked.
type busyOnce struct {
	api.MemoryIndex
	asked *atomic.Int32
}

func (b busyOnce) Lag(ctx context.Context, files iter.Seq2[index.FileStat, error]) (index.Lag, error) {
	if b.asked.Add(1) == 1 {
		return index.Lag{}, &index.Error{Op: "read index", Path: "index.sqlite", Kind: index.ErrBusy}
	}
	return b.MemoryIndex.Lag(ctx, files)
}

// An index that can't tell what it lacks is brought up to date, and not believed.
func TestLagThatCannotBeRead(t *testing.T) {
	dir := birds(t)
	reindexed(t, dir, nil)
	put(t, dir, "memory/new.md", "The stork flies.\n")
	asked := &atomic.Int32{}
	k := withEmbedder(t, dir, kernel.MemoryOptions{Backend: wrapped(dir, func(ix api.MemoryIndex, o *index.Options) (api.MemoryIndex, error) {
		return busyOnce{ix, asked}, nil
	})})
	hit(t, found(t, k, "stork"), "memory/new.md")
	if asked.Load() < 2 {
		t.Error("the index was not asked again")
	}
}

// Where no index can be written the files are searched themselves, as they are now, and
// the answer says why; an index of before is not believed.
func TestNoIndexCanBeKept(t *testing.T) {
	refuse := func(string) error {
		return &index.Error{Op: "open index", Path: "index.sqlite", Kind: index.ErrReadOnly, Hint: "make the folder writable, or run something"}
	}
	for name, indexed := range map[string]bool{"never indexed": false, "indexed before": true} {
		t.Run(name, func(t *testing.T) {
			dir := birds(t)
			if indexed {
				reindexed(t, dir, nil)
			}
			b := api.SQLite(filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite"))
			file := b.Open
			b.Open = func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
				if !o.ReadOnly {
					return nil, refuse("")
				}
				return file(ctx, o)
			}
			k := withEmbedder(t, dir, kernel.MemoryOptions{Backend: b})
			if indexed {
				if res := found(t, k, "heron"); res.Err != nil || res.Detail != "" {
					t.Errorf("nothing has changed: %+v", res)
				}
			}
			put(t, dir, "memory/new.md", "The stork flies.\n")
			for range 2 {
				res := found(t, k, "stork")
				hit(t, res, "memory/new.md")
				if res.Reason != retrieval.OK || !errors.Is(res.Err, index.ErrReadOnly) || !strings.Contains(res.Detail, "no index can be kept") || strings.Contains(res.Detail, "run something") {
					t.Errorf("%+v", res)
				}
			}
			if res := found(t, k, "walrus"); res.Reason != retrieval.NoMatch {
				t.Errorf("%+v", res)
			}
			k.Close()
		})
	}
	t.Run("too many", func(t *testing.T) {
		dir := birds(t)
		put(t, dir, "memory/large.md", strings.Repeat("The walrus. ", 800_000))
		b := api.SQLite(filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite"))
		b.Open = func(context.Context, *index.Options) (api.MemoryIndex, error) { return nil, refuse("") }
		k := withEmbedder(t, dir, kernel.MemoryOptions{Backend: b})
		if res := found(t, k, "heron"); res.Reason != retrieval.BackendError || len(res.Hits) > 0 {
			t.Errorf("%+v", res)
		}
	})
}

// A folder in which nothing may be made.
func TestReadOnlyWorkspace(t *testing.T) {
	dir := birds(t)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if os.Mkdir(filepath.Join(dir, "x"), 0o700) == nil {
		t.Skip("this user may write everywhere")
	}
	k := openKernel(t, dir)
	defer k.Close()
	res := found(t, k, "heron")
	hit(t, res, "memory/birds.md")
	if !errors.Is(res.Err, fs.ErrPermission) && !errors.Is(res.Err, index.ErrReadOnly) {
		t.Errorf("%v", res.Err)
	}
}

// However many ask at once, in however many processes, all find.
func TestManyAskFirst(t *testing.T) {
	dir := birds(t)
	var wg sync.WaitGroup
	for range 3 {
		k := openKernel(t, dir)
		defer k.Close()
		for range 4 {
			wg.Go(func() {
				res, err := k.Search(context.Background(), api.SearchRequest{Query: "heron", Wait: time.Minute})
				if err != nil || len(res.Hits) == 0 {
					t.Errorf("%v %+v", err, res)
				}
			})
		}
	}
	wg.Wait()
}

// What was written is found by the next search: through the same kernel, by another
// process, by hand; what is gone is not.
func TestWrittenIsFoundAtOnce(t *testing.T) {
	dir := birds(t)
	k := openKernel(t, dir)
	defer k.Close()
	found(t, k, "heron")
	ctx := context.Background()
	for i, text := range []string{"The stork flies.", "鶴は千年。", "The owl is awake."} {
		if _, err := k.Remember(ctx, api.RememberRequest{Text: text, Private: true}); err != nil {
			t.Fatal(err)
		}
		if res := found(t, k, text); len(res.Hits) == 0 || res.Reason != retrieval.OK || !strings.Contains(res.Hits[0].Text, text) {
			t.Errorf("%d: %+v", i, res)
		}
	}
	other := openKernel(t, dir)
	defer other.Close()
	found(t, other, "heron") // it looks, and believes for a while what it saw
	if _, err := k.Remember(ctx, api.RememberRequest{Text: "The bittern booms.", Private: true}); err != nil {
		t.Fatal(err)
	}
	if res := found(t, other, "bittern"); len(res.Hits) == 0 {
		t.Errorf("another's: %+v", res)
	}
	put(t, dir, "memory/hand.md", "The kite hovers.\n")
	hit(t, found(t, k, "kite"), "memory/hand.md")
	if err := os.Remove(filepath.Join(dir, "memory/birds.md")); err != nil {
		t.Fatal(err)
	}
	third := openKernel(t, dir)
	defer third.Close()
	if res := found(t, third, "herring"); len(res.Hits) != 0 || res.Reason != retrieval.NoMatch {
		t.Errorf("what is gone: %+v", res)
	}
}

// The search that finds an index damaged has it made anew.
func TestASearchMendsTheIndex(t *testing.T) {
	dir := t.TempDir()
	path, good := whole(t, dir)
	for at := 0; at < len(good); at += max(1, len(good)/6) {
		bad := append([]byte{}, good...)
		for i := at; i < min(at+5000, len(bad)); i++ {
			bad[i] = 0x5a
		}
		for _, end := range []string{"-wal", "-shm"} {
			os.Remove(path + end)
		}
		writeBytes(t, path, bad)
		k := openKernel(t, dir)
		if res := found(t, k, "heron of number 7"); len(res.Hits) == 0 || res.Reason != retrieval.OK {
			t.Errorf("at %d: %s %s %v", at, res.Reason, res.Detail, res.Err)
		}
		k.Close()
	}
}

// Nothing is sent to a provider elsewhere before somebody asked for vectors: neither
// files nor questions.
func TestFirstSearchSendsNothing(t *testing.T) {
	far := &counting{name: "far"}
	dir := birds(t)
	runs := make(chan api.SyncRun, 10)
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: far, Sync: kernel.SyncOptions{OnSearch: true, Report: func(r api.SyncRun) { runs <- r }}})
	res := found(t, k, "heron")
	hit(t, res, "memory/birds.md")
	if res.Mode != retrieval.Keyword || !strings.Contains(res.Detail, "there are no vectors yet") {
		t.Errorf("%+v", res)
	}
	<-runs      // of the search
	r := <-runs // in the background
	if far.asked+far.documents > 0 || !strings.Contains(r.Error, "somebody asks for") {
		t.Errorf("%+v, %+v", far, r)
	}
	reindex(t, k)
	if res := found(t, k, "heron"); far.documents == 0 || far.asked == 0 || res.Mode != retrieval.Hybrid {
		t.Errorf("once they are there: %+v, %+v", far, res)
	}
}

// Who may not see a part of memory is told which, whether or not it would answer, and
// never that memory holds nothing.
func TestWithheld(t *testing.T) {
	dir := birds(t)
	k := withEmbedder(t, dir, kernel.MemoryOptions{Sessions: kernel.PastOptions{Enabled: true}})
	if w := k.Hooks().Withheld(false); len(w) != 1 {
		t.Errorf("there is no past session yet: %+v", w)
	}
	before := newConversation(5)
	before.user()
	before.say()
	observe(t, k, api.Turn{SessionKey: "before", Messages: before.msgs, Now: before.now})
	names := func(of []retrieval.Withheld) string {
		var out []string
		for _, w := range of {
			if w.Reason == "" || (w.Path == "") == (w.Class == "") {
				t.Errorf("%+v", w)
			}
			out = append(out, w.Path+w.Class)
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		query, source string
		private       bool
		want          string
	}{
		{"heron", "", false, "MEMORY.md sessions"},
		{"Ebbe harbour", "", false, "MEMORY.md sessions"},
		{"walrus", "", false, "MEMORY.md sessions"},
		{"walrus", api.SourceMemory, false, "MEMORY.md"},
		{"walrus", api.SourceSessions, false, "sessions"},
		{"Ebbe harbour", "", true, ""},
	} {
		res, err := k.Search(context.Background(), api.SearchRequest{Query: c.query, Source: c.source, Private: c.private})
		if err != nil || names(res.Withheld) != c.want {
			t.Errorf("%+v: %v %+v", c, err, res.Withheld)
		}
		if len(res.Hits) == 0 && (!strings.Contains(res.Detail, "this session") || strings.HasPrefix(res.Detail, "nothing")) {
			t.Errorf("%+v: %s", c, res.Detail)
		}
	}
	put(t, dir, "USER.md", "# User\n\nMika.\n")
	c := newConversation(4)
	c.user()
	p := mustPlan(t, k, api.PlanRequest{SessionKey: "s", Model: "claude-opus-4-5", Messages: c.msgs, Now: c.now})
	if names(p.Retrieval.Withheld) != "MEMORY.md USER.md sessions" {
		t.Errorf("%+v", p.Retrieval)
	}
	if p := mustPlan(t, k, private(c)); p.Retrieval.Withheld != nil {
		t.Errorf("%+v", p.Retrieval)
	}
}
