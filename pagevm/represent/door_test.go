package represent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/represent"
)

// rows writes n numbered lines.
func rows(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i, i%7)
	}
	return b.String()
}

func TestDoorNamesWhatIsShortened(t *testing.T) {
	t.Parallel()
	tests := rows(300, "web test: (pass) shop > shows page %d of %d [12ms]")
	logs := rows(300, "2026-11-02T10:00:00Z served request %d for tenant %d")
	hits := rows(300, "shop/cart/line%d.go:%d:	total += price")
	paths := rows(600, "shop/images/product%d/size%d.png")
	objects := `[` + strings.TrimSuffix(rows(300, `{"order": %d, "items": %d, "city": "Lund"},`), ",\n") + `]`
	code := rows(300, "func line%d() int { return %d }")
	cases := []struct {
		name string
		in   represent.EvidenceInput
		want string
	}{
		{"test output", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"bun test"}`, Text: tests}, "test output"},
		{"a log", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"kubectl logs web"}`, Text: logs}, "log"},
		{"search hits", represent.EvidenceInput{Tool: "Grep", Input: `{"pattern":"total"}`, Text: hits}, "search hits"},
		{"a listing", represent.EvidenceInput{Tool: "Glob", Input: `{"pattern":"**/*.png"}`, Text: paths}, "listing"},
		{"JSON", represent.EvidenceInput{Tool: "mcp__shop__orders", Input: `{}`, Text: objects}, "json"},
		{"a small result", represent.EvidenceInput{Tool: "Bash", Text: logs[:7000]}, ""},
		{"an error", represent.EvidenceInput{Tool: "Bash", Text: logs, IsError: true}, ""},
		{"a message", represent.EvidenceInput{Text: logs, Message: true}, ""},
		{"code", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"make show"}`, Text: code}, ""},
		{"a read of a log", represent.EvidenceInput{Tool: "Read", Input: `{"file_path":"/var/web.log"}`, Text: logs}, ""},
		{"a read by a shell", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"cat orders.json"}`, Text: objects}, ""},
		{"an edit's answer", represent.EvidenceInput{Tool: "Edit", Input: `{"file_path":"a.go","old_string":"a","new_string":"b"}`, Text: hits}, ""},
		{"a page that was asked for", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"memkernel get ev-2"}`, Text: logs}, ""},
		{"no kind", represent.EvidenceInput{Tool: "Bash", Text: strings.Repeat("The shop opens at nine and closes late.\n", 300)}, ""},
	}
	for _, tt := range cases {
		tt.in.Resolver, tt.in.PageID = "memkernel get", "ev-1"
		if got := represent.Door(tt.in, represent.DoorKinds()); got != tt.want {
			t.Errorf("%s: Door = %q, want %q", tt.name, got, tt.want)
		}
		if got := represent.Door(tt.in, []string{}); got != "" {
			t.Errorf("%s with no kinds: Door = %q, want none", tt.name, got)
		}
		tt.in.Resolver = ""
		if got := represent.Door(tt.in, represent.DoorKinds()); got != "" {
			t.Errorf("%s without a resolver: Door = %q, want none", tt.name, got)
		}
	}
	own := represent.EvidenceInput{Tool: "memory_get", Text: logs, Resolver: "memory_get", PageID: "ev-1"}
	if got := represent.Door(own, represent.DoorKinds()); got != "" {
		t.Errorf("the resolver's own result: Door = %q, want none", got)
	}
}

func TestDoorKeepsHowARunCameOut(t *testing.T) {
	t.Parallel()
	pass := rows(40, "web test: (pass) shop > rejects an error in page %d of %d [12ms]")
	failure := []string{
		"web test: error: expected 12 to be 13",
		"web test: Expected: 13",
		"web test: Received: 12",
		"web test:       at total (/shop/cart/total.ts:41:7)",
		"web test: (fail) cart > adds up [3.00ms]",
	}
	end := []string{" 812 pass", " 1 fail", "Ran 813 tests across 40 files. [9.21s]"}
	text := strings.Repeat(pass, 6) + strings.Join(failure, "\n") + "\n" + strings.Repeat(pass, 6) + strings.Join(end, "\n")
	in := represent.EvidenceInput{Tool: "Bash", Input: `{"command":"bun test"}`, Text: text, Resolver: "memkernel get", PageID: "ev-1"}
	reps := represent.Evidence(in, &represent.Options{Door: represent.DoorKinds()})
	if len(reps) == 0 || reps[0].Level != pagevm.Compressed || reps[0].Door != "test output" {
		t.Fatalf("the first representation of test output is %+v, want one for the door", reps)
	}
	if n := len(reps[0].Text); n > len(text)/2 {
		t.Errorf("shortened to %d of %d bytes, want half at most", n, len(text))
	}
	shown := strings.Split(reps[0].Text, "\n")
	for _, line := range slices.Concat(failure, end) {
		if !slices.Contains(shown, line) {
			t.Errorf("the line %q is left out", line)
		}
	}
	if off := represent.Evidence(in, &represent.Options{Door: []string{}}); off[0].Door != "" {
		t.Error("a result is for the door though no kind is")
	}
}

// TestDoorShowsWholeRecords: of a long list of JSON the first records, those that tell errors and the
// last one are shown whole, and what is left out is counted; a long text in one is cut short. What is
// no JSON at its end is shortened as any text is.
func TestDoorShowsWholeRecords(t *testing.T) {
	t.Parallel()
	list := func(format, between string) string {
		var records []string
		for i := range 400 {
			state := "moored"
			if i%90 == 89 {
				state = "failed: the engine is flooded"
			}
			records = append(records, fmt.Sprintf(format, i, state))
		}
		return strings.Join(records, between)
	}
	line := `{"boat": %d, "state": "%s", "berth": {"pier": "north", "depth": 3.5}}`
	shorten := func(text string) string {
		in := represent.EvidenceInput{Tool: "Bash", Input: `{"command":"harbour list"}`, Text: text, Resolver: "memkernel get", PageID: "ev-1"}
		reps := represent.Evidence(in, nil)
		if len(reps) == 0 || reps[0].Level != pagevm.Compressed || reps[0].Door != "json" {
			t.Fatalf("no representation for the door: %+v", reps)
		}
		if n := len(reps[0].Text); 2*n > len(text) {
			t.Errorf("shortened to %d of %d bytes, want half at most", n, len(text))
		}
		return reps[0].Text
	}
	for name, text := range map[string]string{
		"an array":   "[" + list(line, ", ") + "]",
		"indented":   "[\n  " + list(line, ",\n  ") + "\n]",
		"in objects": `{"total": 400, "page": {"boats": [` + list(line, ",") + `]}, "next": null}`,
		"lines":      list(line, "\n"),
	} {
		got := shorten(text)
		for _, i := range []int{0, 1, 2, 89, 179, 269, 359, 399} {
			if want := fmt.Sprintf(`{"boat": %d, "state": "`, i); !strings.Contains(got, want) || !strings.Contains(got[strings.Index(got, want):], `"depth": 3.5}}`) {
				t.Errorf("%s: record %d is not shown whole", name, i)
			}
		}
		if !strings.Contains(got, "[… 89 elements left out]") || strings.Contains(got, `{"boat": 300,`) {
			t.Errorf("%s: what is left out is not counted:\n%s", name, got)
		}
	}
	if got := shorten(`{"total": 400, "page": {"boats": [` + list(line, ",") + `]}, "next": null}`); !strings.Contains(got, `"total": 400`) || !strings.Contains(got, `"next": null`) {
		t.Error("a short member is left out")
	}
	long := `{"text": "` + strings.Repeat("påls ", 900) + `"}, `
	if got := shorten(`{"log": [` + strings.Repeat(long, 4) + `{"text": "ends"}]}`); !strings.Contains(got, `KB left out]`) || !strings.Contains(got, `{"text": "ends"}`) {
		t.Errorf("a long text: %s", got)
	}
	if got := shorten(`[{"boat": ` + strings.Repeat("7", 9000) + ` ends}]`); !strings.Contains(got, "ends}]") {
		t.Errorf("no JSON: %s", got)
	}
}
