//go:build unix

package qmd

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/retrieval"
)

// TestMain plays QMD when it is started as that: it does what an environment
// variable names.
func TestMain(m *testing.M) {
	if act, ok := os.LookupEnv("FAKE_QMD"); ok {
		fake(act)
		return
	}
	os.Exit(m.Run())
}

func fake(act string) {
	args, _ := json.Marshal(os.Args[1:])
	if p := os.Getenv("FAKE_QMD_ARGS"); p != "" {
		os.WriteFile(p, args, 0o600)
	}
	switch {
	case act == "hang":
		child := exec.Command("sleep", "60")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.Run()
	case act == "flood":
		fmt.Print(strings.Repeat("[", maxAnswer+2))
	case strings.HasPrefix(act, "fail "):
		fmt.Fprintln(os.Stderr, "\n"+act[5:]+"\nat somewhere.js:1")
		os.Exit(1)
	default:
		fmt.Print(act)
	}
}

var texts = map[string]string{
	"MEMORY.md":            "The vault code is 4711.",
	"memory/2026-01-01.md": "# Deploys\n\nWe deploy on Friday from staging.\n\nStaging listens on port 8443.",
	"memory/My Notes.md":   "Ann likes espresso from staging.",
}

func source(yield func(index.FileStat, error) bool) {
	for _, p := range slices.Sorted(maps.Keys(texts)) {
		if !yield(index.FileStat{Path: p, Size: int64(len(texts[p])), ModTime: time.Unix(1e9, 0)}, nil) {
			return
		}
	}
}

// read makes a chunk of each line that is not empty.
func read(path string) ([]index.Chunk, error) {
	text, ok := texts[path]
	if !ok {
		return nil, fs.ErrNotExist
	}
	var out []index.Chunk
	for i, l := range strings.Split(text, "\n") {
		if l != "" {
			out = append(out, index.Chunk{StartLine: i + 1, EndLine: i + 1, Text: l})
		}
	}
	return out, nil
}

func beside(t *testing.T, answer string, o Options) *fronted {
	t.Helper()
	ix, err := index.Open(filepath.Join(t.TempDir(), "index.sqlite"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	if _, err := ix.Sync(context.Background(), iter.Seq2[index.FileStat, error](source), read, nil); err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAKE_QMD", answer)
	o.Command, o.Collection = append([]string{os.Args[0]}, o.Command...), "notes"
	return Beside(ix, o)
}

// result is one of QMD's, as version 2.8 prints it.
func result(file string, from, n int, score float64) string {
	return fmt.Sprintf(`{"docid":"#59b566","score":%v,"file":"qmd://%s","line":%d,"title":"t","snippet":"@@ -%d,%d @@ (0 before, 0 after)\nwhatever it says"}`, score, file, from+1, from, n)
}

func list(rs ...string) string { return "[" + strings.Join(rs, ",") + "]" }

func places(hits []index.Hit) string {
	var out []string
	for _, h := range hits {
		out = append(out, fmt.Sprintf("%s:%d", h.Path, h.StartLine))
	}
	return strings.Join(out, " ")
}

// Its order is kept, texts come from the index, and what is not in that is
// counted.
func TestOrder(t *testing.T) {
	ix := beside(t, list(
		result("notes/memory/2026-01-01.md", 4, 3, .4), result("notes/memory/2026-01-01.md", 4, 3, .4),
		result("notes/MEMORY.md", 1, 1, .4), result("notes/memory/my-notes.md", 1, 1, .9),
		result("other/MEMORY.md", 1, 1, .9), result("notes/../../etc/passwd", 1, 1, .9), result("notes/memory/gone.md", 1, 1, .9)), Options{})
	h, err := ix.Search(context.Background(), index.Query{Text: "staging port", K: 10})
	if err != nil {
		t.Fatal(err)
	}
	if got := places(h.Keyword); got != "memory/2026-01-01.md:5 MEMORY.md:1 memory/My Notes.md:1" || !h.Ranked {
		t.Errorf("hits %s, ranked %v: %s", got, h.Ranked, h.Note)
	}
	if h.Keyword[0].Text != "Staging listens on port 8443." {
		t.Errorf("text %q", h.Keyword[0].Text)
	}
	if !strings.Contains(h.Note, "ranked by qmd search") || !strings.Contains(h.Note, "3 of its hits") {
		t.Errorf("note %q", h.Note)
	}
	h, err = ix.Search(context.Background(), index.Query{Text: "x", K: 10, Want: func(p string) bool { return p != "MEMORY.md" }})
	if err != nil || strings.Contains(places(h.Keyword), "MEMORY.md") {
		t.Errorf("%s, %v", places(h.Keyword), err)
	}
	r := retrieval.New(ix, nil).Search(context.Background(), retrieval.Query{Text: "staging port", Passages: true, Now: time.Unix(2e9, 0)})
	var got []string
	for _, x := range r.Hits {
		got = append(got, x.Path)
	}
	if strings.Join(got, " ") != "memory/2026-01-01.md MEMORY.md memory/My Notes.md" || !strings.Contains(r.Detail, "ranked by qmd") {
		t.Errorf("retrieval: %v, %s", got, r.Detail)
	}
}

// Whatever goes wrong, SQLite answers and the reason is reported.
func TestFallback(t *testing.T) {
	for name, c := range map[string]struct{ act, why string }{
		"fails":     {"fail Collection not found: notes", "Collection not found: notes"},
		"hangs":     {"hang", "more than"},
		"floods":    {"flood", "more than 8 MB"},
		"prose":     {"No results found.", "no results of its own form"},
		"half":      {`[{"docid":"#1","file":"qmd://n`, "no results of its own form"},
		"other":     {`{"error":{"code":1,"message":"nope"}}`, "no results of its own form"},
		"nothing":   {"[]", "it found nothing"},
		"elsewhere": {list(result("other/x.md", 1, 1, 1)), "nothing is in the index"},
		"no text":   {`[{"docid":"#1","file":"qmd://notes/MEMORY.md","score":1}]`, "1 unreadable"},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Timeout: 5 * time.Minute}
			if name == "hangs" {
				o.Timeout = 300 * time.Millisecond
			}
			ix := beside(t, c.act, o)
			h, err := ix.Search(context.Background(), index.Query{Text: "staging port", K: 10})
			if err != nil || len(h.Keyword) == 0 || h.Ranked || h.Keyword[0].Path != "memory/2026-01-01.md" {
				t.Errorf("SQLite's answer: %s, %v", places(h.Keyword), err)
			}
			if !strings.Contains(h.Note, "SQLite answered, not qmd") || !strings.Contains(h.Note, c.why) {
				t.Errorf("note %q", h.Note)
			}
		})
	}
	ix := beside(t, "[]", Options{})
	ix.opts.Command = []string{filepath.Join(t.TempDir(), "no-such-program")}
	if h, err := ix.Search(context.Background(), index.Query{Text: "staging", K: 5}); err != nil || len(h.Keyword) == 0 || !strings.Contains(h.Note, "failed") {
		t.Errorf("no program: %q, %v", h.Note, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ix.Search(ctx, index.Query{Text: "staging", K: 5}); err == nil {
		t.Error("a question that nobody waits for is answered")
	}
}

// A question is one argument without syntax.
func TestQuestion(t *testing.T) {
	args := filepath.Join(t.TempDir(), "args")
	t.Setenv("FAKE_QMD_ARGS", args)
	ix := beside(t, "[]", Options{Command: []string{"query"}})
	if _, err := ix.Search(context.Background(), index.Query{Text: "--help \"quoted\" -minus\nlex: NEAR(x) \x00 文字", K: 5}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(args)
	want := `["query","--json","-n","10","-c","notes","--","expand: help quoted minus lex NEAR x 文字"]`
	if err != nil || string(b) != want {
		t.Errorf("%s, %v", b, err)
	}
	for _, q := range []string{"", "  ", "\"--\"", "?!"} {
		if h, err := ix.Search(context.Background(), index.Query{Text: q, K: 5}); err != nil || !strings.Contains(h.Note, "no word") {
			t.Errorf("%q: %q, %v", q, h.Note, err)
		}
	}
	if p := plain(strings.Repeat("ä", 1<<20), "search"); len(p) > maxQuestion {
		t.Errorf("%d bytes are sent", len(p))
	}
}

// TestRealQMD asks the program itself where MEMKERNEL_QMD names it.
func TestRealQMD(t *testing.T) {
	program := os.Getenv("MEMKERNEL_QMD")
	if program == "" {
		t.Skip("MEMKERNEL_QMD names no program")
	}
	home, dir := t.TempDir(), t.TempDir()
	for _, v := range []string{"HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"} {
		t.Setenv(v, home)
	}
	for p, text := range texts {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, p)), 0o755)
		if err := os.WriteFile(filepath.Join(dir, p), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(program, "collection", "add", dir, "--name", "notes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	ix := beside(t, "", Options{Timeout: time.Minute})
	ix.opts.Command, ix.opts.Dir = []string{program}, dir
	for q, want := range map[string]string{"staging port": "memory/2026-01-01.md:5", "espresso": "memory/My Notes.md:1", "vault": "MEMORY.md:1"} {
		h, err := ix.Search(context.Background(), index.Query{Text: q, K: 10})
		if err != nil || !h.Ranked || places(h.Keyword) != want {
			t.Errorf("%s: %s, %q, %v", q, places(h.Keyword), h.Note, err)
		}
	}
}
