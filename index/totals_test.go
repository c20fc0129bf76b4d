package index

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
	ctx := context.Background()
	w := newWorkspace(t, map[string]string{"a.md": "# H\n\none two three\n\nfour\n", "b/c.md": "five\n"})
	ix := openNew(t)
	w.sync(t, ix)
	totals := func() (b []byte) {
		t.Helper()
		if err := ix.cur.write.QueryRow("SELECT block FROM chunks_fts_data WHERE id=1").Scan(&b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	want := totals()
	if err := mendTotals(ctx, ix.cur.write); err != nil {
		t.Fatal(err)
	}
	if got := totals(); !bytes.Equal(got, want) || len(got) != 4 {
		t.Errorf("totals % x became % x", want, got)
	}
}
