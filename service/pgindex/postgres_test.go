//go:build unix

package pgindex

import (
	"context"
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

// Texts that no text of PostgreSQL can hold come back byte for byte.
func TestOddTexts(t *testing.T) {
	ix := open(t, freshSchema(t))
	f := files{"memory/odd.md": "zero\x00byte and \xff\xfe bad utf8 marmalade", "memory/\xff.md": "unnamable"}
	r := fill(t, ix, f, day)
	if len(r.Failed) != 1 || r.Failed[0].Path != "memory/\xff.md" {
		t.Errorf("failed: %v", r.Failed)
	}
	hits := find(t, ix, "marmalade")
	if len(hits) != 1 || hits[0].Text != f["memory/odd.md"] {
		t.Errorf("hits %+v", hits)
	}
	for _, q := range []string{"", "\x00", "\"", "NEAR(", "col:", "' OR 1=1 --", "\xff", "🦊", "מרמלדה"} {
		if _, err := ix.Search(context.Background(), index.Query{Text: q, K: 5}); err != nil {
			t.Errorf("%q: %v", q, err)
		}
	}
	sound(t, ix)
}
