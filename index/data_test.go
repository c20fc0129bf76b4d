package index

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel/internal/suite"
)

// Real workspaces and questions are outside the repository; without them these
// tests are skipped.
const shared = "../../shared/data"

func realWorkspaces(t testing.TB) []*workspace {
	t.Helper()
	dirs, _ := filepath.Glob(shared + "/workspaces/*")
	if len(dirs) == 0 {
		t.Skip("no workspaces at ../shared/data/workspaces")
	}
	var out []*workspace
	for _, d := range dirs {
		out = append(out, &workspace{root: d})
	}
	return out
}

// headings lists the headings of a workspace's chunks, as questions.
func headings(t testing.TB, w *workspace) []string {
	t.Helper()
	var out []string
	seen := map[string]bool{}
	for f := range w.list() {
		chunks, err := w.read(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			if n := len(c.Trail); n > 0 && !seen[c.Trail[n-1]] {
				seen[c.Trail[n-1]] = true
				out = append(out, c.Trail[n-1])
			}
		}
	}
	return out
}

// Deleting the index loses nothing: the next one has the same ids and answers.
// A second sync opens no file.
func TestRealWorkspaces(t *testing.T) {
	for _, w := range suite.Some(realWorkspaces(t), 1) {
		t.Run(filepath.Base(w.root), func(t *testing.T) {
			questions := headings(t, w)
			var answers [2][]string
			found := 0
			for i := range answers {
				ix := openNew(t)
				r := w.sync(t, ix)
				if r.Added == 0 || r.ChunksAdded == 0 {
					t.Fatalf("nothing indexed: %+v", r)
				}
				if again := w.sync(t, ix); len(w.reads) != 0 || again.Unchanged != r.Files {
					t.Errorf("a second sync read %d files: %+v", len(w.reads), again)
				}
				checkClean(t, ix)
				for _, q := range questions {
					hits := ask(t, ix, q)
					answers[i] = append(answers[i], q, strings.Join(scored(hits), "\n"))
					for _, h := range hits {
						if n := len(h.Trail); i == 0 && n > 0 && h.Trail[n-1] == q {
							found++
							break
						}
					}
				}
				ix.Close()
			}
			if diff := cmp.Diff(answers[0], answers[1]); diff != "" {
				t.Errorf("a rebuilt index answers otherwise:\n%s", diff)
			}
			t.Logf("%d of %d headings find a section of theirs in the first ten", found, len(questions))
			if found*100 < len(questions)*90 {
				t.Errorf("%d of %d headings find a section of theirs in the first ten, want 90 in 100", found, len(questions))
			}
		})
	}
}

// question is a row of qa.jsonl.
type question struct {
	Question string
	Evidence []evidence
	Audited  []evidence `json:"evidence_audited"`
}

type evidence struct {
	File string
	Line int
}

func questions(t testing.TB, dir string) []question {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "qa.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []question
	for sc := bufio.NewScanner(f); sc.Scan(); {
		var q question
		if err := json.Unmarshal(sc.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		if len(q.Audited) > 0 {
			q.Evidence = q.Audited
		}
		if len(q.Evidence) > 0 {
			out = append(out, q)
		}
	}
	return out
}

// byLine cuts a file into its lines, the finest chunks there are.
func (w *workspace) byLine(path string) ([]Chunk, error) {
	b, err := os.ReadFile(filepath.Join(w.root, path))
	if err != nil {
		return nil, err
	}
	var out []Chunk
	n := 0
	for l := range strings.SplitSeq(string(b), "\n") {
		if n++; strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "#") {
			out = append(out, Chunk{StartLine: n, EndLine: n, Text: l})
		}
	}
	return out, nil
}

// recall is the share of evidence lines that the first k hits cover.
func recall(hits []Hit, gold []evidence, k int) float64 {
	n := 0
	for _, g := range gold {
		for _, h := range hits[:min(k, len(hits))] {
			if h.Path == g.File && h.StartLine <= g.Line && g.Line <= h.EndLine {
				n++
				break
			}
		}
	}
	return float64(n) / float64(len(gold))
}

// What keyword search alone recovers of the retrieval sets. The floors are a
// little below what was measured, so that a change for the worse shows.
func TestRetrievalSets(t *testing.T) {
	floors := map[string]float64{"xquad-en": 0.98, "xquad-es": 0.98, "xquad-de": 0.97, "xquad-zh": 0.98,
		"locomo-26": 0.58, "locomo-30": 0.58, "locomo-41": 0.58}
	for name, floor := range floors {
		if !suite.Long() && name != "xquad-zh" && name != "locomo-26" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(shared, "retrieval", name)
			if _, err := os.Stat(dir); err != nil {
				t.Skip("no retrieval sets at ../shared/data/retrieval")
			}
			w := &workspace{root: dir}
			ix := openNew(t)
			if _, err := ix.Sync(context.Background(), w.list(), w.byLine, nil); err != nil {
				t.Fatal(err)
			}
			qs := questions(t, dir)
			var at5, at10 float64
			for _, q := range qs {
				hits := ask(t, ix, q.Question)
				at5 += recall(hits, q.Evidence, 5)
				at10 += recall(hits, q.Evidence, 10)
			}
			n := float64(len(qs))
			got := fmt.Sprintf("%d questions: recall@5 %.3f, recall@10 %.3f", len(qs), at5/n, at10/n)
			t.Log(got)
			if at10/n < floor {
				t.Errorf("%s, want at least %.2f", got, floor)
			}
		})
	}
}
