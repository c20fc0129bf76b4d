package main

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"
)

const bundled = "../../testdata/session.jsonl"

func TestBundledSampleIsCurrent(t *testing.T) {
	got, err := os.ReadFile(bundled)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, Generate(defaultSeed)) {
		t.Error("testdata/session.jsonl differs from what the generator writes: run go generate ./internal/samplegen")
	}
}

func TestSeedDecides(t *testing.T) {
	if bytes.Equal(Generate(1), Generate(2)) {
		t.Error("two seeds gave the same session")
	}
}

// TestSampleShape holds the figures that testdata/README.md states, and that the
// recorded usage keeps the rules of a cache with a five-minute lifetime.
func TestSampleShape(t *testing.T) {
	data := Generate(defaultSeed)
	if len(data) > 1_200_000 {
		t.Errorf("sample is %d bytes, want at most 1,200,000", len(data))
	}
	var last time.Time
	var seen string
	calls, compactions, gaps := 0, 0, 0
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		var rec struct {
			Type, Subtype, Timestamp string
			Message                  struct {
				ID    string
				Usage usage
			}
		}
		if err := json.Unmarshal(line, &rec); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if rec.Timestamp != "" {
			at, err := time.Parse(time.RFC3339, rec.Timestamp)
			if err != nil || at.Before(last) {
				t.Fatalf("line %d: time %q is broken or goes back", i+1, rec.Timestamp)
			}
			if !last.IsZero() && at.Sub(last) > cacheLifetime {
				gaps++
			}
			last = at
		}
		if rec.Subtype == "compact_boundary" {
			compactions++
		}
		u := rec.Message.Usage
		if rec.Type != "assistant" || rec.Message.ID == seen {
			continue
		}
		seen = rec.Message.ID
		calls++
		if total := u.Input + u.Read + u.Write; total < fixedTokens || u.Read < 0 || u.Write < 0 || u.CacheCreation.M5 != u.Write {
			t.Errorf("line %d: usage %+v makes no sense", i+1, u)
		}
	}
	if calls != 184 || compactions != 1 || gaps != 12 {
		t.Errorf("%d calls, %d compactions, %d gaps; testdata/README.md says 184, 1, 12", calls, compactions, gaps)
	}
}

func TestUnifiedCutsToTheChange(t *testing.T) {
	got := unified("a.txt", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\nV\n6\n7\n8\n", &rng{state: 1})
	want := "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+V\n 6\n 7\n 8\n"
	if !bytes.HasSuffix([]byte(got), []byte(want)) {
		t.Errorf("unified =\n%s\nwant end\n%s", got, want)
	}
}
