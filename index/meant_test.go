package index

import (
	"slices"
	"testing"
)

// A question finds a note that says the same in other words, or in another language.
func TestMeaningIsSearched(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		"db.md":    "Enable WAL before the import.\n",
		"safe.md":  "Das Kennwort liegt im Tresor.\n",
		"k8s.md":   "The k8s upgrade takes an hour.\n",
		"other.md": "The harbour crew sails at noon.\n",
	})
	ix := openNew(t)
	w.sync(t, ix)
	for ask, want := range map[string]string{
		"write-ahead logging": "db.md", "password": "safe.md", "kubernetes": "k8s.md", "密码": "safe.md",
	} {
		hits, err := ix.Search(t.Context(), Query{Text: ask, K: 10, Holders: true})
		holds := func(h Hit) bool { return h.Path == want }
		if err != nil || !slices.ContainsFunc(hits.Keyword, holds) || slices.ContainsFunc(hits.Keyword, func(h Hit) bool { return h.Path == "other.md" }) {
			t.Errorf("%q: %+v, %v; want %s and not other.md", ask, hits.Keyword, err, want)
		}
	}
}
