package tools_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// badQueries are questions that nobody should ask, with what they must find: a path,
// or "" where any reason does, but a crash, an error of the backend, or silence.
var badQueries = []struct{ name, query, finds string }{
	{"empty", "", ""}, {"blank", " \t\r\n\v ", ""}, {"zero width", "\u200b\u200d\ufeff", ""},
	{"stop words", "what is the of and to in it", ""}, {"stop words, Spanish", "¿qué es lo de la el y en?", ""}, {"stop words, Chinese", "的了吗", ""},
	{"punctuation", `?!.,;:-_()[]{}<>/\|@#$%^&*~`, ""}, {"one quote", `"`, ""}, {"quotes", `""""`, ""},
	{"star", "*", ""}, {"open", `NEAR(`, ""}, {"near", `NEAR("heron" "delta", 5)`, "memory/birds.md"}, {"column", `body:heron`, "memory/birds.md"},
	{"unknown column", `nope: heron`, "memory/birds.md"}, {"prefix", `heron*`, "memory/birds.md"}, {"caret", `^heron`, "memory/birds.md"},
	{"operators", `AND OR NOT`, ""}, {"operator between", `heron AND NOT heron`, "memory/birds.md"}, {"unbalanced", `("heron OR (`, "memory/birds.md"},
	{"minus", `-heron --`, "memory/birds.md"}, {"plus", `heron + delta`, "memory/birds.md"}, {"braces", `{body trail} : heron`, "memory/birds.md"},
	{"SQL", `heron'; DROP TABLE chunks; --`, "memory/birds.md"}, {"like", `%_heron_%`, ""},
	{"NUL", "heron\x00delta", "memory/birds.md"}, {"only NUL", "\x00\x00", ""}, {"control", "\x01\x02heron\x7f", ""},
	{"no UTF-8", "heron \xff\xfe", "memory/birds.md"}, {"half a rune", "heron \xe4\xb8", "memory/birds.md"}, {"surrogate", "heron \xed\xa0\x80", "memory/birds.md"},
	{"emoji", "🦩", ""}, {"emoji beside", "🦩 heron 👩‍👩‍👧‍👦🏳️‍🌈", "memory/birds.md"}, {"combining", "h" + strings.Repeat("\u0301", 5000) + " heron", "memory/birds.md"},
	{"right to left", "متى يصل القطار", "memory/rtl.md"}, {"override", "\u202eheron\u202c", ""}, {"Hebrew", "הרכבת מגיעה", "memory/rtl.md"},
	{"mixed scripts", "heron 鷺 цапля ιβις", "memory/birds.md"}, {"one character", "鷺", "memory/mixed.md"}, {"Cyrillic", "цапля", "memory/mixed.md"},
	{"full width", "ｈｅｒｏｎ", ""}, {"100 KB", strings.Repeat("lorem ipsum dolor ", 6000) + "heron", ""},
	{"100 KB in one word", strings.Repeat("x", 100<<10), ""}, {"100 KB of a word", strings.Repeat("heron ", 17<<10), "memory/birds.md"},
	{"100 KB of quotes", strings.Repeat(`"`, 100<<10), ""}, {"100 KB of brackets", strings.Repeat("(", 100<<10), ""}, {"newlines", strings.Repeat("\n", 1000) + "heron", "memory/birds.md"},
	{"number", "1e308 NaN -0 0x", ""}, {"date", "on 9999-99-99 and in the year 292277026597", ""}, {"template", "{{.Heron}} <|im_start|>system", ""},
}

// badNotes are files that nobody should write, beside good ones.
func badNotes() map[string]string {
	return map[string]string{
		"memory/birds.md":      "# Birds\n\nThe heron nests in the delta.\n",
		"memory/mixed.md":      "The 鷺 or цапля is a bird that stands.\n",
		"memory/rtl.md":        "متى يصل القطار إلى المحطة؟\n\nהרכבת מגיעה מחר.\n",
		"memory/long.md":       strings.Repeat("stork ", 180_000) + "flamingo\n",
		"memory/longword.md":   strings.Repeat("y", 1<<20) + "\n",
		"memory/twin-a.md":     "The crane is grey and stands on one leg.\n",
		"memory/twin-b.md":     "The crane is grey and stands on one leg.\n",
		"memory/2099-01-01.md": "The ibis will come in that year.\n",
		"memory/nul.md":        "text\x00with NUL, pelican\n",
		"memory/empty.md":      "",
		"memory/bom.md":        "\ufeffThe egret has a mark in front.\n",
		"memory/crlf.md":       "The\r\nspoonbill\r\nis here.\r\n",
		"memory/latin1.md":     "caf\xe9 of the kingfisher\n",
	}
}

func TestBadQueries(t *testing.T) {
	b := open(t, badNotes())
	b.reindex()
	known := map[string]bool{"OK": true, "NO_MATCH": true}
	for _, tc := range badQueries {
		res, err := b.k.Search(context.Background(), api.SearchRequest{Query: tc.query, Private: true, SessionKey: "s"})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		b.judge(tc.name, tc.finds, res, known)
		if !utf8.ValidString(tc.query) {
			continue // JSON can't hold it
		}
		a := b.call(private, "memory_search", object{"query": tc.query})
		if a.Reason != string(res.Reason) || len(a.Results) != len(res.Hits) {
			t.Errorf("%s: the tool says %s with %d results, the kernel %s with %d", tc.name, a.Reason, len(a.Results), res.Reason, len(res.Hits))
		}
	}
}

// judge holds a result against what every result must be.
func (b *bench) judge(name, finds string, res *retrieval.Result, known map[string]bool) {
	b.Helper()
	if !known[string(res.Reason)] || res.Hits == nil || len(res.Hits) == 0 && res.Detail == "" {
		b.Errorf("%s: %s, %q, %d hits", name, res.Reason, res.Detail, len(res.Hits))
	}
	in := finds == ""
	for _, h := range res.Hits {
		in = in || h.Path == finds
		if math.IsNaN(h.Score) || h.Score < 0 || h.Score > 1 || len([]rune(h.Snippet)) > 700 || h.StartLine < 1 || h.EndLine < h.StartLine {
			b.Errorf("%s: %+v", name, h)
		}
	}
	if !in {
		b.Errorf("%s: %s is not found: %s, %d hits", name, finds, res.Reason, len(res.Hits))
	}
}

// Odd files are found by what is in them, or were reported as skipped.
func TestBadNotes(t *testing.T) {
	b := open(t, badNotes())
	future := time.Now().Add(90 * 24 * time.Hour)
	if err := os.Chtimes(filepath.Join(b.dir, "memory", "twin-b.md"), future, future); err != nil {
		t.Fatal(err)
	}
	r, err := b.k.Reindex(context.Background(), nil)
	if err != nil || len(r.Skipped) != 1 || !strings.Contains(r.Skipped[0].Path, "nul.md") {
		t.Fatalf("%v %+v", err, r.Skipped)
	}
	for query, path := range map[string]string{"flamingo": "memory/long.md", "ibis": "memory/2099-01-01.md", "egret": "memory/bom.md", "spoonbill": "memory/crlf.md",
		"kingfisher": "memory/latin1.md", "crane": "memory/twin-a.md"} {
		for _, now := range []time.Time{{}, time.Unix(0, 0), time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC)} {
			res, err := b.k.Search(context.Background(), api.SearchRequest{Query: query, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			b.judge(query, path, res, map[string]bool{"OK": true})
		}
	}
	// Of two files with the same text both can be found.
	if err := os.Remove(filepath.Join(b.dir, "memory", "twin-a.md")); err != nil {
		t.Fatal(err)
	}
	b.reindex()
	if a := b.call(private, "memory_search", object{"query": "crane"}); len(a.Results) != 1 || a.Results[0].Path != "memory/twin-b.md" {
		t.Errorf("%+v", a)
	}
}
