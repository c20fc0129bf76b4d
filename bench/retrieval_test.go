package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/retrieval"
)

// BenchmarkRetrieval is a warm search by words, vectors and all context signals, of
// an index that a kernel made of Markdown files, against the bare table asked with
// the same analysed words, question by question in one run; and the memory of a
// process that has the kernel open and has answered the same questions.
//
//	go test -C bench -run '^$' -bench Retrieval
//
// MEMKERNEL_BENCH_SIZES lists the numbers of chunks, default "1000,10000".
func BenchmarkRetrieval(b *testing.B) {
	sizes := os.Getenv("MEMKERNEL_BENCH_SIZES")
	if sizes == "" {
		sizes = "1000,10000"
	}
	var table []string
	for size := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(size))
		if err != nil {
			b.Fatalf("MEMKERNEL_BENCH_SIZES: %v", err)
		}
		b.Run(size, func(b *testing.B) {
			if row := newStand(b, n).measure(b); row != "" {
				table = append(table, row)
			}
		})
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, standColumns)
	for _, row := range table {
		fmt.Fprintln(w, row)
	}
	w.Flush()
}

const standColumns = "chunks\tdriver\tp50 µs\tp95 µs\twords p50\tvectors p50\tbare p50\tbare p95\tx bare p50\tx bare CPU\theap MB\tprocess MB\t"

// stand is what is compared.
type stand struct {
	dir, state string
	questions  []string
	ix         *index.Index
	peer       peer
	bag        *bag
}

// newStand writes a workspace, indexes it, and fills the bare table with the words of
// the same chunks.
func newStand(b *testing.B, n int) *stand {
	ctx := context.Background()
	c := corpusOf(b, n*11/20) // most of its chunks are cut in two
	s := &stand{dir: c.onDisk(b), state: b.TempDir(), questions: c.questions[:min(len(c.questions), standQuestions)], bag: newBag()}
	k := s.open(b)
	report, err := k.Reindex(ctx, nil)
	if err == nil {
		err = report.EmbedErr
	}
	if err != nil {
		b.Fatal(err)
	}
	k.Close()
	if s.ix, err = index.Open(filepath.Join(s.state, "index.sqlite"), &index.Options{ReadOnly: true}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.ix.Close() })
	s.peer = newPeer(b)
	s.fill(b)
	return s
}

// standQuestions are asked again and again, as a session asks of what it is about.
const standQuestions = 200

func (s *stand) open(b testing.TB) *kernel.Kernel {
	k, err := kernel.Open(context.Background(), s.dir, &kernel.Options{StateDir: s.state, Memory: kernel.MemoryOptions{Embedder: s.bag}})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// fill gives the peers the words of all chunks. A model that nobody has is missing
// the vectors of all of them.
func (s *stand) fill(b *testing.B) {
	c := &corpus{files: map[string][]index.Chunk{}}
	for m, err := range s.ix.MissingEmbeddings(context.Background(), "nobody's") {
		if err != nil {
			b.Fatal(err)
		}
		c.files[m.Path] = append(c.files[m.Path], index.Chunk{Trail: m.Trail, Text: m.Text})
	}
	s.peer.insert(analyse(b, c.finish()))
}

func (s *stand) measure(b *testing.B) string {
	ctx := context.Background()
	now := time.Date(2026, 3, 9, 0, 0, 0, 0, time.UTC)
	r := retrieval.New(trusted{s.ix}, &retrieval.Options{Embedder: s.bag})
	for _, q := range s.questions {
		s.bag.EmbedQuery(ctx, q) // an embedder's time is not the search's
		r.Search(ctx, retrieval.Query{Text: q, Passages: true, Now: now})
	}
	timed := func(to *times, f func()) {
		t, c := time.Now(), cpuTime()
		f()
		to.cpu += cpuTime() - c
		to.clock = append(to.clock, time.Since(t))
	}
	var ours, words, vectors, bare times
	for i := 0; b.Loop(); i++ {
		q := s.questions[i%len(s.questions)]
		asked, err := s.ix.Search(ctx, index.Query{Text: q})
		if err != nil {
			b.Fatal(err)
		}
		v, _ := s.bag.EmbedQuery(ctx, q)
		timed(&bare, func() { s.peer.search(anyOf(asked.Terms), wanted) })
		timed(&ours, func() {
			if got := r.Search(ctx, retrieval.Query{Text: q, Passages: true, Now: now}); got.Err != nil || got.Mode != retrieval.Hybrid {
				b.Fatal(got.Mode, got.Err)
			}
		})
		timed(&words, func() { _, err = s.ix.Search(ctx, index.Query{Text: q, K: wanted}) })
		if err == nil {
			timed(&vectors, func() { _, err = s.ix.Vector(ctx, s.bag.Model(), v, wanted, nil) })
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	m := s.memory(b)
	x, xCPU := ours.at(0.5)/bare.at(0.5), float64(ours.cpu)/float64(bare.cpu)
	b.ReportMetric(x, "x-bare-p50")
	b.ReportMetric(xCPU, "x-bare-cpu")
	b.ReportMetric(ours.at(0.5), "p50-µs")
	b.ReportMetric(m.HeapMB, "heap-MB")
	b.ReportMetric(m.ProcessMB, "process-MB")
	stats, err := s.ix.Stats(ctx)
	if err != nil {
		b.Fatal(err)
	}
	return fmt.Sprintf("%d\t%s\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f\t%.2f\t%.0f\t%.0f\t", stats.Chunks, index.Driver, ours.at(0.5), ours.at(0.95),
		words.at(0.5), vectors.at(0.5), bare.at(0.5), bare.at(0.95), x, xCPU, m.HeapMB, m.ProcessMB)
}

// trusted is an index whose vectors are relied on, whatever was measured of them: of a
// corpus made of few sentences the nearest passages are many, and what is timed is a search
// by both.
type trusted struct{ *index.Index }

func (t trusted) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	hits, err := t.Index.Search(ctx, q)
	hits.Reliance = nil
	return hits, err
}

// times are those of one kind of search, by the clock each and by the processor's
// time in all.
type times struct {
	clock []time.Duration
	cpu   time.Duration
}

// at is a quantile in microseconds.
func (t *times) at(q float64) float64 { return micros(quantile(t.clock, q)) }

// memoryUse is what a process takes: HeapMB in use after a collection, ProcessMB
// resident with all that was mapped and freed, in 10⁶ bytes; 0 where the system
// doesn't report it.
type memoryUse struct{ HeapMB, ProcessMB float64 }

// standEnv passes the folders and the questions to a process to be measured.
const standEnv = "MEMKERNEL_BENCH_STAND"

// memory asks the same questions of a kernel in a process of its own.
func (s *stand) memory(b *testing.B) (m memoryUse) {
	told, err := json.Marshal([]any{s.dir, s.state, s.questions})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "stand.json")
	if err := os.WriteFile(file, told, 0o600); err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestMemoryOfKernel$", "-test.v")
	cmd.Env = append(os.Environ(), standEnv+"="+file)
	out, err := cmd.CombinedOutput()
	_, answer, ok := strings.Cut(string(out), "memory: ")
	if err != nil || !ok {
		b.Fatalf("the process with the kernel: %v: %s", err, out)
	}
	answer, _, _ = strings.Cut(answer, "\n")
	if err := json.Unmarshal([]byte(answer), &m); err != nil {
		b.Fatal(err)
	}
	return m
}

// TestMemoryOfKernel is the process that is measured.
func TestMemoryOfKernel(t *testing.T) {
	file := os.Getenv(standEnv)
	if file == "" {
		t.Skip("BenchmarkRetrieval runs this in a process of its own")
	}
	debug.SetGCPercent(100) // as the program has it
	s := &stand{bag: newBag()}
	told, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(told, &[]any{&s.dir, &s.state, &s.questions})
	}
	if err != nil {
		t.Fatal(err)
	}
	k := s.open(t)
	defer k.Close()
	for _, q := range s.questions {
		if res, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: true}); err != nil || res.Err != nil {
			t.Fatal(err, res.Err)
		}
	}
	process := residentMB()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	out, _ := json.Marshal(memoryUse{float64(m.HeapInuse) / 1e6, process})
	fmt.Printf("memory: %s\n", out)
}

// residentMB is what Linux reports of this process.
func residentMB() float64 {
	status, _ := os.ReadFile("/proc/self/status")
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kB, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kB, 64)
	return n * 1024 / 1e6
}
