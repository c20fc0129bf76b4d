package represent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
	letters := `{"letters": [` + strings.TrimSuffix(strings.Repeat(`{"from": "the harbour master", "text": "`+strings.Repeat("Your berth is free again. ", 20)+`"}, `, 20), ", ") + `]}`
	cases := []struct {
		name string
		in   represent.EvidenceInput
		want string
	}{
		{"a log", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"kubectl logs web"}`, Text: logs}, ""},
		{"JSON", represent.EvidenceInput{Tool: "mcp__shop__orders", Input: `{}`, Text: objects}, "json"},
		{"texts in JSON", represent.EvidenceInput{Tool: "mcp__post__letters", Input: `{}`, Text: letters}, ""},
		{"test output", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"bun test"}`, Text: tests}, ""},
		{"search hits", represent.EvidenceInput{Tool: "Grep", Input: `{"pattern":"total"}`, Text: hits}, ""},
		{"a listing", represent.EvidenceInput{Tool: "Glob", Input: `{"pattern":"**/*.png"}`, Text: paths}, ""},
		{"a small result", represent.EvidenceInput{Tool: "Bash", Text: `[` + strings.TrimSuffix(rows(150, `{"order": %d, "items": %d, "city": "Lund"},`), ",\n") + `]`}, ""},
		{"an error", represent.EvidenceInput{Tool: "Bash", Text: objects, IsError: true}, ""},
		{"a message", represent.EvidenceInput{Text: objects, Message: true}, ""},
		{"code", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"make show"}`, Text: code}, ""},
		{"a read", represent.EvidenceInput{Tool: "Read", Input: `{"file_path":"/var/web.json"}`, Text: objects}, ""},
		{"a read by a shell", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"cat orders.json"}`, Text: objects}, ""},
		{"an edit's answer", represent.EvidenceInput{Tool: "Edit", Input: `{"file_path":"a.go","old_string":"a","new_string":"b"}`, Text: objects}, ""},
		{"a page that was asked for", represent.EvidenceInput{Tool: "Bash", Input: `{"command":"memkernel get ev-2"}`, Text: objects}, ""},
		{"no kind", represent.EvidenceInput{Tool: "Bash", Text: strings.Repeat("The shop opens at nine and closes late.\n", 300)}, ""},
	}
	for _, tt := range cases {
		tt.in.Resolver, tt.in.PageID = "memkernel get", "ev-1"
		if got := represent.Door(tt.in); got != tt.want {
			t.Errorf("%s: Door = %q, want %q", tt.name, got, tt.want)
		}
		tt.in.Resolver = ""
		if got := represent.Door(tt.in); got != "" {
			t.Errorf("%s without a resolver: Door = %q, want none", tt.name, got)
		}
	}
	own := represent.EvidenceInput{Tool: "memory_get", Text: objects, Resolver: "memory_get", PageID: "ev-1"}
	if got := represent.Door(own); got != "" {
		t.Errorf("the resolver's own result: Door = %q, want none", got)
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
		reps := represent.Evidence(in)
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
	long := `[{"text": "` + strings.Repeat("påls ", 900) + `"}, `
	if got := shorten(long + list(line, ", ") + `, {"text": "ends"}]`); !strings.Contains(got, `KB left out]`) || !strings.Contains(got, `{"text": "ends"}`) {
		t.Errorf("a long text: %s", got)
	}
	if got := shorten(`[{"boat": ` + strings.Repeat("7", 9000) + ` ends}]`); !strings.Contains(got, "ends}]") {
		t.Errorf("no JSON: %s", got)
	}
}

// TestDoorShowsJSONFlat: of JSON that is a quarter indentation nothing but that is left out.
func TestDoorShowsJSONFlat(t *testing.T) {
	t.Parallel()
	var tree strings.Builder
	tree.WriteString("{")
	for i := range 120 {
		fmt.Fprintf(&tree, "\n        \"pier %d\": {\n            \"depth\": %d,\n            \"boats\": [\n                %d,\n                %d\n            ]\n        },", i, i%9, 7*i, 7*i+1)
	}
	text := strings.TrimSuffix(tree.String(), ",") + "\n}"
	in := represent.EvidenceInput{Tool: "Bash", Input: `{"command":"harbour tree"}`, Text: text, Resolver: "memkernel get", PageID: "ev-1"}
	reps := represent.Evidence(in)
	if len(reps) == 0 || reps[0].Door != "json" {
		t.Fatalf("no representation for the door: %+v", reps)
	}
	shown, foot, _ := strings.Cut(reps[0].Text, "\n[of ")
	if 4*len(shown) > 3*len(text) || !strings.Contains(foot, "memkernel get ev-1") {
		t.Errorf("%d of %d bytes are shown, and at the end %q", len(shown), len(text), foot)
	}
	var got, want map[string]any
	if err := errors.Join(json.Unmarshal([]byte(shown), &got), json.Unmarshal([]byte(text), &want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("shown is other JSON, %v:\n%s", err, shown)
	}
}
