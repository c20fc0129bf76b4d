package index

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A chunk is found by the days that it speaks of. They follow the day that it was
// written on, even if nothing else changes, and survive new rules of analysis.
func TestDays(t *testing.T) {
	ix := openNew(t)
	clock := int64(0)
	sync := func(date string) SyncReport {
		t.Helper()
		clock++
		stat := FileStat{Path: "notes/k.md", Size: 9, ModTime: time.Unix(clock, 7)}
		r, err := ix.Sync(context.Background(), func(yield func(FileStat, error) bool) { yield(stat, nil) },
			func(string) ([]Chunk, error) {
				return []Chunk{{Text: "yesterday the harbour froze", StartLine: 1, EndLine: 1, Date: date},
					{Text: "letzten Monat nicht", StartLine: 3, EndLine: 3, Date: date}}, nil
			}, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkClean(t, ix)
		return r
	}
	want := func(day string, lines ...string) {
		t.Helper()
		got, err := ix.Search(context.Background(), Query{Text: "nowhere", Days: []string{day}, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines, slices.Sorted(slices.Values(places(got.Keyword)))); diff != "" {
			t.Errorf("%s: %s", day, diff)
		}
		if slices.Contains(got.Terms, day) {
			t.Errorf("terms %q", got.Terms)
		}
	}
	sync("2023-05-08")
	want("20230507", "notes/k.md:1")
	want("202304", "notes/k.md:3")
	want("20230508", "notes/k.md:1", "notes/k.md:3")

	if r := sync("2024-03-01"); r.ChunksAdded != 2 || r.ChunksRemoved != 2 {
		t.Errorf("another day: %+v", r)
	}
	want("20230507")
	want("20240229", "notes/k.md:1")

	for _, q := range []string{"UPDATE meta SET value='0' WHERE key='analysis'", "DELETE FROM chunks_fts", "UPDATE meta SET value=value+1 WHERE key='generation'"} {
		if _, err := ix.door.cur.write.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	if r := sync("2024-03-01"); r.Reanalysed != 2 {
		t.Errorf("%+v", r)
	}
	want("20240229", "notes/k.md:1")

	sync("")
	want("20240229")
	if got := places(ask(t, ix, "harbour")); !cmp.Equal(got, []string{"notes/k.md:1"}) {
		t.Errorf("without a day: %v", got)
	}
}
