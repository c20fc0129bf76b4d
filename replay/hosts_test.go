package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// cutsOf joins why the calls of a replay cut.
func cutsOf(t *testing.T, r *Result) string {
	t.Helper()
	var cuts []string
	for _, c := range r.Calls {
		cuts = append(cuts, c.Cut)
		if c.Violations > 0 || c.Overflow {
			t.Errorf("%s: %+v", r.Policy, c)
		}
	}
	return strings.Join(cuts, "|")
}

// The host compacted before the third call, cleared a result before the fourth, and kept
// its question: the recording's own messages are read where they were written.
func TestRecordedByHand(t *testing.T) {
	s := newScript().user(1000, "one").answer(500, "yes").user(2000, "two").tool("Bash", `{"command":"make"}`, 3000, text(8952)).answer(200, "made").user(100, "three").answer(50, "yes")
	rec := s.record(t, Options{FixedTokens: 1000})
	summary := memkernel.Message{Key: "s", Role: memkernel.RoleUser, Origin: memkernel.OriginSummary, Parts: []memkernel.Part{textPart(text(300))}} // 104 tokens
	stub := rec.Messages[4]
	short := *stub.Parts[0].Result
	short.Content, short.Text = []memkernel.Part{textPart("cleared")}, true
	stub.Parts = []memkernel.Part{stub.Parts[0]}
	stub.Parts[0].Result = &short
	rec.rewrites = []rewrite{{call: 2, from: 4, head: []memkernel.Message{summary, rec.Messages[2], rec.Messages[3]}},
		{call: 3, from: 6, head: []memkernel.Message{summary, rec.Messages[2], rec.Messages[3], stub, rec.Messages[5]}}}
	r := replayed(t, rec, asRecorded)
	if got := cutsOf(t, r); got != "||host|host" {
		t.Errorf("cuts %q", got)
	}
	cleared := rec.Counter.Message(&stub)
	call := 4500 + 10*10.0 + 104*50 // what the second call sent was read, the answer is new
	compareUsages(t, usages(r), []usage{{0, 2000, 0, 25_000, 12_500}, {2000, 2500, 0, 33_250, 32_250},
		{1000, 104 + 2000 + 10 + 3000, 0, 1000 + 5114*12.5 + call, 5114*12.5 + call},
		{1000, 2114 + cleared + 200 + 100, 0, 1000 + float64(2414+cleared)*12.5, float64(2414+cleared) * 12.5}})
}

// What is taken from a transcript is what the host sent.
func TestRecordedFromTranscript(t *testing.T) {
	for _, name := range []string{"claude-code-compacted.jsonl", "claude-code.jsonl", "codex.jsonl", "pi-v3.jsonl", "pi-v1.jsonl"} {
		s, err := transcript.LoadFile("../transcript/testdata/"+name, nil)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := Record(s, Options{View: transcript.Full, Prices: testBook(t), Model: "marked"})
		if err != nil {
			t.Fatal(err)
		}
		cutsOf(t, replayed(t, rec, asRecorded))
		full := s.View(transcript.Full)
		calls := transcript.Calls(full)
		at := calls[len(calls)-1].Index
		sent, rewritten := full[:at], false
		for _, w := range s.Rewrites() {
			if w.At <= at {
				sent, rewritten = append(slices.Clone(w.Messages), full[w.At:at]...), true
			}
		}
		want, _ := transcript.Repair(sent, false)
		var texts, shown []string
		for i := range want {
			texts = append(texts, recall.TextOf(want[i]))
		}
		var choices []Choice
		by := &hostPolicy{rec: rec, by: &recorded{History: History{Rec: rec}}}
		for n, c := range rec.Calls {
			choices = append(choices, by.by.Choose(by.request(n, c.Start)))
		}
		for _, it := range choices[len(choices)-1].Items {
			shown = append(shown, it.Text)
		}
		if diff := cmp.Diff(texts, shown); diff != "" || rewritten == (name == "codex.jsonl") {
			t.Errorf("%s: the last call (-want +got):\n%s", name, diff)
		}
	}
}
