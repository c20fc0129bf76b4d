package index

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestQuestions(t *testing.T) {
	w := newWorkspace(t, map[string]string{
		"en.md":              "# Deployments\n\nWe decided to deploy on Fridays only after the audit.\n\n# People\n\nAna likes tea.\n",
		"code.md":            "The parser lives in parse_config.go; call parseConfig() first. C++ and C# are out.\n",
		"es.md":              "Las canciones de los niños que más me gustan son de la radio y no de la tele.\n",
		"zh.md":              "数据库的内存泄漏已经修复。\n\n我们在京都看了枫叶。\n",
		"ja.md":              "データベースの設計を見直した。\n",
		"ko.md":              "데이터베이스를 다시 설계했다.\n",
		"th.md":              "เราจะย้ายฐานข้อมูลวันศุกร์\n",
		"ru.md":              "Мы купили новые серверы в Риге.\n",
		"memory/holidays.md": "The beach was nice.\n",
	})
	ix := openNew(t)
	w.sync(t, ix)
	for _, c := range []struct{ ask, want string }{
		{"What did we decide about deployments?", "en.md:3"},
		{"who likes tea?", "en.md:7"},
		{"is there anything about deployment on mondays or tuesdays", "en.md:3"}, // no AND
		{"people", "en.md:7"},                                                    // only the heading has it
		{"holidays", "memory/holidays.md:1"},
		{"ParseConfig", "code.md:1"},
		{"parse-config", "code.md:1"},
		{"C++", "code.md:1"},
		{"canción", "es.md:1"},
		{"cancion de ninos", "es.md:1"},
		{"库", "zh.md:1"},
		{"泄漏", "zh.md:1"},
		{"京都", "zh.md:3"},
		{"内存泄漏修复了吗？", "zh.md:1"},
		{"データベース", "ja.md:1"},
		{"ﾃﾞｰﾀﾍﾞｰｽ", "ja.md:1"},
		{"데이터베이스", "ko.md:1"},
		{"ข้อมูล", "th.md:1"},
		{"сервер", "ru.md:1"},
	} {
		got := ask(t, ix, c.ask)
		if len(got) == 0 || fmt.Sprintf("%s:%d", got[0].Path, got[0].StartLine) != c.want {
			t.Errorf("%q finds %v, want %s first", c.ask, places(got), c.want)
		}
		for i, h := range got {
			if h.Rank != i+1 || h.Score <= 0 || h.Score >= 1 || i > 0 && h.Score > got[i-1].Score {
				t.Errorf("%q: hit %d has rank %d and score %v", c.ask, i, h.Rank, h.Score)
			}
		}
	}
}

// Nothing that a user types is syntax, and nothing is an error.
func TestOperatorsAreText(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "apple and banana\n\nbanana not cherry\n\nnear the trail of the body\n"})
	ix := openNew(t)
	w.sync(t, ix)
	want := places(ask(t, ix, "apple banana cherry"))
	if len(want) != 2 {
		t.Fatalf("found %v", want)
	}
	for _, q := range []string{
		`apple AND banana AND cherry`, `"apple banana" cherry`, `apple* + banana - cherry`, `apple^ (banana) NOT cherry`,
		`body:apple {body path}:banana cherry`, `NEAR(apple banana, 2) cherry`, `apple' OR 1=1; -- banana cherry`, "apple\x00banana cherry",
		`apple || banana && cherry`, `"apple "banana" cherry`, `""" apple banana cherry`, `-apple -banana -cherry`,
	} {
		if got, err := ix.Search(context.Background(), Query{Text: q, K: 2}); err != nil || len(got.Keyword) == 0 {
			t.Errorf("%q: %v, %v", q, places(got.Keyword), err)
		}
	}
	for _, q := range []string{"", "   ", "???", `"`, `'`, "*", "AND", "NOT", "OR OR", "NEAR(", "body:", "^", "-", "(((", "\x00", "\xff\xfe"} {
		if _, err := ix.Search(context.Background(), Query{Text: q, K: 5}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
	// Words handed in as they are can't be syntax either.
	for _, terms := range [][]string{{`apple" OR "banana`}, {"apple*"}, {""}, {`"`}, {"a\x00b"}, {"body:apple"}} {
		if _, err := keyword(ix, terms, 5, nil); err != nil {
			t.Errorf("%q: %v", terms, err)
		}
	}
}

func TestWantAndK(t *testing.T) {
	files := map[string]string{"keep.md": "apple is here too among many other words\n"}
	for i := range 100 {
		files[fmt.Sprintf("p/%03d.md", i)] = "apple apple\n"
	}
	w := newWorkspace(t, files)
	ix := openNew(t)
	w.sync(t, ix)
	ctx := context.Background()
	asked, err := ix.Search(ctx, Query{Text: "the apple"})
	terms := asked.Terms
	if err != nil || !cmp.Equal(terms, []string{"appl"}) || len(asked.Keyword) != 0 {
		t.Fatalf("%q, %v", terms, err)
	}
	hits, err := keyword(ix, terms, 3, func(p string) bool { return p == "keep.md" })
	if err != nil || !cmp.Equal(places(hits), []string{"keep.md:1"}) {
		t.Errorf("want filters before k: %v, %v", places(hits), err)
	}
	hits, err = keyword(ix, terms, 3, nil)
	if err != nil || !cmp.Equal(places(hits), []string{"p/000.md:1", "p/001.md:1", "p/002.md:1"}) {
		t.Errorf("equal scores go by place: %v, %v", places(hits), err)
	}
	for range 3 { // by SQLite, then by the word lists
		if hits, err := keyword(ix, terms, math.MaxInt, nil); err != nil || len(hits) != 101 {
			t.Errorf("all: %d hits, %v", len(hits), err)
		}
	}
	for _, k := range []int{0, -1} {
		if hits, err := keyword(ix, terms, k, nil); err != nil || len(hits) != 0 {
			t.Errorf("k=%d: %d hits, %v", k, len(hits), err)
		}
	}
}

// Words that most chunks hold are left out of a search without changing it,
// unless the question has no others.
func TestCommonWords(t *testing.T) {
	files := map[string]string{}
	for i := range 600 {
		files[fmt.Sprintf("%03d.md", i)] = fmt.Sprintf("Caroline wrote item%d today\n", i)
	}
	w := newWorkspace(t, files)
	ix := openNew(t)
	w.sync(t, ix)
	ctx := context.Background()
	for range 3 { // by SQLite, then by the word lists
		r := must(ix.door.cur.reader(ctx))
		if got, err := r.selective(ctx, []string{"carolin", "item7"}); err != nil || !cmp.Equal(got, []string{"item7"}) {
			t.Fatalf("selective words: %v, %v", got, err)
		}
		r.tx.Rollback()
		ask(t, ix, "item8")
	}
	hits := ask(t, ix, "What did Caroline write about item7?")
	if len(hits) != 10 || hits[0].Path != "007.md" {
		t.Errorf("%v: want item7 first and the list filled up", places(hits))
	}
	if hits := ask(t, ix, "Caroline"); len(hits) != 10 {
		t.Errorf("a question of common words only finds %d", len(hits))
	}
	for i := range 600 {
		if i > 10 {
			w.remove(t, fmt.Sprintf("%03d.md", i))
		}
	}
	w.put(t, "x.md", strings.Repeat("other things\n\n", 30))
	w.sync(t, ix)
	r := must(ix.door.cur.reader(ctx))
	defer r.tx.Rollback()
	if got, err := r.selective(ctx, []string{"carolin", "thing"}); err != nil || !cmp.Equal(got, []string{"carolin", "thing"}) {
		t.Errorf("selective words: %v, %v", got, err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// A question as long as a pasted log is reduced to its rarest words.
func TestLongQuestions(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf("alpha beta gamma entry%02d", i)
	}
	w := newWorkspace(t, files)
	ix := openNew(t)
	w.sync(t, ix)
	var q strings.Builder
	for i := range 400 {
		fmt.Fprintf(&q, "nothing%d alpha beta gamma ", i)
	}
	q.WriteString("entry07")
	got, err := ix.Search(context.Background(), Query{Text: q.String(), K: 3})
	if err != nil || len(got.Terms) < 400 || len(got.Keyword) != 3 || got.Keyword[0].Path != "07.md" {
		t.Errorf("%d terms, %v, %v", len(got.Terms), places(got.Keyword), err)
	}
}

func TestRef(t *testing.T) {
	w := newWorkspace(t, map[string]string{"a.md": "# H\n\none\ntwo\n"})
	ix := openNew(t)
	w.sync(t, ix)
	r := ask(t, ix, "two")[0].Ref()
	if r.Path != "a.md" || r.StartLine != 3 || r.EndLine != 4 || len(r.Hash) != 64 {
		t.Errorf("%+v", r)
	}
}

func TestClosed(t *testing.T) {
	ix := openNew(t)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if err := ix.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := ix.Search(context.Background(), Query{Text: "x", K: 1}); err == nil {
		t.Error("a closed index answers")
	}
}

func TestCancelledSearch(t *testing.T) {
	ix := openNew(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ix.Search(ctx, Query{Text: "x", K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("err = %v", err)
	}
}
