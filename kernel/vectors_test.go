package kernel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// counting is a provider that counts what it is asked for, goes by any name, and
// fails on demand.
type counting struct {
	embedtest.Provider
	name             string
	documents, asked int
	failing          error
}

func (c *counting) Model() string { return c.name }

func (c *counting) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	c.asked++
	if c.failing != nil {
		return nil, c.failing
	}
	return c.Provider.EmbedQuery(ctx, text)
}

func (c *counting) EmbedDocuments(ctx context.Context, texts []string) (embed.Result, error) {
	if c.failing != nil {
		return embed.Result{}, c.failing
	}
	c.documents += len(texts)
	return c.Provider.EmbedDocuments(ctx, texts)
}

// Vectors are made once, kept over a full reindex and over a change of model and
// back, and the search does without them where they can't be had.
func TestVectors(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	p := &counting{name: "first"}
	open := func() *kernel.Kernel {
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: kernel.MemoryOptions{Embedder: p}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { k.Close() })
		return k
	}
	k := open()
	r := reindex(t, k)
	if r.Embedded == nil || r.Embedded.Embedded == 0 || r.Stats.Vectors != r.Stats.Chunks || p.documents != r.Embedded.Embedded {
		t.Fatalf("%+v, %d texts", r, p.documents)
	}
	made := p.documents
	mode := func(want retrieval.Mode) {
		t.Helper()
		res, err := k.Search(context.Background(), api.SearchRequest{Query: "retry test of the queue worker", Private: true})
		if err != nil || res.Mode != want || len(res.Hits) == 0 {
			t.Fatalf("%v, %+v; want mode %s", err, res, want)
		}
		for _, h := range res.Hits {
			if (want == retrieval.Hybrid) != (h.Parts.VectorRank > 0) {
				t.Errorf("%s has parts %+v", h.Citation, h.Parts)
			}
		}
	}
	mode(retrieval.Hybrid)
	if r, err := k.Reindex(context.Background(), &api.ReindexOptions{Full: true}); err != nil || p.documents != made || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("a full reindex embedded %d texts: %v %+v", p.documents-made, err, r)
	}
	put(t, dir, "memory/queue.md", sampleWorkspace["memory/queue.md"]+"\nA parked job is looked at by hand.\n")
	if reindex(t, k); p.documents != made+1 {
		t.Errorf("a changed chunk had %d texts embedded", p.documents-made)
	}
	p.name = "second"
	if mode(retrieval.Keyword); p.asked == 0 {
		t.Error("the question was not embedded")
	}
	if r = reindex(t, k); r.Stats.Model != "second" || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("%+v", r.Stats)
	}
	made = p.documents
	mode(retrieval.Hybrid)
	p.name = "first"
	if r = reindex(t, k); p.documents != made || r.Stats.Model != "first" || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("back to the first model: %d texts embedded, %+v", p.documents-made, r.Stats)
	}
	p.failing = errors.New("the provider is down")
	mode(retrieval.Keyword)
	put(t, dir, "memory/new.md", "New and without a vector.\n")
	if r = reindex(t, k); !errors.Is(r.EmbedErr, p.failing) || r.Added != 1 {
		t.Errorf("%+v", r)
	}
	c := newConversation(1)
	c.user()
	if plan := mustPlan(t, k, private(c)); plan.Retrieval.Mode != string(retrieval.Keyword) || plan.Retrieval.Items == 0 || plan.Retrieval.Detail == "" {
		t.Errorf("%+v", plan.Retrieval)
	}
}
