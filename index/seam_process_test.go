package index_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

const reindexerEnv = "INDEX_TEST_REINDEXER"

// TestReindexerProcess is the other process of TestReindexWhileAppending.
func TestReindexerProcess(t *testing.T) {
	dir, path, ok := strings.Cut(os.Getenv(reindexerEnv), "|")
	if !ok {
		t.Skip("runs as a child only")
	}
	s, ix := openStore(t, dir), openIndex(t, path)
	for range 15 {
		r, err := ix.Sync(bg, list(s), reader(s), &index.SyncOptions{Wait: time.Minute, BatchChunks: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Failed {
			if !strings.Contains(f.Error(), "being written") {
				t.Error(f)
			}
		}
	}
}

// Two processes reindex while this one appends: in the end every entry is found
// once, and one sync more finds nothing wrong.
func TestReindexWhileAppending(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("memory/topic%02d.md", i)] = fmt.Sprintf("# Topic %d\n\n- walrus pod%d\n", i, i)
	}
	dir := folder(t, files)
	path := filepath.Join(t.TempDir(), "index.sqlite")
	s := openStore(t, dir)
	wait := make(chan error, 2)
	for range cap(wait) {
		cmd := exec.Command(os.Args[0], "-test.run=^TestReindexerProcess$")
		cmd.Env = append(os.Environ(), reindexerEnv+"="+dir+"|"+path)
		go func() {
			out, err := cmd.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w\n%s", err, out)
			}
			wait <- err
		}()
	}
	const entries = 30
	for i := range entries {
		if _, err := s.Append(bg, fmt.Sprintf("memory/topic%02d.md", i%7), fmt.Sprintf("e%d", i), fmt.Sprintf("- narwhal%d was here", i)); err != nil {
			t.Error(err)
		}
	}
	for range cap(wait) {
		if err := <-wait; err != nil {
			t.Error(err)
		}
	}
	ix := openIndex(t, path)
	if r := reindex(t, s, ix); r.Files != len(files) || len(r.Failed) > 0 {
		t.Errorf("%+v", r)
	}
	for i := range entries {
		if got := find(t, s, ix, fmt.Sprintf("narwhal%d", i)); len(got) != 1 {
			t.Errorf("entry %d is found at %v", i, places(got))
		}
	}
}
