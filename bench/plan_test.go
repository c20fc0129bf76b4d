package bench

import (
	"context"
	"fmt"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// BenchmarkPlan plans the sample session as a host would, everything that it has
// parsed handed in again at every call, and everything durable before a plan
// comes back:
//
//	first  the whole session at once, into an empty state directory
//	next   one new user message on top of it
//	call   the next model call of the session: an assistant message and what the
//	       tools answered
//
// At a window of 128k the first plan has to cut, at 1m nothing leaves.
func BenchmarkPlan(b *testing.B) {
	fs := fileSystem(b.TempDir())
	msgs := sample(b)
	all := texts(msgs)
	for _, model := range []string{"gpt-5.5", "claude-opus-5-5"} {
		for _, window := range []int{128_000, 1_000_000} {
			name := fmt.Sprintf("%s/window=%dk/fs=%s", model, window/1000, fs)
			p := planner{model: model, window: window, texts: all}
			b.Run(name+"/first", func(b *testing.B) { p.first(b, msgs) })
			b.Run(name+"/next", func(b *testing.B) { p.later(b, appended(msgs)) })
			b.Run(name+"/call", func(b *testing.B) { p.later(b, calls(msgs)) })
		}
	}
}

type planner struct {
	model  string
	window int
	texts  []string // of the whole session, for the reference
}

// step is one call of a session: everything said until then.
type step []memkernel.Message

// laterSteps is how many calls follow a first plan before the session begins anew.
const laterSteps = 60

// appended adds user messages to a conversation, one at a time, each as large as
// its messages are on average and none the same.
func appended(msgs []memkernel.Message) []step {
	msgs = msgs[:len(msgs):len(msgs)]
	long, bytes := "", 0
	for _, s := range texts(msgs) {
		bytes += len(s)
		if len(long) < 1<<16 {
			long += s
		}
	}
	size := bytes / len(msgs)
	steps := []step{msgs}
	for i := range laterSteps {
		at := i * 531 % (len(long) - size)
		m := memkernel.Message{Key: fmt.Sprintf("new-%d", i), Role: memkernel.RoleUser, Time: msgs[len(msgs)-1].Time.Add(time.Second),
			Parts: []memkernel.Part{{Kind: memkernel.PartText, Text: fmt.Sprintf("Look at this, number %d:\n", i) + long[at:at+size]}}}
		msgs = append(msgs, m)
		steps = append(steps, msgs)
	}
	return steps
}

// calls are the last model calls of a conversation.
func calls(msgs []memkernel.Message) []step {
	var steps []step
	for n := len(msgs); n > 0 && len(steps) <= laterSteps; n-- {
		if msgs[n-1].Role != memkernel.RoleAssistant {
			steps = append([]step{msgs[:n]}, steps...)
		}
	}
	return steps
}

// plan plans one step, at a time two seconds after its newest message.
func (p planner) plan(b *testing.B, k *kernel.Kernel, s step) *api.ContextPlan {
	plan, err := k.PlanContext(context.Background(), api.PlanRequest{SessionKey: "bench", Model: p.model, ContextWindow: p.window,
		Messages: s, Resolver: "memory_get", Now: s[len(s)-1].Time.Add(2 * time.Second)})
	if err != nil {
		b.Fatal(err)
	}
	return plan
}

func openKernel(b *testing.B) *kernel.Kernel {
	b.Helper()
	k, err := kernel.Open(context.Background(), b.TempDir(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// tally sums what a benchmark measured.
type tally struct {
	plans, refs           int
	own, ref              time.Duration // processor time
	clock, refClock, sync time.Duration // clock is without sync
	syncs, blobs, planned int
}

// measure plans a step and adds its cost.
func (t *tally) measure(b *testing.B, p planner, k *kernel.Kernel, s step) {
	start, at := cpuTime(), time.Now()
	plan := p.plan(b, k, s)
	t.own += cpuTime() - start
	t.clock += time.Since(at) - plan.Stats.SyncTime
	t.plans++
	t.sync += plan.Stats.SyncTime
	t.syncs += plan.Stats.Syncs
	t.blobs += plan.Stats.Blobs
	t.planned = plan.Budgets.PlannedInputTokens
}

// compare tokenises the conversation once more, next to what is measured. Neither pays for the
// other's garbage.
func (t *tally) compare(b *testing.B, all []string) {
	runtime.GC()
	start := cpuTime()
	_, took := tokenise(b, all)
	t.ref += cpuTime() - start
	t.refClock += took
	t.refs++
	runtime.GC()
}

func (t *tally) report(b *testing.B) {
	own := t.own.Seconds() / float64(t.plans)
	ref := t.ref.Seconds() / float64(t.refs)
	b.ReportMetric(100*own/ref, "%-of-tiktoken")
	b.ReportMetric(100*t.clock.Seconds()/float64(t.plans)/t.refClock.Seconds()*float64(t.refs), "clock-%")
	b.ReportMetric(1000*own, "cpu-ms/op")
	b.ReportMetric(1000*t.sync.Seconds()/float64(t.plans), "sync-ms/op")
	b.ReportMetric(float64(t.syncs)/float64(t.plans), "syncs/op")
	b.ReportMetric(float64(t.blobs)/float64(t.plans), "blobs/op")
	b.ReportMetric(1000*ref, "tiktoken-cpu-ms")
}

// first times plans of the whole conversation by a kernel that knows nothing.
func (p planner) first(b *testing.B, msgs step) {
	p.warm(b, msgs)
	var t tally
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		b.StopTimer()
		t.compare(b, p.texts)
		k := openKernel(b)
		b.StartTimer()
		t.measure(b, p, k, msgs)
		b.StopTimer()
		k.Close()
		b.StartTimer()
	}
	b.StopTimer()
	t.report(b)
	k := openKernel(b)
	b.ReportMetric(peakHeap(func() { p.plan(b, k, msgs) })/1e6, "peak-MB")
	k.Close()
}

// peakHeap returns the largest size of the heap during f, above its size before, in bytes.
func peakHeap(f func()) float64 {
	heap := func() float64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		metrics.Read(sample)
		return float64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, done, peak := heap(), make(chan bool), make(chan float64)
	go func() {
		most := before
		for {
			select {
			case <-done:
				peak <- most
				return
			case <-time.After(time.Millisecond / 4):
				most = max(most, heap())
			}
		}
	}()
	f()
	close(done)
	return <-peak - before
}

// warm loads the vocabularies of both sides.
func (p planner) warm(b *testing.B, msgs step) {
	tokenise(b, p.texts[:1])
	p.begin(b, msgs).Close()
}

// begin opens a kernel and makes its first plan.
func (p planner) begin(b *testing.B, msgs step) *kernel.Kernel {
	k := openKernel(b)
	p.plan(b, k, msgs)
	return k
}

// later times the plans that follow a first one. A session that has come to the
// end of its steps begins anew, outside of the measurement.
func (p planner) later(b *testing.B, steps []step) {
	p.warm(b, steps[0])
	var t tally
	var k *kernel.Kernel
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if n := i % (len(steps) - 1); n == 0 {
			b.StopTimer()
			if k != nil {
				k.Close()
			}
			k = p.begin(b, steps[0])
			t.compare(b, p.texts)
			b.StartTimer()
		}
		t.measure(b, p, k, steps[i%(len(steps)-1)+1])
	}
	b.StopTimer()
	k.Close()
	t.report(b)
}
