package fts5

import (
	"bytes"
	"context"
	"testing"

	"pgregory.net/rapid"
)

func TestVarint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := rapid.Uint64Max(1<<56-1).Draw(t, "v")
		b := appendVarint(nil, v)
		if got, n := varint(append(b, 7)); got != v || n != len(b) {
			t.Fatalf("%d becomes % x becomes %d in %d bytes", v, b, got, n)
		}
	})
	for _, b := range [][]byte{nil, {0x80}, bytes.Repeat([]byte{0xff}, 12)} {
		if _, n := varint(b); n != 0 {
			t.Errorf("% x is a varint", b)
		}
	}
}

// The totals are written as SQLite itself writes them: where it does so
// rightly, mending changes nothing.
func TestMendTotalsWritesWhatSQLiteWrites(t *testing.T) {
	f := newTable(t)
	f.put(t, 1, "one two three", "h", "a md")
	f.put(t, 7, "four", "", "a md")
	totals := func() (b []byte) {
		t.Helper()
		if err := f.db.QueryRow("SELECT block FROM chunks_fts_data WHERE id=1").Scan(&b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := totals()
	if err := mendTotals(context.Background(), f.db); err != nil {
		t.Fatal(err)
	}
	if got := totals(); !bytes.Equal(got, want) || len(got) != 5 {
		t.Errorf("totals % x became % x", want, got)
	}
}
