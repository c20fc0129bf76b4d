package bench

import (
	"context"
	"os"
	"runtime/debug"
	"strconv"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/kernel"
)

// BenchmarkWorkspaces opens many small workspaces, of 100 chunks each, in one process and
// asks each in turn, against as many bare tables of the same words, asked the same in the
// same run.
//
//	p50-µs, bare-p50-µs  of a warm search
//	x-bare-p50           their ratio, x-bare-cpu that of all processor time
//	KB/ws, bare-KB/ws    what the process grows by with each that is open and was asked
//	files/ws             open file handles of each
//
// MEMKERNEL_BENCH_WORKSPACES is how many, default 200. The workspaces come second, into
// memory that may have been used before.
func BenchmarkWorkspaces(b *testing.B) {
	const chunks, rounds = 100, 5
	n, _ := strconv.Atoi(os.Getenv("MEMKERNEL_BENCH_WORKSPACES"))
	if n == 0 {
		n = 200
	}
	debug.SetGCPercent(100) // as the program has it
	ctx := context.Background()
	c := corpusOf(b, chunks*11/20) // most of its chunks are cut in two
	dir := c.onDisk(b)
	settled := func() float64 { debug.FreeOSMemory(); return residentMB() }

	a := analysis.New()
	asked := func(i int) (q, terms string) {
		q = c.questions[i%len(c.questions)]
		return q, anyOf(a.Query(q, nil))
	}
	words := analyse(b, c)
	before := settled()
	peers := make([]peer, n)
	for i := range peers {
		peers[i] = newPeer(b)
		peers[i].insert(words)
	}
	for i := range rounds * n {
		_, terms := asked(i)
		peers[i%n].search(terms, wanted)
	}
	bareKB := (settled() - before) * 1000 / float64(n)

	before = settled()
	handles := openFiles()
	kernels := make([]*kernel.Kernel, n)
	for i := range kernels {
		k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: b.TempDir()})
		if err == nil {
			_, err = k.Reindex(ctx, nil)
		}
		if err != nil {
			b.Fatal(err)
		}
		defer k.Close()
		kernels[i] = k
	}
	for i := range rounds * n {
		q, _ := asked(i)
		ask(b, kernels[i%n], q)
	}
	kb, files := (settled()-before)*1000/float64(n), float64(openFiles()-handles)/float64(n)
	var ours, theirs times
	for i := 0; b.Loop(); i++ {
		q, terms := asked(i)
		at := cpuTime()
		t := time.Now()
		peers[i%n].search(terms, wanted)
		theirs.clock = append(theirs.clock, time.Since(t))
		theirs.cpu += cpuTime() - at
		at = cpuTime()
		ours.clock = append(ours.clock, ask(b, kernels[i%n], q))
		ours.cpu += cpuTime() - at
	}
	b.ReportMetric(ours.at(0.5), "p50-µs")
	b.ReportMetric(theirs.at(0.5), "bare-p50-µs")
	b.ReportMetric(float64(ours.cpu)/float64(theirs.cpu), "x-bare-cpu")
	b.ReportMetric(ours.at(0.5)/theirs.at(0.5), "x-bare-p50")
	b.ReportMetric(kb, "KB/ws")
	b.ReportMetric(bareKB, "bare-KB/ws")
	b.ReportMetric(files, "files/ws")
}

// openFiles is how many files this process has open, 0 where the system doesn't tell.
func openFiles() int {
	there, _ := os.ReadDir("/proc/self/fd")
	return len(there)
}
