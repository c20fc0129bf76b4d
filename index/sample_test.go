package index_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/markdownstore"
)

// The sample workspace and its questions, described in testdata/README.md.
const (
	sampleDir       = "../testdata/workspace"
	sampleQuestions = "../testdata/questions.jsonl"
)

// TestSampleShape holds the figures that testdata/README.md states.
func TestSampleShape(t *testing.T) {
	s := openStore(t, sampleDir)
	kinds := map[markdownstore.Kind]int{}
	size := int64(0)
	for f, err := range s.Walk(bg) {
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if d := markdownstore.Parse(f.Path, l.Text); len(d.Notes) > 0 || strings.Contains(l.Text, "\r") || !strings.Contains(l.Text, "\n") {
			t.Errorf("%s: %v", f.Path, d.Notes)
		} else if d.FrontMatter != "" && d.Meta["title"] == nil {
			t.Errorf("%s: front matter without a title", f.Path)
		}
		kinds[f.Kind]++
		size += f.Size
	}
	want := map[markdownstore.Kind]int{
		markdownstore.KindMemory: 1, markdownstore.KindUser: 1, markdownstore.KindInstructions: 4, markdownstore.KindState: 1,
		markdownstore.KindRoutine: 1, markdownstore.KindDaily: 12, markdownstore.KindNote: 2, markdownstore.KindTopic: 8,
		markdownstore.KindObservations: 1, markdownstore.KindBuffer: 1,
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("files by kind (-want +got):\n%s", diff)
	}
	if size < 25_000 || size > 40_000 {
		t.Errorf("the workspace is %d bytes, testdata/README.md says about 27,000", size)
	}
	for _, section := range []string{"## Session Startup\n", "## Red Lines\n"} {
		if l, err := s.ReadFile("AGENTS.md"); err != nil || !strings.Contains(l.Text, section) {
			t.Errorf("AGENTS.md has no %q: %v", section, err)
		}
	}
}

// row is a line of questions.jsonl.
type row struct {
	ID, Category, Question, Answer string
	Evidence                       []struct {
		File string
		Line int
	}
}

func sampleRows(t testing.TB) []row {
	t.Helper()
	f, err := os.Open(sampleQuestions)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []row
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var q row
		d := json.NewDecoder(strings.NewReader(sc.Text()))
		d.DisallowUnknownFields()
		if err := d.Decode(&q); err != nil {
			t.Fatalf("%s: line %d: %v", sampleQuestions, len(out)+1, err)
		}
		out = append(out, q)
	}
	return out
}

// Every question names lines that hold text and are in the index, and keyword
// search alone brings most of them. The floor is a little below what was
// measured, so that a change for the worse shows.
func TestSampleQuestions(t *testing.T) {
	s := openStore(t, sampleDir)
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.sqlite"))
	reindex(t, s, ix)
	rows := sampleRows(t)
	ids := map[string]bool{}
	at1, at5 := map[string]float64{}, map[string]float64{}
	n := map[string]float64{}
	for _, q := range rows {
		if ids[q.ID] || q.ID == "" || q.Category == "" || q.Question == "" || q.Answer == "" || len(q.Evidence) == 0 {
			t.Errorf("%+v is not whole", q)
		}
		ids[q.ID] = true
		hits := find(t, s, ix, q.Question)
		for _, e := range q.Evidence {
			if c, err := s.Read(e.File, e.Line, 1); err != nil || strings.TrimSpace(c.Text) == "" {
				t.Errorf("%s: %s:%d holds %q, %v", q.ID, e.File, e.Line, c.Text, err)
			}
			if covers(indexed(t, s, e.File), e.File, e.Line) == 0 {
				t.Errorf("%s: %s:%d is in no chunk", q.ID, e.File, e.Line)
			}
			share := 1 / float64(len(q.Evidence))
			for _, group := range []string{q.Category, ""} {
				at1[group] += share * covers(hits[:min(1, len(hits))], e.File, e.Line)
				at5[group] += share * covers(hits[:min(5, len(hits))], e.File, e.Line)
			}
		}
		n[q.Category]++
		n[""]++
	}
	for group := range n {
		t.Logf("%-12s %2.0f questions: recall@1 %.2f, recall@5 %.2f", group, n[group], at1[group]/n[group], at5[group]/n[group])
	}
	if got := at5[""] / n[""]; got < 0.85 {
		t.Errorf("recall@5 is %.3f, want at least 0.85", got)
	}
}

// indexed are the chunks of a file, as hits.
func indexed(t testing.TB, s *markdownstore.Store, path string) []index.Hit {
	t.Helper()
	chunks, err := reader(s)(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []index.Hit
	for _, c := range chunks {
		out = append(out, index.Hit{Path: path, StartLine: c.StartLine, EndLine: c.EndLine})
	}
	return out
}

// covers is 1 if a hit holds the line, else 0.
func covers(hits []index.Hit, path string, line int) float64 {
	if slices.ContainsFunc(hits, func(h index.Hit) bool { return h.Path == path && h.StartLine <= line && line <= h.EndLine }) {
		return 1
	}
	return 0
}

// A shared session finds nothing of the private files, whatever it asks.
func TestSampleShared(t *testing.T) {
	s := openStore(t, sampleDir).Shared()
	ix := openIndex(t, filepath.Join(t.TempDir(), "index.sqlite"))
	reindex(t, s, ix)
	for _, q := range []string{"who is Mika", "decisions preferences lessons", "tea no coffee"} {
		for _, h := range find(t, s, ix, q) {
			if h.Path == "MEMORY.md" || h.Path == "USER.md" {
				t.Errorf("%q finds %s", q, h.Path)
			}
		}
	}
}
