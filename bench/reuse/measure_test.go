package reuse

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
)

func say(parts ...memkernel.Part) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleAssistant, Parts: parts}
}

func text(s string) memkernel.Part { return memkernel.Part{Kind: memkernel.PartText, Text: s} }

func read(id, path string) memkernel.Part {
	return memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Read", Input: `{"file_path":"` + path + `"}`}}
}

func result(id, s string) memkernel.Message {
	return memkernel.Message{Role: memkernel.RoleUser, Parts: []memkernel.Part{{Kind: memkernel.PartToolResult,
		Result: &memkernel.ToolResult{CallID: id, Content: []memkernel.Part{text(s)}}}}}
}

// A session of three calls: two reads, and words that name what the first showed.
func TestMeasure(t *testing.T) {
	far := strings.Repeat("plain words\n", 2500) // over 8,000 tokens
	msgs := []memkernel.Message{
		{Role: memkernel.RoleUser, Parts: []memkernel.Part{text("go on")}},
		say(read("1", "pkg/ledger.go")), result("1", "func settleLedger() {}\n"),
		say(read("2", "pkg/ledger.go")), result("2", far),
		say(text("settleLedger is the one")),
	}
	c := Measure(msgs)
	cases := []struct {
		cell        Cell
		units, hits float64
	}{
		{Cell{tableName, "said 0", "0-9"}, 2, 1}, // settleLedger, in front of two calls
		{Cell{tablePage, "read result", "0-9"}, 3, 1},
		{Cell{tablePage, "user", "0-9"}, 3, 0},
		{Cell{tableRead, "read result", "0-9"}, 2, 1},
		{Cell{tableRead, "read before", "0-9"}, 1, 0},
		{Cell{tableState, "read, path touched since", "0-9"}, 1, 1},
		{Cell{tableState, "read, once", "0-9"}, 1, 0},
		{Cell{tableForm, "name", ""}, 0, 1},
	}
	for _, tc := range cases {
		if got := c[tc.cell]; got.Units != tc.units || got.Hits != tc.hits {
			t.Errorf("%v: %v units, %v hits, want %v and %v", tc.cell, got.Units, got.Hits, tc.units, tc.hits)
		}
	}
}

func TestRatesLeaveOneOut(t *testing.T) {
	k := Cell{tableName, "said 1", "0-9"}
	rates := Rates([]Counts{{k: {Units: 1000, Tokens: 500, Hits: 1}}, {k: {Units: 1000, Tokens: 500, Hits: 3}}})
	if len(rates) != 1 {
		t.Fatalf("%d rates", len(rates))
	}
	if r := rates[0]; r.PerUnit != 2 || r.Low != 1 || r.High != 3 || r.PerToken != 4000 {
		t.Errorf("%+v", r)
	}
}

func TestBucket(t *testing.T) {
	for n, want := range map[int]string{0: "0", 1: "1", 2: "2", 3: "3-4", 9: "9+", 80: "9+"} {
		if got := bucket(n, uses); got != want {
			t.Errorf("%d falls into %s, want %s", n, got, want)
		}
	}
}
