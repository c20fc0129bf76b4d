package bench

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel/kernel"
)

// BenchmarkTrace measures what the decision trace adds to a plan: the model calls at
// the end of the sample session, each planned by two kernels in turn that differ
// only in writing a trace, at a window of 1m. Syncs are taken off both.
func BenchmarkTrace(b *testing.B) {
	steps := calls(sample(b))
	for _, model := range []string{"gpt-5.5", "claude-opus-5-5"} {
		p := planner{model: model, window: 1_000_000, texts: texts(steps[0])}
		b.Run(model, func(b *testing.B) { p.traced(b, steps) })
	}
}

// traced plans all steps with and without a trace, b.N times, and compares the
// medians.
func (p planner) traced(b *testing.B, steps []step) {
	var with, without []time.Duration
	bytes, planned := int64(0), 0
	for range b.N {
		dir := b.TempDir()
		on, off := p.open(b, dir, false), p.open(b, b.TempDir(), true)
		p.plan(b, on, steps[0])
		p.plan(b, off, steps[0])
		first := traceSize(b, dir)
		for i, s := range steps[1:] {
			if i%2 == 0 {
				with = append(with, p.timed(b, on, s))
			}
			without = append(without, p.timed(b, off, s))
			if i%2 == 1 {
				with = append(with, p.timed(b, on, s))
			}
		}
		bytes += traceSize(b, dir) - first
		planned = p.plan(b, off, steps[len(steps)-1]).Budgets.PlannedInputTokens
		on.Close()
		off.Close()
	}
	slices.Sort(with)
	slices.Sort(without)
	n := len(with)
	b.ReportMetric(100*(with[n/2].Seconds()/without[n/2].Seconds()-1), "%-slower")
	b.ReportMetric(1000*without[n/2].Seconds(), "ms/plan")
	b.ReportMetric(float64(bytes)/float64(n), "trace-B/plan")
	b.ReportMetric(float64(planned), "tokens")
}

func (p planner) open(b *testing.B, dir string, noTrace bool) *kernel.Kernel {
	b.Helper()
	k, err := kernel.Open(context.Background(), dir, &kernel.Options{NoTrace: noTrace})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// timed is how long a plan takes, syncs apart.
func (p planner) timed(b *testing.B, k *kernel.Kernel, s step) time.Duration {
	start := time.Now()
	plan := p.plan(b, k, s)
	return time.Since(start) - plan.Stats.SyncTime
}

func traceSize(b *testing.B, dir string) int64 {
	b.Helper()
	fi, err := os.Stat(filepath.Join(dir, kernel.DefaultStateDir, "sessions", "bench", "trace.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	return fi.Size()
}
