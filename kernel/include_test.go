package kernel_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
)

func putAll(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func pathsOf(res *retrieval.Result) []string {
	out := []string{}
	for _, h := range res.Hits {
		out = append(out, h.Path)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestFoldersBesideTheWorkspace: they are found and read under their names, private where
// the workspace's files of that name are, followed, never written to, and gone with their
// place in the options.
func TestFoldersBesideTheWorkspace(t *testing.T) {
	ctx := context.Background()
	dir := putAll(t, t.TempDir(), map[string]string{"MEMORY.md": "marmots in the workspace\n", "docs/a.md": "marmots in the docs\n", "notes:b.md": "marmots that look like notes\n"})
	notes := putAll(t, t.TempDir(), map[string]string{"sub/ops.md": "# Ops\n\nmarmots of the notes\n", "MEMORY.md": "marmots of an index\n", "memory/2020-01-01.md": "marmots of a day\n", "node_modules/x.md": "marmots\n"})
	o := kernel.MemoryOptions{Store: markdownstore.Options{Include: []string{"**/*.md"}}, Folders: []api.MemoryFolder{{Name: "notes", Path: notes}, {Name: "gone", Path: filepath.Join(dir, "no", "such")}}}
	open := func(o kernel.MemoryOptions) *kernel.Kernel {
		t.Helper()
		k, err := kernel.Open(ctx, dir, &kernel.Options{Memory: o})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	k := open(o)
	r, err := k.Reindex(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, s := range r.Skipped {
		told = append(told, s.Path)
	}
	if !slices.Contains(told, "gone:") || !slices.Contains(told, "notes:b.md") {
		t.Errorf("skipped: %+v", r.Skipped)
	}
	search := func(k *kernel.Kernel, req api.SearchRequest) []string {
		t.Helper()
		req.Query = "marmots"
		res, err := k.Search(ctx, req)
		if err != nil {
			t.Fatal(err)
		}
		return pathsOf(res)
	}
	for name, tt := range map[string]struct {
		req  api.SearchRequest
		want []string
	}{
		"all":       {api.SearchRequest{Private: true}, []string{"MEMORY.md", "docs/a.md", "notes:MEMORY.md", "notes:memory/2020-01-01.md", "notes:sub/ops.md"}},
		"shared":    {api.SearchRequest{}, []string{"docs/a.md", "notes:memory/2020-01-01.md", "notes:sub/ops.md"}},
		"folder":    {api.SearchRequest{Private: true, Collection: "Notes"}, []string{"notes:MEMORY.md", "notes:memory/2020-01-01.md", "notes:sub/ops.md"}},
		"workspace": {api.SearchRequest{Private: true, Collection: "workspace"}, []string{"MEMORY.md", "docs/a.md"}},
	} {
		if got := search(k, tt.req); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if c, err := k.Read(ctx, api.ReadRequest{Path: "notes:sub/ops.md", From: 3}); err != nil || c.Text != "marmots of the notes\n" || c.Path != "notes:sub/ops.md" {
		t.Errorf("%+v, %v", c, err)
	}
	for _, p := range []string{"notes:MEMORY.md", "notes:../x.md", "notes:node_modules/x.md", "notes:/etc/passwd", "notes:"} {
		if c, err := k.Read(ctx, api.ReadRequest{Path: p}); err == nil {
			t.Errorf("%s is read: %+v", p, c)
		}
	}
	if _, err := k.Remember(ctx, api.RememberRequest{Path: "notes:sub/ops.md", Text: "more", Private: true}); err == nil {
		t.Error("a folder beside the workspace is written to")
	}
	putAll(t, notes, map[string]string{"new.md": "marmots later\n"})
	if _, err := k.Reindex(ctx, nil); err != nil || !slices.Contains(search(k, api.SearchRequest{}), "notes:new.md") {
		t.Errorf("a new file is not found: %v", err)
	}
	within := o
	within.Folders = []api.MemoryFolder{{Name: "papers", Path: filepath.Join(dir, "docs")}}
	twice := open(within)
	if _, err := twice.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	if got := search(twice, api.SearchRequest{}); !slices.Equal(got, []string{"notes:b.md", "papers:a.md"}) {
		t.Errorf("a folder of the workspace is found as %q", got)
	}
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	less := open(kernel.MemoryOptions{Store: markdownstore.Options{Include: []string{}}})
	if r, err := less.Reindex(ctx, nil); err != nil || r.Removed != 5 {
		t.Errorf("without the folder and the globs %d files are removed, %v", r.Removed, err)
	}
}

// TestLoadedByTheHost: a plan doesn't recall what the host shows by itself, and a search
// of the model's still finds it.
func TestLoadedByTheHost(t *testing.T) {
	ctx := context.Background()
	dir := putAll(t, t.TempDir(), map[string]string{"CLAUDE.md": "The deploy window is amber.\n", "notes/deploys.md": "The deploy window opens at dusk.\n"})
	k, err := kernel.Open(ctx, dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{Include: markdownstore.Everything()}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	if _, err := k.Reindex(ctx, nil); err != nil {
		t.Fatal(err)
	}
	for _, loaded := range [][]string{nil, {"CLAUDE.md"}} {
		p, err := k.Peek(ctx, api.PlanRequest{SessionKey: "s", Model: "claude-sonnet-4-5", ContextWindow: 200_000, Loaded: loaded,
			Messages: []memkernel.Message{{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: "when is the deploy window?"}}}}})
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, m := range p.Messages {
			for _, part := range m.Parts {
				text.WriteString(part.Text)
			}
		}
		if strings.Contains(text.String(), "amber") != (loaded == nil) || !strings.Contains(text.String(), "dusk") {
			t.Errorf("loaded %q: %s", loaded, text.String())
		}
	}
	if res, err := k.Search(ctx, api.SearchRequest{Query: "deploy window"}); err != nil || !slices.Contains(pathsOf(res), "CLAUDE.md") {
		t.Errorf("a search: %v, %v", res, err)
	}
}

// TestTooLargeIsTold: a memory file that is not indexed for its size, or for another in
// its place, is named.
func TestTooLargeIsTold(t *testing.T) {
	ctx := context.Background()
	dir := putAll(t, t.TempDir(), map[string]string{"MEMORY.md": "short\n", "memory.md": "shadowed\n", "memory/big.md": strings.Repeat("long ", 1000), "notes/big.md": strings.Repeat("long ", 1000), "AGENTS.md": strings.Repeat("long ", 1000)})
	k, err := kernel.Open(ctx, dir, &kernel.Options{Memory: kernel.MemoryOptions{Store: markdownstore.Options{MaxFileBytes: 2000, Include: []string{"notes"}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	r, err := k.Reindex(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range r.Skipped {
		got = append(got, s.Path)
	}
	slices.Sort(got)
	want := []string{"memory.md", "memory/big.md", "notes/big.md"}
	if _, err := os.Stat(filepath.Join(dir, "MEMORY.MD")); err == nil {
		want = want[1:] // a file system that ignores case
	}
	if !slices.Equal(got, want) {
		t.Errorf("skipped: %+v", r.Skipped)
	}
}

// TestNotesOfTheFolder: without any setting a private session is told what any note of the folder
// says, and a shared one is not.
func TestNotesOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "ops/deploys.md", "# Deploys\n\nWe deploy on Tuesdays at ten.\n")
	k, err := kernel.Open(context.Background(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	for _, private := range []bool{true, false} {
		s := k.Session(fmt.Sprint("chat-", private), kernel.SessionOptions{Model: model, Private: private})
		plan, err := s.Plan(context.Background(), []memkernel.Message{memkernel.User("When do we deploy?")}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(stream(plan), "Tuesdays"); got != private {
			t.Errorf("private %v: told %v\n%s", private, got, stream(plan))
		}
	}
}
