//go:build unix

package pgindex

import (
	"context"
	"slices"
	"testing"

	"github.com/memkernel/memkernel/index"
)

// A chunk is found by the days that it speaks of, which follow the day that it was
// written on.
func TestDays(t *testing.T) {
	ix := open(t, freshSchema(t))
	for i, tc := range []struct{ written, day, want string }{
		{"2023-05-08", "20230507", "k.md:1"},
		{"2024-03-01", "20230507", ""},
		{"2024-03-01", "20240229", "k.md:1"},
		{"", "20240229", ""},
	} {
		f := files{"k.md": "yesterday the harbour froze"}
		read := func(path string) ([]index.Chunk, error) {
			chunks, err := f.read(path)
			chunks[0].Date = tc.written
			return chunks, err
		}
		if _, err := ix.Sync(context.Background(), f.source(day.AddDate(0, 0, i)), read, nil); err != nil {
			t.Fatal(err)
		}
		sound(t, ix)
		got, err := ix.Search(context.Background(), index.Query{Text: "nowhere", Days: []string{tc.day}, K: 10})
		if err != nil {
			t.Fatal(err)
		}
		if p := places(got.Keyword); p != tc.want || slices.Contains(got.Terms, tc.day) {
			t.Errorf("written %q, day %s: %q, want %q; terms %q", tc.written, tc.day, p, tc.want, got.Terms)
		}
	}
}
