package journal

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/memkernel/memkernel/internal/store"
)

func benchTransaction(i int) Transaction {
	var us []Update
	for k := range 4 {
		us = append(us, with(note("facts", OpMerge, fmt.Sprintf(`[{"id":"f%d-%d","value":"a sentence of the usual length, %d"}]`, i, k, i)), func(u *Update) {
			u.ID = fmt.Sprint("u", k)
		}))
	}
	return tx(fmt.Sprint("t", i), us...)
}

// BenchmarkWriteback commits four updates with validation; "x-opaque" is its time
// over that of an append of the same bytes in the same run, fsync included on both
// sides.
func BenchmarkWriteback(b *testing.B) {
	dir, r := b.TempDir(), testRules(b)
	opaque, err := openPath(filepath.Join(dir, "opaque.jsonl"), nil)
	if err != nil {
		b.Fatal(err)
	}
	checked, err := openPath(filepath.Join(dir, "checked.jsonl"), nil)
	if err != nil {
		b.Fatal(err)
	}
	var slow, fast time.Duration
	i := 0
	for b.Loop() {
		x := benchTransaction(i)
		body, _, _ := x.stage()
		i++
		start := time.Now()
		if _, err := opaque.Append(true, store.Record{Op: "turn", ID: x.Key, Body: body}); err != nil {
			b.Fatal(err)
		}
		fast += time.Since(start)
		start = time.Now()
		mustWriteback(b, checked, r, x)
		slow += time.Since(start)
	}
	b.ReportMetric(float64(slow)/float64(fast), "x-opaque")
}

// BenchmarkReplay opens a journal of 1,000 transactions; "x-compacted" is its time
// over that of opening the same journal compacted.
func BenchmarkReplay(b *testing.B) {
	path := filepath.Join(b.TempDir(), "journal.jsonl")
	j, err := openPath(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	r := testRules(b)
	for i := range 1000 {
		mustWriteback(b, j, r, benchTransaction(i))
	}
	open := func() time.Duration {
		start := time.Now()
		if _, err := openPath(path, &Options{ReadOnly: true}); err != nil {
			b.Fatal(err)
		}
		return time.Since(start)
	}
	var whole time.Duration
	n := 0
	for b.Loop() {
		whole += open()
		n++
	}
	if err := j.Compact(); err != nil {
		b.Fatal(err)
	}
	var short time.Duration
	for range n {
		short += open()
	}
	b.ReportMetric(float64(whole)/float64(short), "x-compacted")
}
