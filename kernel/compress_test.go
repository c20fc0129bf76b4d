package kernel_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// squeezer is a host's compressor: it keeps the head of a text, or blocks until
// its time is over.
type squeezer struct {
	block bool
	asked atomic.Int64
}

func (*squeezer) Name() string { return "squeezer" }

func (c *squeezer) Compress(ctx context.Context, in represent.CompressInput) (string, error) {
	c.asked.Add(1)
	if c.block {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return in.Text[:in.Bytes], nil
}

func openSqueezed(t *testing.T, dir string, c *squeezer, d time.Duration) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Open(t.Context(), dir, &kernel.Options{Represent: represent.Options{Compressor: c, CompressTime: d}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close() })
	return k
}

// inJournal counts a text in all that was committed.
func inJournal(t *testing.T, dir, text string) int {
	t.Helper()
	n := 0
	for _, f := range tree(t, dir) {
		if filepath.Base(f) == "journal.jsonl" {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			n += strings.Count(string(b), text)
		}
	}
	return n
}

func results(c *conversation) int {
	n := 0
	for i := range c.msgs {
		for j := range c.msgs[i].Parts {
			if c.msgs[i].Parts[j].Kind == memkernel.PartToolResult {
				n++
			}
		}
	}
	return n
}

// TestCompressorAtIngest: each result is handed to the host's compressor once, when
// it is ingested, also by way of an observation, and what it made is stored.
func TestCompressorAtIngest(t *testing.T) {
	dir := t.TempDir()
	c, cs := &squeezer{}, session(5, 3, 4, 3000)
	k := openSqueezed(t, dir, c, time.Hour)
	half := len(cs.msgs) / 2
	if _, err := k.ObserveToolResult(t.Context(), api.Turn{SessionKey: "s", Model: model, Messages: cs.msgs[:half], Now: cs.now}); err != nil {
		t.Fatal(err)
	}
	if c.asked.Load() == 0 {
		t.Error("an observed result is not compressed")
	}
	req := request(cs)
	req.Resolver = ""
	mustPlan(t, k, req)
	mustPlan(t, k, req)
	if n := results(cs); int(c.asked.Load()) != n || inJournal(t, dir, `"maker":"squeezer"`) != n {
		t.Errorf("%d results, asked %d times, %d stored", n, c.asked.Load(), inJournal(t, dir, `"maker":"squeezer"`))
	}
}

// TestCompressorTime: all results of one plan share one stretch of time; when it is
// over the mechanical representations stand and say why.
func TestCompressorTime(t *testing.T) {
	dir := t.TempDir()
	c, cs := &squeezer{block: true}, session(5, 6, 5, 3000)
	p := mustPlan(t, openSqueezed(t, dir, c, time.Millisecond), request(cs))
	want := mustPlan(t, memoryKernel(t), request(cs))
	if stream(p) != stream(want) {
		t.Error("a compressor that never answers changes the plan")
	}
	n := results(cs)
	if got := inJournal(t, dir, `"refused":"no `); got != n || int(c.asked.Load()) == n {
		t.Errorf("%d results, asked %d times, %d say that there was no time", n, c.asked.Load(), got)
	}
}

func TestCompressorEndsWithItsContext(t *testing.T) {
	dir := t.TempDir()
	c, cs := &squeezer{block: true}, session(5, 2, 2, 3000)
	k := openSqueezed(t, dir, c, time.Hour)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := k.PlanContext(ctx, request(cs)); err == nil {
		t.Error("planned for a caller that left")
	}
	if n := inJournal(t, dir, "refused"); n > 0 {
		t.Errorf("%d representations were stored", n)
	}
}
