package index

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A search reports the number of chunks that hold each word, the first time as
// later, when it reads the word lists, and asks for fewer hits of a large
// index.
func TestHolders(t *testing.T) {
	w := many(t, 60)
	ix := openNew(t)
	w.sync(t, ix)
	ask := func(q Query) Hits {
		got, err := ix.Search(context.Background(), q)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	q := Query{Text: "word1 word9 nowhere", K: 5, KMany: 3, Holders: true}
	first := ask(q)
	if len(first.Holders) != len(first.Terms) || first.Chunks < 60 || len(first.Keyword) != 3 {
		t.Fatalf("%d holders of %d terms, %d chunks, %d hits", len(first.Holders), len(first.Terms), first.Chunks, len(first.Keyword))
	}
	for i, term := range first.Terms {
		hits, err := keyword(ix, []string{term}, 1000, nil)
		if err != nil || int64(len(hits)) != first.Holders[i] {
			t.Errorf("%s: %d chunks hold it, said %d: %v", term, len(hits), first.Holders[i], err)
		}
	}
	for range 3 {
		if d := cmp.Diff(first.Holders, ask(q).Holders); d != "" {
			t.Error(d)
		}
	}
	q.K, q.KMany, q.Holders = 40, 3, false
	if got := ask(q); got.Holders != nil {
		t.Errorf("holders without being asked: %v", got.Holders)
	}
}
