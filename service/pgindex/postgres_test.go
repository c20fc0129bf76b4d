//go:build unix

package pgindex

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel/index"
)

var notes = files{
	"MEMORY.md":            "The vault code is 4711.\n\nAnn likes espresso.",
	"memory/2026-01-01.md": "We deploy on Friday from staging.\n\nStaging listens on port 8443.",
	"memory/2026-01-02.md": "The database migration failed.\n\n数据库 内存泄漏 was fixed.",
}

func TestSyncAndSearch(t *testing.T) {
	ix := open(t, freshSchema(t))
	r := fill(t, ix, notes, day)
	if r.Added != 3 || r.ChunksAdded != 6 || len(r.Failed) != 0 {
		t.Fatalf("first sync: %+v", r)
	}
	if got := places(find(t, ix, "which port does staging use?")); got != "memory/2026-01-01.md:3 memory/2026-01-01.md:1" {
		t.Errorf("hits %s", got)
	}
	if got := places(find(t, ix, "内存")); got != "memory/2026-01-02.md:3" {
		t.Errorf("Chinese: %s", got)
	}
	if r := fill(t, ix, notes, day); r.Unchanged != 3 || r.Read != 0 {
		t.Errorf("nothing changed, but %+v", r)
	}
	sound(t, ix)

	changed := files{"memory/2026-01-01.md": "We deploy on Monday.\n\nStaging listens on port 8443.", "memory/x.md": "new"}
	lag, err := ix.Lag(context.Background(), changed.source(day.Add(time.Hour)))
	if err != nil || lag.Files != 2 || lag.Removed != 2 || lag.Rules {
		t.Errorf("behind: %+v, %v", lag, err)
	}
	r = fill(t, ix, changed, day.Add(time.Hour))
	if r.Added != 1 || r.Changed != 1 || r.Removed != 2 || r.ChunksKept != 1 || r.ChunksAdded != 2 || r.ChunksRemoved != 5 {
		t.Errorf("second sync: %+v", r)
	}
	if got := places(find(t, ix, "vault code")); got != "" {
		t.Errorf("a removed file is found: %s", got)
	}
	lag, err = ix.Lag(context.Background(), changed.source(day.Add(time.Hour)))
	if err != nil || !lag.Zero() {
		t.Errorf("still behind: %+v, %v", lag, err)
	}
	s, err := ix.Stats(context.Background())
	if err != nil || s.Files != 2 || s.Chunks != 3 || s.Chunker != "paragraphs" {
		t.Errorf("statistics %+v, %v", s, err)
	}
	sound(t, ix)
}

// Chunks have the scores that SQLite gives them: by the rarity of words, the length of chunks, and
// the place of words in text, headings and file names.
func TestScoresAreSQLites(t *testing.T) {
	ix := open(t, freshSchema(t))
	lite, err := index.Open(filepath.Join(t.TempDir(), "i.sqlite"), &index.Options{Chunker: "paragraphs"})
	if err != nil {
		t.Fatal(err)
	}
	defer lite.Close()
	f := maps.Clone(notes)
	f["memory/staging.md"] = "Port, port and port again.\n\n" + strings.Repeat("The harbour has a long port side. ", 20) + "\n\nIt's Ann's O'Neill\\port."
	f["memory/friday.md"] = strings.Repeat("Friday staging ", 200) + "port"
	fill(t, ix, f, day)
	if _, err := lite.Sync(context.Background(), f.source(day), f.read, nil); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"port", "staging port", "which port does staging use on friday?", "vault code", "O'Neill\\port", "内存泄漏", "ann md"} {
		q := index.Query{Text: question, K: 20, Holders: true}
		want, err := lite.Search(context.Background(), q)
		if err != nil || len(want.Keyword) == 0 {
			t.Fatal(question, len(want.Keyword), err)
		}
		got, err := ix.Search(context.Background(), q)
		if err != nil || places(got.Keyword) != places(want.Keyword) || !slices.Equal(got.Holders, want.Holders) {
			t.Errorf("%q: %s %v, want %s %v, %v", question, places(got.Keyword), got.Holders, places(want.Keyword), want.Holders, err)
			continue
		}
		for i := range want.Keyword {
			if g, w := got.Keyword[i].Raw, want.Keyword[i].Raw; math.Abs(g-w) > 1e-5*w {
				t.Errorf("%q: %s scores %g, want %g", question, places(got.Keyword[i:i+1]), g, w)
			}
		}
	}
}

// Texts that no text of PostgreSQL can hold come back byte for byte.
func TestOddTexts(t *testing.T) {
	ix := open(t, freshSchema(t))
	huge := []byte("marzipan")
	for i := range 200_000 {
		huge = fmt.Appendf(huge, " w%dx", i)
	}
	f := files{"memory/odd.md": "zero\x00byte and \xff\xfe bad utf8 marmalade", "memory/\xff.md": "unnamable", "memory/huge.md": string(huge)}
	r := fill(t, ix, f, day)
	if len(r.Failed) != 1 || r.Failed[0].Path != "memory/\xff.md" {
		t.Errorf("failed: %v", r.Failed)
	}
	hits := find(t, ix, "marmalade")
	if len(hits) != 1 || hits[0].Text != f["memory/odd.md"] {
		t.Errorf("hits %+v", hits)
	}
	if got := places(find(t, ix, "marzipan")); got != "memory/huge.md:1" {
		t.Errorf("a huge chunk: %q", got)
	}
	for _, q := range []string{"", "\x00", "\"", "NEAR(", "col:", "' OR 1=1 --", "\xff", "🦊", "מרמלדה"} {
		if _, err := ix.Search(context.Background(), index.Query{Text: q, K: 5}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
	sound(t, ix)
}
