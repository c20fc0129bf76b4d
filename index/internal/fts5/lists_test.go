package fts5

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// table is a full-text table in a file of its own.
type table struct {
	db    *sql.DB
	cache Cache
}

type fatal interface{ Fatal(...any) }

func newTable(t testing.TB) *table {
	t.Helper()
	db, err := drv.Open(filepath.Join(t.TempDir(), "i.sqlite"), drv.Create, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	f := &table{db: db}
	for _, q := range create {
		f.exec(t, q)
	}
	return f
}

func (f *table) exec(t fatal, query string, args ...any) {
	if _, err := f.db.Exec(query, args...); err != nil {
		t.Fatal(query, err)
	}
}

func (f *table) put(t fatal, row int64, body, trail, file string) {
	f.exec(t, Insert, row, body, trail, file, trail)
}

// change runs f in a transaction, and ends it as those who write an index do.
func (f *table) change(t fatal, change func(put func(row int64, body, trail, file string), drop func(row int64))) {
	ctx := context.Background()
	tx, err := f.db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	run := func(query string, args ...any) {
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatal(query, err)
		}
	}
	change(func(row int64, body, trail, file string) { run(Insert, row, body, trail, file, trail) }, func(row int64) { run(Delete, row) })
	if err = Mend(ctx, tx); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// find searches once, and reports whether the word lists answered.
func (f *table) find(t fatal, terms []string, n int) (out []Row, lists bool) {
	ctx := context.Background()
	var structure []byte
	if err := f.db.QueryRow("SELECT " + Structure).Scan(&structure); err != nil {
		t.Fatal(err)
	}
	s := f.cache.Search(ctx, f.db, structure, terms)
	out, err := s.Best(ctx, n)
	if err != nil {
		t.Fatal(terms, err)
	}
	return out, s.lists != nil
}

// bothWays asks through SQL and by the word lists for the best rows, and wants the
// same rows with the same scores, but for the last bits: the logarithms of C and of
// Go differ there.
func bothWays(t fatal, f *table, terms []string, n int) {
	asked, err := bestBySQL(context.Background(), f.db, terms, n)
	if err != nil {
		t.Fatal(err)
	}
	f.find(t, terms, n) // the first search of a state is SQLite's
	cold, lists := f.find(t, terms, n)
	kept, again := f.find(t, terms, n)
	if diff := cmp.Diff(cold, kept); !lists || !again || diff != "" {
		t.Fatal(terms, "by the lists:", lists, again, "from lists that were kept:\n"+diff)
	}
	if diff := cmp.Diff(byRow(asked), byRow(kept), cmpopts.EquateApprox(1e-13, 0)); diff != "" {
		t.Fatal(terms, "(-SQL +lists):\n"+diff)
	}
	if !slices.IsSortedFunc(kept, func(a, b Row) int { return int(b.Score - a.Score) }) {
		t.Fatal(terms, "not the best first:", kept)
	}
}

// completeBothWays wants the same rows with every word from SQL and from the word lists.
func completeBothWays(t fatal, f *table, words [][]string) {
	ctx := context.Background()
	var structure []byte
	if err := f.db.QueryRow("SELECT " + Structure).Scan(&structure); err != nil {
		t.Fatal(err)
	}
	lists := f.cache.Search(ctx, f.db, structure, slices.Concat(words...))
	if lists.lists == nil {
		t.Fatal("no lists")
	}
	all, named, err := lists.Complete(ctx, words, 1000)
	sqlAll, sqlNamed, serr := (&search{db: f.db}).Complete(ctx, words, 1000)
	if err != nil || serr != nil || lists.lists == nil {
		t.Fatal(err, serr, lists.lists)
	}
	if diff := cmp.Diff(byRow(sqlAll), byRow(all), cmpopts.EquateApprox(1e-13, 0)); diff != "" {
		t.Fatal(words, "(-SQL +lists):\n"+diff)
	}
	if diff := cmp.Diff(byRow(sqlNamed), byRow(named), cmpopts.EquateApprox(1e-13, 0)); diff != "" {
		t.Fatal(words, "in names (-SQL +lists):\n"+diff)
	}
}

func byRow(rows []Row) map[int64]float64 {
	out := map[int64]float64{}
	for _, r := range rows {
		out[r.Row] = r.Score
	}
	return out
}

// The word lists give what SQLite gives, whatever was written and deleted, in
// one segment or many.
func TestListsEqualBM25(t *testing.T) {
	vocabulary := strings.Fields("a to ab abc abd b ba fox foxes 数据库 canción zebra zz x1 x2 x3 x4 x5 x6 x7")
	rapid.Check(t, func(rt *rapid.T) {
		f := newTable(t)
		defer f.db.Close()
		f.exec(rt, "INSERT INTO chunks_fts(chunks_fts, rank) VALUES('pgsz', ?)", rapid.SampledFrom([]int{64, 100, 400, 4050}).Draw(rt, "page size"))
		var there []int64
		next := rapid.Int64Range(1, 1000).Draw(rt, "first row")
		for range rapid.IntRange(1, 6).Draw(rt, "transactions") {
			f.change(rt, func(put func(row int64, body, trail, file string), drop func(int64)) {
				for i := range rapid.IntRange(1, 10).Draw(rt, "edits") {
					if len(there) > 1 && rapid.IntRange(0, 3).Draw(rt, "drop") == 0 {
						at := rapid.IntRange(0, len(there)-1).Draw(rt, "which")
						drop(there[at])
						there = slices.Delete(there, at, at+1)
						continue
					}
					text := func(label string) string {
						words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(rt, label)
						return strings.Repeat(strings.Join(words, " ")+" ", 1+i*i)
					}
					put(next, text("body"), text("trail"), "zebra md")
					there = append(there, next)
					next += rapid.Int64Range(1, 3).Draw(rt, "gap")
				}
			})
			all := append(slices.Clone(vocabulary), "md", "nowhere")
			for _, terms := range [][]string{all, all[:1], all[3:6], {"nowhere"}} {
				bothWays(rt, f, terms, 1000)
			}
			for _, words := range [][][]string{{{"fox", "foxes"}, {"x1"}}, {{"zebra"}, {"a", "b", "ba"}, {"to"}}, {{"zz"}}} {
				completeBothWays(rt, f, words)
			}
		}
	})
}

// manyWords is a table with text for several levels of segments.
func manyWords(t testing.TB, rounds, rows int) *table {
	f := newTable(t)
	rng := rand.New(rand.NewSource(5))
	var next int64
	for range rounds {
		f.change(t, func(put func(int64, string, string, string), drop func(int64)) {
			for range rows {
				if next++; next > 50 && rng.Intn(5) == 0 {
					drop(next - 50)
				}
				put(next, fmt.Sprintf("word%d word%d other", rng.Intn(50), rng.Intn(900)), "h", fmt.Sprintf("d%d md", next%7))
			}
		})
	}
	return f
}

// The same with several levels of segments, merges under way, and rows whose places
// fill pages.
func TestListsOfManySegments(t *testing.T) {
	f := manyWords(t, 20, 60)
	f.put(t, 5000, strings.Repeat("word1 word2 ", 9000), "", "long md")
	rng := rand.New(rand.NewSource(6))
	ask := func() {
		for range 20 {
			var terms []string
			for range 1 + rng.Intn(6) {
				terms = append(terms, fmt.Sprintf("word%d", int(rng.ExpFloat64()*300)))
			}
			bothWays(t, f, terms, 5000)
		}
		bothWays(t, f, []string{"word1", "word2", "word1", "md", "d3"}, 5000)
	}
	ask()
	f.exec(t, "INSERT INTO chunks_fts(chunks_fts) VALUES('optimize')")
	ask()
}

// What is not of the known form is answered through SQL, without an error: another
// version, lengths that are cut off, and words that the lists don't hold as they are.
func TestUnknownFormsFallBack(t *testing.T) {
	terms := []string{"d1", "d2"} // of row 3 SQLite itself would want the lengths
	for name, spoil := range map[string]string{
		"version": "UPDATE chunks_fts_config SET v=5 WHERE k='version'",
		"lengths": "UPDATE chunks_fts_docsize SET sz=x'80' WHERE id=3",
	} {
		t.Run(name, func(t *testing.T) {
			f := manyWords(t, 3, 40)
			bothWays(t, f, terms, 500)
			want, _ := f.find(t, terms, 500)
			f.exec(t, spoil)
			f.cache = Cache{}
			for range 2 {
				got, lists := f.find(t, terms, 500)
				if diff := cmp.Diff(byRow(want), byRow(got), cmpopts.EquateApprox(1e-13, 0)); lists || diff != "" {
					t.Errorf("by the lists: %v (-before +after):\n%s", lists, diff)
				}
			}
		})
	}
	f := manyWords(t, 2, 20)
	for range 2 {
		if _, lists := f.find(t, []string{"Word-1"}, 5); lists {
			t.Error("a word that the tokenizer would split was looked up in the lists")
		}
	}
}

// Whatever a page or a record holds, reading it ends without a panic, and the answer
// comes the other way.
func TestSpoiltLists(t *testing.T) {
	ctx := context.Background()
	f := manyWords(t, 5, 100)
	var structure []byte
	if err := f.db.QueryRow("SELECT " + Structure).Scan(&structure); err != nil {
		t.Fatal(err)
	}
	lists, err := loadLists(ctx, f.db, structure)
	if err != nil {
		t.Fatal(err)
	}
	terms := []string{"word1", "word9", "word200", "md"}
	pages, err := lists.fetch(ctx, f.db, terms)
	if err != nil || len(pages) == 0 {
		t.Fatal(len(pages), err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		bad := map[int64][]byte{}
		for id, p := range pages {
			b := append([]byte(nil), p...)
			for range rapid.IntRange(0, 20).Draw(rt, "bytes") {
				b[rapid.IntRange(0, len(b)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
			}
			bad[id] = b[:rapid.IntRange(0, len(b)).Draw(rt, "kept")]
		}
		for _, term := range terms {
			lists.postings(append([]byte{termMark}, term...), bad)
		}
		s := append([]byte(nil), structure...)
		s[rapid.IntRange(0, len(s)-1).Draw(rt, "at")] = rapid.Byte().Draw(rt, "byte")
		cache := Cache{structure: s}
		if _, err := cache.Search(ctx, f.db, s, terms).Best(ctx, 10); err != nil {
			rt.Fatalf("% x: %v", s, err)
		}
	})
}
