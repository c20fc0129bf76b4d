package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// memoryChunks is the size of the workspace that recall is measured on.
const memoryChunks = 10_000

// program builds the command in a temporary folder. It is built where its module is,
// which is not this one.
func program(b *testing.B) string {
	b.Helper()
	bin := filepath.Join(b.TempDir(), "memkernel")
	if out, err := exec.Command("go", "build", "-C", "..", "-o", bin, "./cmd/memkernel").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	return bin
}

// onDisk writes a corpus as a workspace of Markdown files.
func (c *corpus) onDisk(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for path, chunks := range c.files {
		var text strings.Builder
		for i := range chunks {
			fmt.Fprintf(&text, "# %s\n\n%s\n\n", strings.Join(chunks[i].Trail, " "), strings.TrimSpace(chunks[i].Text))
		}
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// memoryCorpus is real text where there is any.
func memoryCorpus(b *testing.B) *corpus { return corpusOf(b, memoryChunks) }

func corpusOf(b *testing.B, n int) *corpus {
	if files, _ := filepath.Glob(realData + "/*"); len(files) > 0 {
		return notesCorpus(b, n)
	}
	return zipfCorpus(b, n)
}

func quiet(b *testing.B, dir string, m kernel.MemoryOptions) *kernel.Kernel {
	b.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{StateDir: b.TempDir(), Memory: m})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { k.Close() })
	return k
}

// BenchmarkRecall is what memory adds to a warm plan: the next user message of a
// session, asked of a workspace of 10,000 chunks, against the same plan with memory
// off. Neither is recorded, so that no sync is in the times. Nothing of the session
// has left its prompt.
//
//	plan-µs   the median with memory off
//	adds-µs   what the median with memory is above that
//	p95-µs    what the 95th percentile is above that of memory off
func BenchmarkRecall(b *testing.B) {
	c := memoryCorpus(b)
	dir := c.onDisk(b)
	with, without := quiet(b, dir, kernel.MemoryOptions{}), quiet(b, dir, kernel.MemoryOptions{Off: true})
	if _, err := with.Reindex(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	msgs := sample(b)
	msgs = msgs[: len(msgs)/3 : len(msgs)/3]
	for msgs[len(msgs)-1].Role != memkernel.RoleAssistant {
		msgs = msgs[: len(msgs)-1 : len(msgs)-1]
	}
	base := append(msgs, asked(0, "Go on."))
	for _, k := range []*kernel.Kernel{with, without} {
		if _, err := k.PlanContext(context.Background(), turnOf(base, 0)); err != nil {
			b.Fatal(err)
		}
	}
	var a, o []time.Duration
	items := 0
	for i := 0; b.Loop(); i++ {
		req := turnOf(append(msgs, asked(i+1, c.questions[i%len(c.questions)])), i)
		off, _ := peek(b, without, req)
		on, plan := peek(b, with, req)
		a, o = append(a, on), append(o, off)
		items += plan.Retrieval.Items
	}
	if items == 0 {
		b.Fatal("nothing was recalled")
	}
	b.ReportMetric(micros(quantile(o, 0.5)), "plan-µs")
	b.ReportMetric(micros(quantile(a, 0.5)-quantile(o, 0.5)), "adds-µs")
	b.ReportMetric(micros(quantile(a, 0.95)-quantile(o, 0.95)), "p95-µs")
	b.ReportMetric(float64(items)/float64(len(a)), "items/op")
}

func asked(n int, text string) memkernel.Message {
	return memkernel.Message{Key: fmt.Sprintf("asked-%d", n), Role: memkernel.RoleUser, Time: time.Date(2026, 3, 9, 18, 0, 0, 0, time.UTC),
		Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: text, Typed: true}}}
}

func turnOf(msgs []memkernel.Message, i int) api.PlanRequest {
	return api.PlanRequest{SessionKey: "bench", Model: "claude-opus-5-5", ContextWindow: 1_000_000, Messages: msgs, Private: true,
		Resolver: "memory_get", Now: time.Date(2026, 3, 9, 18, 1, 0, 0, time.UTC)}
}

func peek(b *testing.B, k *kernel.Kernel, req api.PlanRequest) (time.Duration, *api.ContextPlan) {
	start := time.Now()
	plan, err := k.Peek(context.Background(), req)
	took := time.Since(start)
	if err != nil {
		b.Fatal(err)
	}
	return took, plan
}

// BenchmarkColdSearch runs `memkernel search` as a process of its own on 10,000
// chunks, against `memkernel version`, which is the same program doing nothing, and
// reports what the rest is spent on, measured inside one process in the same run.
//
//	p50-ms, empty-ms    medians of the two processes
//	x-empty             their ratio
//	first-ms            in one process: opening the index, a stat of each file to see
//	                    whether it is behind them, and the search
//	second-ms           the next search of the same process
func BenchmarkColdSearch(b *testing.B) {
	c := memoryCorpus(b)
	dir := c.onDisk(b)
	state := b.TempDir()
	open := func() *kernel.Kernel {
		k, err := kernel.Open(context.Background(), dir, &kernel.Options{StateDir: state})
		if err != nil {
			b.Fatal(err)
		}
		return k
	}
	k := open()
	if _, err := k.Reindex(context.Background(), nil); err != nil {
		b.Fatal(err)
	}
	k.Close()
	bin := program(b)
	var full, empty, first, second []time.Duration
	for i := 0; b.Loop(); i++ {
		q := c.questions[i%len(c.questions)]
		empty = append(empty, process(b, bin, "version"))
		full = append(full, process(b, bin, "search", "--workspace", dir, "--state-dir", state, "--json", q))
		k := open()
		first = append(first, ask(b, k, q))
		second = append(second, ask(b, k, c.questions[(i+1)%len(c.questions)]))
		k.Close()
	}
	b.ReportMetric(millis(quantile(full, 0.5)), "p50-ms")
	b.ReportMetric(millis(quantile(empty, 0.5)), "empty-ms")
	b.ReportMetric(float64(quantile(full, 0.5))/float64(quantile(empty, 0.5)), "x-empty")
	b.ReportMetric(millis(quantile(first, 0.5)), "first-ms")
	b.ReportMetric(millis(quantile(second, 0.5)), "second-ms")
}

func process(b *testing.B, bin string, args ...string) time.Duration {
	start := time.Now()
	out, err := exec.Command(bin, args...).CombinedOutput()
	took := time.Since(start)
	if err != nil {
		b.Fatalf("memkernel %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return took
}

func ask(b *testing.B, k *kernel.Kernel, q string) time.Duration {
	start := time.Now()
	res, err := k.Search(context.Background(), api.SearchRequest{Query: q, Private: true})
	took := time.Since(start)
	if err != nil || res.Err != nil {
		b.Fatal(err, res.Err)
	}
	return took
}

func millis(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e6 }
