package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/embed"
	"github.com/memkernel/memkernel/embed/embedtest"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

func withEmbedder(t *testing.T, dir string, o kernel.MemoryOptions) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{Memory: o})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

func searchMode(t *testing.T, k *kernel.Kernel) *retrieval.Result {
	t.Helper()
	res, err := k.Search(context.Background(), api.SearchRequest{Query: "retry test of the queue worker", Private: true})
	if err != nil || len(res.Hits) == 0 {
		t.Fatalf("%v, %+v", err, res)
	}
	return res
}

func provider(t *testing.T, s *embedtest.Server, change func(*embed.Config)) embed.Provider {
	t.Helper()
	c := embed.Config{Provider: "openai", BaseURL: s.BaseURL(), Model: "m", MaxTries: 1, BatchSize: 2}
	if change != nil {
		change(&c)
	}
	p, err := embed.FromConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// While a new model's vectors are made, and after that broke off, those of the
// old one answer who asks with it; a rerun takes up where it ended.
func TestOldVectorsAnswerUntilTheNewAreComplete(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	old := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: &counting{name: "old"}})
	reindex(t, old)
	s := embedtest.NewServer("openai", "")
	defer s.Close()
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, nil)})
	left := 3 // one asks how long the vectors are
	s.Refuse(func(w http.ResponseWriter, r *http.Request) {
		if left--; left < 0 {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		if res := searchMode(t, old); res.Mode != retrieval.Hybrid {
			t.Errorf("meanwhile the old model answers by %s: %s", res.Mode, res.Detail)
		}
		short(s)(w, r)
	})
	r, err := k.Reindex(context.Background(), nil)
	if err != nil || r.EmbedErr == nil || r.Embedded.Embedded != 4 || r.Stats.Model != "old" {
		t.Fatalf("%v, %+v, model %s, %v", err, r.Embedded, r.Stats.Model, r.EmbedErr)
	}
	if res := searchMode(t, old); res.Mode != retrieval.Hybrid {
		t.Errorf("the old model answers by %s: %s", res.Mode, res.Detail)
	}
	s.Refuse(nil)
	// The four vectors of length 3 can't stand beside those of length 256: the
	// model is filled from the start.
	again := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, nil)})
	if res := searchMode(t, again); res.Mode != retrieval.Keyword || res.Detail == "" {
		t.Errorf("before it is complete, the new model answers by %s: %q", res.Mode, res.Detail)
	}
	if r = reindex(t, again); r.EmbedErr != nil || !strings.HasPrefix(r.Stats.Model, "m at=") || r.Stats.Vectors != r.Stats.Chunks {
		t.Fatalf("%v, %+v", r.EmbedErr, r.Stats)
	}
	if res := searchMode(t, again); res.Mode != retrieval.Hybrid {
		t.Errorf("the new model answers by %s: %s", res.Mode, res.Detail)
	}
}

// A model that gives vectors of another length by its old name is filled anew.
func TestLengthChangesUnderTheSameName(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	s := embedtest.NewServer("openai", "")
	defer s.Close()
	open := func() *kernel.Kernel {
		return withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, nil)})
	}
	s.Refuse(short(s))
	k := open()
	if r := reindex(t, k); r.EmbedErr != nil || r.Stats.Dim != 3 {
		t.Fatalf("%+v, %v", r.Stats, r.EmbedErr)
	}
	s.Refuse(nil)
	k = open()
	put(t, dir, "memory/new.md", "Something new.\n")
	if r := reindex(t, k); r.EmbedErr != nil || r.Stats.Dim != embedtest.Dim || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("%+v, %v", r.Stats, r.EmbedErr)
	}
	s.Refuse(short(s))
	k = open()
	r, err := k.Reindex(context.Background(), &api.ReindexOptions{Full: true})
	if err != nil || r.EmbedErr != nil || r.Stats.Dim != 3 || r.Stats.Vectors != r.Stats.Chunks {
		t.Errorf("nothing new, but --full: %+v, %v, %v", r, err, r.EmbedErr)
	}
}

// short answers with vectors of length 3.
func short(s *embedtest.Server) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		all := s.Asked()
		var rows []string
		for i := range all[len(all)-1].Texts {
			rows = append(rows, fmt.Sprintf(`{"index":%d,"embedding":[1,2,%d]}`, i, i))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(rows, ","))
	}
}

func TestEmbedLimit(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	p := &counting{name: "far"} // not on this machine, as far as is known
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: p, EmbedLimit: api.EmbedLimit{USD: 1, Tokens: 10}})
	r := reindex(t, k)
	var limit *api.EmbedLimitError
	if !errors.As(r.EmbedErr, &limit) || p.documents+p.asked != 0 || limit.Estimate.Texts != int(r.Stats.Chunks) || limit.Estimate.Tokens <= 10 || !strings.Contains(r.EmbedErr.Error(), "more than the 10 tokens") {
		t.Fatalf("%v, %d texts sent", r.EmbedErr, p.documents)
	}
	if r, err := k.Reindex(context.Background(), &api.ReindexOptions{Approved: true}); err != nil || r.EmbedErr != nil || p.documents == 0 {
		t.Fatalf("%v %v", err, r.EmbedErr)
	}
	if r = reindex(t, k); r.EmbedErr != nil || r.Estimate.Texts != 0 {
		t.Errorf("with nothing to send: %+v, %v", r.Estimate, r.EmbedErr)
	}
}

func TestEstimates(t *testing.T) {
	price := &embed.Price{USD: 0.02}
	for _, c := range []struct {
		e    api.EmbedEstimate
		want string
	}{
		{api.EmbedEstimate{Texts: 2, Tokens: 3, Free: true}, "about 3 tokens in 2 texts, on this machine"},
		{api.EmbedEstimate{Texts: 2, Tokens: 3}, "about 3 tokens in 2 texts, at a price that is not known"},
		{api.EmbedEstimate{Texts: 2, Tokens: 3, Price: price}, "about 3 tokens in 2 texts, under a cent"},
		{api.EmbedEstimate{Texts: 2, Tokens: 50_000_000, Price: price}, "about 50000000 tokens in 2 texts, about $1.00"},
	} {
		if got := c.e.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A server that never answers costs a question its deadline and no more.
func TestHangingEmbedder(t *testing.T) {
	dir := t.TempDir()
	fillWorkspace(t, dir, nil)
	s := embedtest.NewServer("openai", "")
	defer s.Close()
	reindex(t, withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, nil)}))
	release := make(chan struct{})
	defer close(release)
	s.Refuse(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	k := withEmbedder(t, dir, kernel.MemoryOptions{Embedder: provider(t, s, nil), Ranking: retrieval.Options{EmbedTimeout: 20 * time.Millisecond}})
	if res := searchMode(t, k); res.Mode != retrieval.Keyword || !strings.Contains(res.Detail, "took more than 20ms") {
		t.Errorf("%s: %q", res.Mode, res.Detail)
	}
	asked := len(s.Asked())
	if res := searchMode(t, k); len(s.Asked()) != asked || !strings.Contains(res.Detail, "the server is left alone") {
		t.Errorf("the next question asked it again: %q", res.Detail)
	}
}
