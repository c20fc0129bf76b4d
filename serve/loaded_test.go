package serve

import (
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/markdownstore"
)

// TestLoadedOverRPC: what a caller says that its host shows the model by itself is not
// recalled, in whatever folder; what is no file's name is refused.
func TestLoadedOverRPC(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"CLAUDE.md", "harbour/CLAUDE.md", "notes/door.md"} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("# Harbour\n\nThe barometer of the harbour hangs by the door.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{Include: markdownstore.Everything()}}})
	if err != nil {
		t.Fatal(err)
	}
	s := New(k, nil)
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() { defer close(done); s.ServeStream(theirs, theirs) }()
	t.Cleanup(func() { ours.Close(); s.Stop(context.Background()); <-done; k.Close() })
	c := clientOf(t, ours)
	ask := func(more string) (string, reply) {
		r := c.call("peek", `{"private":true,"model":"claude-sonnet-4-6","context_window":200000,"prompt":"where is the barometer of the harbour?"`+more+`}`)
		raw, err := json.Marshal(r.Result["retrieval"])
		if err != nil {
			t.Fatal(err)
		}
		return string(raw), r
	}
	if all, _ := ask(""); !strings.Contains(all, "CLAUDE.md") {
		t.Fatalf("without it: %s", all)
	}
	if some, _ := ask(`,"loaded":["CLAUDE.md"]`); strings.Contains(some, "CLAUDE.md") || !strings.Contains(some, "notes/door.md") {
		t.Errorf("with it: %s", some)
	}
	for _, bad := range []string{`["../x.md"]`, `["a/CLAUDE.md"]`, `[""]`, `[7]`, `"CLAUDE.md"`} {
		if _, r := ask(`,"loaded":` + bad); r.Error == nil || r.Error.Code != codes["INVALID_PARAMS"] {
			t.Errorf("%s: %+v", bad, r)
		}
	}
}
