package memkernel_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"
)

// TestSampleShape holds the figures that testdata/README.md states, and that the
// recorded usage keeps the rules of a cache with a five-minute lifetime.
func TestSampleShape(t *testing.T) {
	const fixedTokens = 25_140
	data, err := os.ReadFile("testdata/session.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	var seen string
	calls, compactions, gaps, line := 0, 0, 0, 0
	for l := range bytes.Lines(data) {
		line++
		var rec struct {
			Type, Subtype, Timestamp string
			Message                  struct {
				ID    string
				Usage struct {
					Input    int `json:"input_tokens"`
					Read     int `json:"cache_read_input_tokens"`
					Write    int `json:"cache_creation_input_tokens"`
					Creation struct {
						M5 int `json:"ephemeral_5m_input_tokens"`
					} `json:"cache_creation"`
				}
			}
		}
		if err := json.Unmarshal(l, &rec); err != nil {
			t.Fatalf("line %d: %v", line, err)
		}
		if rec.Timestamp != "" {
			at, err := time.Parse(time.RFC3339, rec.Timestamp)
			if err != nil || at.Before(last) {
				t.Fatalf("line %d: time %q is broken or goes back", line, rec.Timestamp)
			}
			if !last.IsZero() && at.Sub(last) > 5*time.Minute {
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
		if total := u.Input + u.Read + u.Write; total < fixedTokens || u.Read < 0 || u.Write < 0 || u.Creation.M5 != u.Write {
			t.Errorf("line %d: usage %+v makes no sense", line, u)
		}
	}
	if calls != 184 || compactions != 1 || gaps != 12 {
		t.Errorf("%d calls, %d compactions, %d gaps; testdata/README.md says 184, 1, 12", calls, compactions, gaps)
	}
}
