package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/retrieval"
	"github.com/memkernel/memkernel/transcript"
)

// workspaces are the bundled one and, where they are, real ones.
func workspaces(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"sample": "../testdata/workspace"}
	real, _ := filepath.Glob("../../shared/data/workspaces/*")
	if len(real) == 0 {
		t.Log("no workspaces at ../shared/data/workspaces: the bundled one alone is tested")
	}
	for _, dir := range suite.Some(real, 1) {
		out[filepath.Base(dir)] = dir
	}
	return out
}

func openOver(t *testing.T, workspace, state string) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), workspace, &kernel.Options{StateDir: state})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestWorkspaces indexes, searches and plans over whole workspaces: the index can
// be deleted, and what comes after has the same chunks and answers.
func TestWorkspaces(t *testing.T) {
	sample, err := transcript.LoadFile("../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, call, ok := lastCall(sample.View(transcript.Full))
	if !ok {
		t.Fatal("the sample has no call")
	}
	for name, dir := range workspaces(t) {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			questions := suite.Some(headingsOf(t, dir), 2)
			var answers [2][]retrieval.Hit
			var plans [2]string
			for i := range answers {
				k := openOver(t, dir, state)
				r := reindex(t, k)
				if r.Added == 0 || len(r.Failed) > 0 {
					t.Fatalf("%+v", r)
				}
				if again := reindex(t, k); again.Read != 0 || again.Unchanged != r.Files {
					t.Errorf("a second reindex opened %d files: %+v", again.Read, again)
				}
				for _, q := range questions {
					res, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: true, Now: call.Start})
					if err != nil || res.Err != nil || res.Reason != retrieval.OK {
						t.Fatalf("%s: %v %+v", q, err, res)
					}
					answers[i] = append(answers[i], res.Hits...)
				}
				p := mustPlan(t, k, api.PlanRequest{SessionKey: name, Model: "claude-opus-4-5", ContextWindow: 128_000, Messages: msgs,
					Resolver: "memory_get", Private: true, Now: call.Start})
				checkPlan(t, p, msgs)
				if plans[i] = stream(p); shown(p, "memkernel:carry") == "" {
					t.Error("nothing of the workspace stands in the carry block")
				}
				clean(t, k)
				k.Close()
				if err := os.RemoveAll(state); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(answers[0], answers[1], cmpopts.IgnoreUnexported(retrieval.Hit{})); diff != "" {
				t.Errorf("another index, other answers:\n%s", diff)
			}
			if plans[0] != plans[1] {
				t.Error("another index, another plan")
			}
		})
	}
}

// headingsOf are the headings of a workspace's memory, as questions.
func headingsOf(t *testing.T, dir string) []string {
	t.Helper()
	store, err := markdownstore.Open(dir, &markdownstore.Options{Private: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	seen := map[string]bool{}
	var out []string
	for f, err := range store.Walk(context.Background()) {
		if err != nil || !f.Indexed {
			continue
		}
		l, err := store.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range store.Chunks(markdownstore.Parse(f.Path, l.Text)) {
			if n := len(c.Trail); n > 0 && !seen[c.Trail[n-1]] && len(out) < 60 {
				seen[c.Trail[n-1]] = true
				out = append(out, c.Trail[n-1])
			}
		}
	}
	return out
}
