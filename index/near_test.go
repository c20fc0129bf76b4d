package index

import (
	"slices"
	"strings"
	"testing"
)

// A word that the index doesn't hold is asked for as it is spelled there, in one piece or
// two, and the answer says so; what is no word, and what is known, is left as it is.
func TestAlso(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		"en.md": "# Club\n\nThe tournament on Saturday was deployed by the harbour crew.\n\nA smart watch was lost; the login is in the smartphone, the setup too.\n",
		"a.md":  "The letters were left on the table, created by hand. See walTailBytes and 9f2c1ab7e4 of 2026-03-01.\n",
		"es.md": "Las canciones de los niños que más me gustan son de la radio y no de la tele. La canción es larga.\n",
		"ru.md": "Мы купили новые серверы в Риге и праздновали победу.\n",
		"zh.md": "数据库的内存泄漏已经修复。\n",
	})
	ix := openNew(t)
	w.sync(t, ix)
	for range 2 { // by SQL, and by the word lists
		for _, c := range []struct{ ask, want string }{
			{"who won the torunament", "tournament for torunament"},
			{"tournamnt", "tournament for tournamnt"},
			{"tournaament?", "tournament for tournaament"},
			{"the Saturady crew", "saturday for Saturady"},
			{"the trnamentt tournamnnet", "tournament for tournamnnet"},
			{"smartwatch", "smart, watch for smartwatch"},
			{"log in", "login for log in"}, {"set up", "setup for set up"}, {"my smart phone", "smartphone for smart phone"},
			{"cancionse", "canciones for cancionse"},
			{"праздновлаи победу", "праздновали for праздновлаи"},
			{"tournaments", ""}, {"harbour crew", ""}, {"log-in", ""},
			{"treated", ""}, {"letter", ""}, {"wimt", ""}, {"playground", ""},
			{"walTailByets", ""}, {"wal_tial", ""}, {"9f2c1ab7e5", ""}, {"2026-03-02", ""}, {"TOURNAMNET", ""}, {"a/tournamnt.md", ""},
			{"数据裤", ""}, {"log, in", ""}, {"", ""}, {strings.Repeat("tournamnt", 1<<16), ""},
		} {
			if got := also(t, ix, Query{Text: c.ask, K: 10, Holders: true}); got != c.want {
				t.Errorf("%q: %q, want %q", c.ask, got, c.want)
			}
		}
	}
}

func also(t *testing.T, ix *Index, q Query) string {
	t.Helper()
	hits, err := ix.Search(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits.Keyword) > 0 && len(hits.Holders) != len(hits.Terms) {
		t.Errorf("%q: %d holders of %d terms", q.Text, len(hits.Holders), len(hits.Terms))
	}
	var out []string
	for _, a := range hits.Also {
		for _, i := range slices.Concat(a.Of, a.Terms) {
			if i >= len(hits.Terms) {
				t.Errorf("%q: place %d of %q", q.Text, i, hits.Terms)
			}
		}
		if len(a.Terms) == 0 {
			t.Errorf("%q: %+v has no terms", q.Text, a)
		}
		if !a.meaning {
			out = append(out, strings.Join(a.Asked, ", ")+" for "+a.Typed)
		}
	}
	return strings.Join(out, "; ")
}

// Words of files that aren't wanted are not told, and a new word is known at once.
func TestAlsoOfWantedFiles(t *testing.T) {
	w := newWorkspace(t, map[string]string{"open.md": "The harbour crew.\n", "private.md": "The tournament.\n"})
	ix := openNew(t)
	w.sync(t, ix)
	wanted := Query{Text: "torunament harbour", K: 10, Holders: true, Want: func(path string) bool { return path == "open.md" }}
	if got := also(t, ix, wanted); got != "" {
		t.Errorf("%q is told", got)
	}
	w.put(t, "new.md", "A lighthouse.\n")
	w.sync(t, ix)
	if got := also(t, ix, Query{Text: "lighthuose", K: 10, Holders: true}); got != "lighthouse for lighthuose" {
		t.Errorf("%q", got)
	}
}
