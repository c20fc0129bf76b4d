package index

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
)

// The benchmarks print ratios to SQLite's bare FTS5, measured in the same run,
// since times of two runs on one machine differ more than two methods do.
//
//	go test -run '^$' -bench . ./index

// corpusOf makes n chunks of about 400 words (2.5 KB), ten to a file, with
// words as frequent as in real text (Zipf).
func corpusOf(n int) map[string][]Chunk {
	rng := rand.New(rand.NewSource(1))
	zipf := rand.NewZipf(rng, 1.1, 4, 60000)
	files := map[string][]Chunk{}
	for i := range n {
		var b strings.Builder
		for range 400 {
			b.WriteString(name(zipf.Uint64()))
			b.WriteByte(' ')
		}
		p := fmt.Sprintf("memory/%d/note-%05d.md", i/1000, i/10)
		files[p] = append(files[p], Chunk{StartLine: i%10*20 + 1, EndLine: i%10*20 + 19,
			Trail: []string{"Notes", "Part " + name(uint64(i%50))}, Text: b.String(), Tokens: 400})
	}
	return files
}

// name is the n-th word.
func name(n uint64) string {
	const letters = "etaoinshrdlucmfwypvbgkjqxz"
	b := []byte{}
	for n += 30; n > 0; n /= 26 {
		b = append(b, letters[n%26])
	}
	return string(b)
}

func listOf(files map[string][]Chunk) []FileStat {
	var out []FileStat
	for p, cs := range files {
		size := 0
		for _, c := range cs {
			size += len(c.Text)
		}
		out = append(out, FileStat{p, int64(size), old})
	}
	slices.SortFunc(out, byPath)
	return out
}

func each(stats []FileStat) func(func(FileStat, error) bool) {
	return func(yield func(FileStat, error) bool) {
		for _, s := range stats {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// bare is an FTS5 table of its own with the same words in it.
type bare struct {
	*testing.B
	*handles
}

func newBare(b *testing.B) bare {
	path := filepath.Join(b.TempDir(), "bare.sqlite")
	db, err := drv.Open(path, drv.Create, time.Second)
	if err == nil {
		if _, err = db.Exec(createFTS); err == nil {
			err = db.Close()
		}
	}
	if err != nil {
		b.Fatal(err)
	}
	h := &handles{}
	if h.write, err = drv.Open(path, drv.ReadWrite, time.Second); err != nil {
		b.Fatal(err)
	}
	h.write.SetMaxOpenConns(1)
	h.read = h.write
	b.Cleanup(func() { h.write.Close() })
	return bare{b, h}
}

// insert puts analysed chunks in, 2,000 to a transaction.
func (f bare) insert(all []*words) {
	for first := 0; first < len(all); first += defaultBatch {
		tx, err := f.write.Begin()
		if err != nil {
			f.Fatal(err)
		}
		stmt, err := tx.Prepare("INSERT INTO chunks_fts(rowid, body, trail, path) VALUES(?, ?, ?, ?)")
		if err != nil {
			f.Fatal(err)
		}
		for i, w := range all[first:min(first+defaultBatch, len(all))] {
			if _, err := stmt.Exec(first+i+1, w.body, w.trail, w.path); err != nil {
				f.Fatal(err)
			}
		}
		if err := tx.Commit(); err != nil {
			f.Fatal(err)
		}
	}
}

func analysed(b *testing.B, files map[string][]Chunk, stats []FileStat) []*words {
	a, err := analysis.New()
	if err != nil {
		b.Fatal(err)
	}
	var out []*words
	for _, s := range stats {
		for _, c := range files[s.Path] {
			out = append(out, analyse(a, s.Path, joinTrail(c.Trail), c.Text))
		}
	}
	return out
}

// A full sync, from texts to the closed file, against the insertion of words
// that were analysed before.
func BenchmarkFullSync(b *testing.B) {
	for _, n := range sizes(b, 10000) {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			files := corpusOf(n)
			stats := listOf(files)
			ready := analysed(b, files, stats)
			read := func(p string) ([]Chunk, error) { return files[p], nil }
			var ours, theirs time.Duration
			var report SyncReport
			for b.Loop() {
				f := newBare(b)
				t := time.Now()
				f.insert(ready)
				f.write.Close()
				theirs += time.Since(t)

				ix := openNew(b)
				t = time.Now()
				var err error
				if report, err = ix.Sync(context.Background(), each(stats), read, nil); err != nil {
					b.Fatal(err)
				}
				ix.Close()
				ours += time.Since(t)
			}
			b.ReportMetric(float64(ours)/float64(theirs), "x-bare-fts5")
			b.ReportMetric(report.MBPerSecond(), "MB/s")
			b.ReportMetric(report.ChunksPerSecond(), "chunks/s")
		})
	}
}

// A sync that finds nothing to do, against a walk over the same files.
func BenchmarkNoopSync(b *testing.B) {
	w := &workspace{root: b.TempDir()}
	for i := range 10000 {
		p := filepath.Join(w.root, fmt.Sprintf("d%02d/%05d.md", i/250, i))
		if i%250 == 0 {
			os.Mkdir(filepath.Dir(p), 0o755)
		}
		if err := os.WriteFile(p, fmt.Appendf(nil, "file %d\n", i), 0o644); err != nil {
			b.Fatal(err)
		}
		if err := os.Chtimes(p, old, old); err != nil {
			b.Fatal(err)
		}
	}
	ix := openNew(b)
	w.sync(b, ix)
	var walk, sync, behind time.Duration
	for b.Loop() {
		t := time.Now()
		for range w.list() {
		}
		walk += time.Since(t)
		t = time.Now()
		if r := w.sync(b, ix); len(w.reads) != 0 || r.Unchanged != 10000 {
			b.Fatalf("read %d files", len(w.reads))
		}
		sync += time.Since(t)
		t = time.Now()
		if late, err := ix.Behind(context.Background(), w.list()); err != nil || late {
			b.Fatal(late, err)
		}
		behind += time.Since(t)
	}
	b.ReportMetric(float64(sync)/float64(walk), "x-walk")
	b.ReportMetric(float64(behind)/float64(walk), "behind-x-walk")
}

// A warm keyword search from question to hits with their texts, against the
// bare table asked with the same words for row numbers.
func BenchmarkKeyword(b *testing.B) {
	for _, n := range sizes(b, 10000) {
		files := corpusOf(n)
		stats := listOf(files)
		ix := openNew(b)
		if _, err := ix.Sync(context.Background(), each(stats), func(p string) ([]Chunk, error) { return files[p], nil }, nil); err != nil {
			b.Fatal(err)
		}
		f := newBare(b)
		f.insert(analysed(b, files, stats))
		for _, q := range []struct {
			name string
			from uint64 // the words' rank: smaller is more frequent
			n    int
		}{{"3rare", 20000, 3}, {"3mid", 500, 3}, {"6mid", 200, 6}, {"8frequent", 5, 8}} {
			b.Run(fmt.Sprintf("%d/%s", n, q.name), func(b *testing.B) { benchKeyword(b, ix, f, q.from, q.n) })
		}
	}
}

func benchKeyword(b *testing.B, ix *Index, f bare, from uint64, n int) {
	ctx := context.Background()
	rng := rand.New(rand.NewSource(2))
	question := func() string {
		var out []string
		for range n {
			out = append(out, name(from+uint64(rng.Intn(int(from)))))
		}
		return strings.Join(out, " ")
	}
	var ours, theirs time.Duration
	for b.Loop() {
		q := question()
		terms, err := ix.Terms(ctx, q)
		if err != nil {
			b.Fatal(err)
		}
		t := time.Now()
		rows, err := f.read.Query("SELECT rowid, bm25(chunks_fts, 1, 3, 1.5) AS s FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY s LIMIT 24", matchExpr(terms))
		if err != nil {
			b.Fatal(err)
		}
		for rows.Next() {
			var row int64
			var s float64
			if err := rows.Scan(&row, &s); err != nil {
				b.Fatal(err)
			}
		}
		rows.Close()
		theirs += time.Since(t)
		t = time.Now()
		if _, err := ix.Search(ctx, Query{Text: q, K: 24}); err != nil {
			b.Fatal(err)
		}
		ours += time.Since(t)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "x-bare-fts5")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/search")
}

// A process that opens the index for one question, without the process.
func BenchmarkOpenAndSearch(b *testing.B) {
	files := corpusOf(10000)
	path := filepath.Join(b.TempDir(), "index.sqlite")
	ix := openAt(b, path, nil)
	if _, err := ix.Sync(context.Background(), each(listOf(files)), func(p string) ([]Chunk, error) { return files[p], nil }, nil); err != nil {
		b.Fatal(err)
	}
	ix.Close()
	for b.Loop() {
		ix, err := Open(path, &Options{ReadOnly: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := ix.Search(context.Background(), Query{Text: name(700) + " " + name(900) + " " + name(2000), K: 24}); err != nil {
			b.Fatal(err)
		}
		ix.Close()
	}
}

func BenchmarkVector(b *testing.B) {
	const dim = 384
	ctx := context.Background()
	files := corpusOf(10000)
	ix := openNew(b)
	if _, err := ix.Sync(ctx, each(listOf(files)), func(p string) ([]Chunk, error) { return files[p], nil }, nil); err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewSource(1))
	direction := func() []float32 {
		v := make([]float32, dim)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		return v
	}
	if err := ix.UseModel(ctx, "m", dim); err != nil {
		b.Fatal(err)
	}
	t := time.Now()
	n := embed(b, ix, "m", func(Missing) []float32 { return direction() })
	b.Logf("%.0f vectors/s stored", float64(n)/time.Since(t).Seconds())
	for b.Loop() {
		if _, err := ix.Vector(ctx, "m", direction(), 24, nil); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheck(b *testing.B) {
	files := corpusOf(10000)
	ix := openNew(b)
	if _, err := ix.Sync(context.Background(), each(listOf(files)), func(p string) ([]Chunk, error) { return files[p], nil }, nil); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		checkClean(b, ix)
	}
}

// sizes are the usual size and, if MEMKERNEL_BENCH_LARGE is set, ten times it.
func sizes(b *testing.B, n int) []int {
	if os.Getenv("MEMKERNEL_BENCH_LARGE") != "" {
		return []int{n, 10 * n}
	}
	b.Log("MEMKERNEL_BENCH_LARGE=1 measures ten times the size too")
	return []int{n}
}
