package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/serve/tools"
)

// slow is an index that reads its last file only once the gate is open, and shows
// each file that it has read.
type slow struct {
	api.MemoryIndex
	last string
	gate <-chan struct{}
}

func (s slow) Sync(ctx context.Context, files iter.Seq2[index.FileStat, error], read index.Reader, o *index.SyncOptions) (index.SyncReport, error) {
	small := index.SyncOptions{}
	if o != nil {
		small = *o
	}
	small.BatchChunks = 1
	return s.MemoryIndex.Sync(ctx, files, func(path string) ([]index.Chunk, error) {
		if path == s.last {
			select {
			case <-s.gate:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		return read(path)
	}, &small)
}

// slowKernel is over five notes, the last of which is read once the gate is open.
func slowKernel(t *testing.T, gate <-chan struct{}) *kernel.Kernel {
	t.Helper()
	dir := t.TempDir()
	for _, bird := range []string{"auk", "bee-eater", "crane", "dove", "stork"} {
		path := filepath.Join(dir, "memory", bird+".md")
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("# "+bird+"\n\nThe "+bird+" sits on the roof.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := api.SQLite(filepath.Join(dir, kernel.DefaultStateDir, "index.sqlite"))
	file := b.Open
	b.Open = func(ctx context.Context, o *index.Options) (api.MemoryIndex, error) {
		ix, err := file(ctx, o)
		return slow{ix, "memory/stork.md", gate}, err
	}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Backend: b, Sync: kernel.SyncOptions{Wait: time.Millisecond}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// TestIndexingOverDoors: while the index is being made, each door answers a search with
// what there is and how far it is, and names no command to whoever runs none; afterwards
// it has all of it and says no more of it.
func TestIndexingOverDoors(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, k *kernel.Kernel) func(query string) string{
		"rpc": func(t *testing.T, k *kernel.Kernel) func(string) string {
			s := New(k, nil)
			ours, theirs := net.Pipe()
			done := make(chan struct{})
			go func() { defer close(done); s.ServeStream(theirs, theirs) }()
			t.Cleanup(func() { ours.Close(); s.Stop(context.Background()); <-done })
			c := clientOf(t, ours)
			return func(query string) string {
				r := c.call("search", fmt.Sprintf(`{"query":%q}`, query))
				if r.Error != nil {
					t.Fatalf("%+v", r.Error)
				}
				raw, err := json.Marshal(r.Result)
				if err != nil {
					t.Fatal(err)
				}
				return string(raw)
			}
		},
		"mcp": func(t *testing.T, k *kernel.Kernel) func(string) string {
			s, err := tools.NewServer(k, tools.ServerOptions{Tools: tools.Options{}, Version: "test"})
			if err != nil {
				t.Fatal(err)
			}
			here, there := sdk.NewInMemoryTransports()
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan error, 1)
			go func() { ended <- s.Run(ctx, there) }()
			c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, here, nil)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close(); stop(); <-ended })
			return func(query string) string {
				res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: "memory_search", Arguments: map[string]any{"query": query}})
				if err != nil || res.IsError {
					t.Fatalf("%+v, %v", res, err)
				}
				return res.Content[0].(*sdk.TextContent).Text
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			gate := make(chan struct{})
			search := open(t, slowKernel(t, gate))
			type answer struct {
				Reason   string
				Progress *struct{ Files, Total int }
			}
			ask := func(query string) (raw string, a answer) {
				t.Helper()
				raw = search(query)
				if err := json.Unmarshal([]byte(raw), &a); err != nil {
					t.Fatalf("%v: %s", err, raw)
				}
				return raw, a
			}
			raw, a := ask("the crane on the roof")
			for range 2000 { // until what was read before the gate is written, which no signal tells
				if strings.Contains(raw, "memory/crane.md") {
					break
				}
				if a.Reason != "INDEXING" || a.Progress == nil || a.Progress.Total != 5 {
					t.Fatal(raw)
				}
				time.Sleep(5 * time.Millisecond)
				raw, a = ask("the crane on the roof")
			}
			if a.Reason != "INDEXING" || a.Progress == nil || a.Progress.Files < 1 || a.Progress.Files > 4 || a.Progress.Total != 5 ||
				!strings.Contains(raw, "memory/crane.md") || !strings.Contains(raw, fmt.Sprintf("%d of 5 files", a.Progress.Files)) {
				t.Errorf("%s", raw)
			}
			if raw, a := ask("the stork"); a.Reason != "INDEXING" || strings.Contains(raw, "stork.md") {
				t.Errorf("%s", raw)
			}
			for _, word := range []string{"memkernel reindex", "reindex", "`", "memkernel search", "--"} {
				if strings.Contains(raw, word) {
					t.Errorf("a command for the model, %q: %s", word, raw)
				}
			}
			close(gate)
			for range 2000 { // until the rest is written
				if raw, a = ask("the stork"); a.Reason == "OK" {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			if a.Reason != "OK" || a.Progress != nil || !strings.Contains(raw, "memory/stork.md") {
				t.Errorf("%s", raw)
			}
		})
	}
}
