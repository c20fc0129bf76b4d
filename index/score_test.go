package index

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// bothWays asks SQLite's bm25 and the word lists for the best rows, and wants
// the same rows with the same scores, but for the last bits: the logarithms of
// C and of Go differ there.
func bothWays(t interface{ Fatalf(string, ...any) }, ix *Index, terms []string, n int) {
	ctx := context.Background()
	h := ix.cur
	asked, err := readHits(ctx, h.read, matchQuery, weightBody, weightTrail, weightFile, matchExpr(terms), n)
	if err != nil {
		t.Fatalf("%v", err)
	}
	r, err := h.reader(ctx)
	if err != nil {
		t.Fatalf("%v", err)
	}
	defer r.tx.Rollback()
	lists, err := h.words.get(ctx, r.tx, r.structure)
	if errors.Is(err, errStrange) { // the first time
		lists, err = h.words.get(ctx, r.tx, r.structure)
	}
	if err != nil {
		t.Fatalf("the word lists: %v", err)
	}
	cold, err := lists.top(ctx, r.tx, terms, n, func(string, int) {})
	if err != nil {
		t.Fatalf("%q: %v", terms, err)
	}
	got, err := lists.top(ctx, r.tx, terms, n, func(string, int) {})
	if diff := cmp.Diff(cold, got, cmp.AllowUnexported(scoredRow{})); err != nil || diff != "" {
		t.Fatalf("%q: from lists that were kept: %v\n%s", terms, err, diff)
	}
	want := map[int64]float64{}
	for _, hit := range asked {
		want[hit.row] = hit.Raw
	}
	have := map[int64]float64{}
	for _, r := range got {
		have[r.row] = r.score
	}
	if diff := cmp.Diff(want, have, cmpopts.EquateApprox(1e-13, 0)); diff != "" {
		t.Fatalf("%q (-SQLite +lists):\n%s", terms, diff)
	}
}

// The word lists say what SQLite says, whatever was written and deleted, in
// one segment or many.
func TestListsEqualBM25(t *testing.T) {
	vocabulary := strings.Fields("a to ab abc abd b ba fox foxes 数据库 canción zebra zz x1 x2 x3 x4 x5 x6 x7")
	rapid.Check(t, func(rt *rapid.T) {
		ix := openAt(t, t.TempDir()+"/i.sqlite", nil)
		defer ix.Close()
		if _, err := ix.cur.write.Exec("INSERT INTO chunks_fts(chunks_fts, rank) VALUES('pgsz', ?)",
			rapid.SampledFrom([]int{64, 100, 400, 4050}).Draw(rt, "page size")); err != nil {
			rt.Fatal(err)
		}
		texts, clock := map[string]string{}, int64(0)
		for range rapid.IntRange(1, 3).Draw(rt, "rounds") {
			clock++
			for i := range rapid.IntRange(1, 10).Draw(rt, "edits") {
				path := fmt.Sprintf("f%d.md", rapid.IntRange(0, 30).Draw(rt, "file"))
				words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 0, 12).Draw(rt, "words")
				texts[path] = strings.Repeat(strings.Join(words, " ")+" ", 1+i*i)
			}
			source := func(yield func(FileStat, error) bool) {
				for p := range texts {
					if !yield(FileStat{p, int64(len(texts[p])), time.Unix(clock, 7)}, nil) {
						return
					}
				}
			}
			read := func(p string) ([]Chunk, error) {
				return []Chunk{{Text: texts[p], Trail: []string{"fox"}, Keywords: "zebra"}, {Text: p}}, nil
			}
			if _, err := ix.Sync(context.Background(), source, read, &SyncOptions{BatchChunks: 7}); err != nil {
				rt.Fatal(err)
			}
			terms, err := ix.Terms(context.Background(), strings.Join(vocabulary, " ")+" md nowhere")
			if err != nil {
				rt.Fatal(err)
			}
			for _, terms := range [][]string{terms, terms[:1], terms[3:6], {"nowhere"}} {
				bothWays(rt, ix, terms, 1000)
			}
		}
	})
}

// The same with enough text for several levels of segments, merges under way,
// and rows whose places fill pages.
func TestListsOfManySegments(t *testing.T) {
	w := many(t, 600)
	w.put(t, "long.md", strings.Repeat("word1 word2 ", 9000))
	ix := openNew(t)
	rng := rand.New(rand.NewSource(5))
	for round := range 5 {
		for i := range 40 * round {
			w.put(t, fmt.Sprintf("d%d/f%03d.md", i%7, i), fmt.Sprintf("word%d word%d other", rng.Intn(50), rng.Intn(900)))
		}
		if _, err := ix.Sync(context.Background(), w.list(), w.read, &SyncOptions{BatchChunks: 40}); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			var terms []string
			for range 1 + rng.Intn(6) {
				terms = append(terms, fmt.Sprintf("word%d", int(rng.ExpFloat64()*300)))
			}
			bothWays(t, ix, terms, 5000)
		}
		bothWays(t, ix, []string{"word1", "word2", "word1", "md", "d3"}, 5000)
	}
	if err := ix.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	bothWays(t, ix, []string{"word1", "word2", "md", "d3"}, 5000)
}

// Whatever a page or a record holds, reading it ends without a panic.
func TestSpoiltLists(t *testing.T) {
	ctx := context.Background()
	w := many(t, 100)
	ix := openNew(t)
	w.sync(t, ix)
	db := ix.cur.read
	var structure []byte
	if err := db.QueryRow("SELECT block FROM chunks_fts_data WHERE id=10").Scan(&structure); err != nil {
		t.Fatal(err)
	}
	lists, err := loadLists(ctx, db, structure)
	if err != nil {
		t.Fatal(err)
	}
	terms := []string{"word1", "word9", "word200", "md"}
	pages, err := lists.fetch(ctx, db, terms)
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
		if spoilt, err := loadLists(ctx, db, s); err == nil {
			spoilt.top(ctx, db, terms, 10, func(string, int) {})
		}
	})
}
