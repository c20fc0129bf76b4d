package index

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// note is a file of two chunks with keywords.
type note struct {
	ix    *Index
	clock int64
}

func (n *note) sync(t *testing.T, keywords string) SyncReport {
	t.Helper()
	n.clock++
	stat := FileStat{Path: "memory/topics/k.md", Size: 9, ModTime: time.Unix(n.clock, 7)}
	r, err := n.ix.Sync(context.Background(), func(yield func(FileStat, error) bool) { yield(stat, nil) },
		func(string) ([]Chunk, error) {
			return []Chunk{{Text: "the first half", StartLine: 4, EndLine: 4, Keywords: keywords},
				{Text: "the second half", StartLine: 6, EndLine: 6, Keywords: keywords}}, nil
		}, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkClean(t, n.ix)
	return r
}

// The labels of a file are read by its path, are no words of it, and change with the file.
func TestLabels(t *testing.T) {
	ix := openNew(t)
	for i, labels := range [][]string{{"#ops", "@alpha"}, {"domain:code"}, nil} {
		stat := FileStat{Path: "memory/l.md", Size: 9, ModTime: time.Unix(int64(i+1), 7)}
		if _, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) { yield(stat, nil) },
			func(string) ([]Chunk, error) {
				return []Chunk{{Text: "the first half", StartLine: 1, EndLine: 1, Labels: labels}}, nil
			}, nil); err != nil {
			t.Fatal(err)
		}
		checkClean(t, ix)
		want := map[string][]string{}
		if labels != nil {
			want["memory/l.md"] = labels
		}
		if got, err := ix.Labels(context.Background()); err != nil || !cmp.Equal(got, want) {
			t.Errorf("labels %v, %v, want %v", got, err, want)
		}
		if got := ask(t, ix, "alpha ops code"); len(got) > 0 {
			t.Errorf("found by a label: %v", places(got))
		}
	}
}

func TestKeywords(t *testing.T) {
	n := &note{ix: openNew(t)}
	n.sync(t, "Deployment Runbook\nops-guide\nリリース")
	first := ask(t, n.ix, "half")
	for _, q := range []string{"deployments", "runbooks", "OpsGuide", "リリース", "topics"} {
		if got := places(ask(t, n.ix, q)); !cmp.Equal(got, []string{"memory/topics/k.md:4", "memory/topics/k.md:6"}) {
			t.Errorf("%q finds %v", q, got)
		}
	}
	// A keyword counts as a word of the path does.
	a, b := ask(t, n.ix, "runbook"), ask(t, n.ix, "topics")
	if a[0].Raw != b[0].Raw {
		t.Errorf("a keyword scores %v, a word of the path %v", a[0].Raw, b[0].Raw)
	}

	if r := n.sync(t, "Deployment Runbook\nops-guide\nリリース"); r.Touched != 1 || r.ChunksAdded != 0 {
		t.Errorf("the same keywords again: %+v", r)
	}
	if r := n.sync(t, "Playbook"); r.Changed != 1 || r.ChunksAdded != 2 || r.ChunksRemoved != 2 {
		t.Errorf("other keywords: %+v", r)
	}
	if got := ask(t, n.ix, "runbook"); len(got) > 0 {
		t.Errorf("found by a keyword that is gone: %v", places(got))
	}
	after := ask(t, n.ix, "playbook half")
	if len(after) != 2 || after[0].ID != first[0].ID || after[0].Hash != first[0].Hash || first[0].Hash != HashChunk(nil, "the first half") {
		t.Errorf("id or hash depend on keywords: %v, before %v", after, first)
	}
}

// Keywords survive new rules of analysis, and a spoilt one is found.
func TestKeywordsAreRemadeAndChecked(t *testing.T) {
	ctx := context.Background()
	n := &note{ix: openNew(t)}
	n.sync(t, "runbook")
	want := scored(ask(t, n.ix, "runbook"))
	for _, q := range []string{"UPDATE meta SET value='0' WHERE key='analysis'", "DELETE FROM chunks_fts", "UPDATE meta SET value=value+1 WHERE key='generation'"} {
		if _, err := n.ix.door.cur.write.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	if r := n.sync(t, "runbook"); r.Reanalysed != 2 {
		t.Errorf("%+v", r)
	}
	if diff := cmp.Diff(want, scored(ask(t, n.ix, "runbook"))); diff != "" {
		t.Error(diff)
	}
	if _, err := n.ix.door.cur.write.Exec("UPDATE chunks SET keywords='other' WHERE seq=1"); err != nil {
		t.Fatal(err)
	}
	for range n.ix.Check(ctx) {
		return
	}
	t.Error("a spoilt keyword was not found")
}
