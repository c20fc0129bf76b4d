package policies

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay"
)

// The mark of 80,000 tokens is 47,000. The third prompt would have 52,000: a call reads
// the 41,500 that the second one sent and 10,500 that are new and writes 4,500, which are
// all that the third one has behind its fixed part.
func TestClaudeCodeByHand(t *testing.T) {
	s := newScript().user(20_000, "one").answer(500, "yes").user(20_000, "two").answer(500, "yes").user(10_000, "three").answer(50, "yes").user(100, "four").answer(50, "yes")
	r := replayed(t, s.record(t, replay.Options{ContextWindow: 80_000, FixedTokens: 1000}), claudeCodeRule, nil)
	summary := 41_500 + 10_500*10.0 + 4500*50
	compareUsages(t, usages(r), []usage{{0, 21_000, 0, 262_500, 250_000}, {21_000, 20_500, 0, 277_250, 276_250},
		{1000, 4500, 0, 57_250 + summary, 56_250 + summary}, {5500, 150, 0, 7375, 6375}})
	if got := cutsOf(t, r); got != "||full|" {
		t.Errorf("cuts %q", got)
	}
}

// After a gap the summarising call finds nothing to read.
func TestSummaryOfAColdCache(t *testing.T) {
	s := newScript().user(40_000, "one").answer(500, "yes").wait(time.Hour).user(10_000, "two").answer(50, "yes")
	r := replayed(t, s.record(t, replay.Options{ContextWindow: 80_000, FixedTokens: 1000}), claudeCodeRule, nil)
	compareUsages(t, usages(r)[1:], []usage{{0, 5500, 0, 5500*12.5 + 51_500*10 + 225_000, 4500*12.5 + 51_500*10 + 225_000}})
}

// The files that were read last come back behind the summary, each once, as they were
// read last, and of a large one the beginning.
func TestClaudeCodeRestoresFiles(t *testing.T) {
	s := newScript().user(40_000, "go")
	for _, f := range []string{"a", "b", "c", "d", "e", "f", "b"} {
		s.tool("Read", `{"file_path":"/w/`+f+`"}`, 0, "first line of "+f+strings.Repeat("!", s.calls)+"\n"+text(600))
	}
	s.tool("Bash", `{"command":"make"}`, 0, "built").tool("Read", `{"file_path":"/w/large"}`, 0, "first line of large\n"+text(60_000))
	s.tool("Read", `{"file_path":"/w/gone"}`, 0, "no such file")
	s.msgs[len(s.msgs)-1].Parts[0].Result.IsError = true
	rec := s.answer(10, "done").record(t, replay.Options{ContextWindow: 90_000, FixedTokens: 1000})
	var got []string
	for _, c := range stepped(rec, newClaudeCode(rec), nil) {
		if c.Cut == "" {
			continue
		}
		for i, it := range c.Items {
			got = append(got, strings.Join(strings.Split(it.Text, "\n")[:min(2, strings.Count(it.Text, "\n")+1)], " "))
			if it.Tokens > claudeCodeFileTokens || strings.Contains(it.Text, "large") && it.Tokens < claudeCodeFileTokens-10 {
				t.Errorf("note %d has %d tokens", i, it.Tokens)
			}
		}
	}
	want := []string{"[summary of the session so far]", "[/w/large] first line of large", "[/w/b] first line of b!!!!!!", "[/w/f] first line of f!!!!!", "[/w/e] first line of e!!!!", "[/w/d] first line of d!!!"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// results is a question of 100 tokens and calls with results of 1,000 each; the calls
// themselves have 10. Masked, a result has 33.
func results(n int) *script {
	s := newScript().user(100, "go")
	for range n {
		s.tool("Bash", `{"command":"make"}`, 1000, text(2952))
	}
	return s
}

// Rolling, every call masks another result: it reads what is before that one, where a
// marker is, and writes the rest, with what is new.
func TestMaskingByHand(t *testing.T) {
	r := replayed(t, results(4).answer(50, "done").record(t, replay.Options{FixedTokens: 1000, ContextWindow: 500_000}), "masking-1", nil)
	compareUsages(t, usages(r), []usage{{0, 1100, 0, 13_750, 1250}, {1100, 1010, 0, 13_725, 12_725},
		{1110, 33 + 1010, 0, 1110 + 1043*12.5, 110 + 1043*12.5}, {1153, 1043, 0, 1153 + 1043*12.5, 153 + 1043*12.5}, {1196, 1043, 0, 1196 + 1043*12.5, 196 + 1043*12.5}})
	if got := cutsOf(t, r); got != "||mask|mask|mask" {
		t.Errorf("cuts %q", got)
	}
}

// In batches of two, the twelfth result makes two that are not among the newest ten, and
// the thirteenth one, which goes since the cache is cold.
func TestMaskingBatchByHand(t *testing.T) {
	s := results(12)
	s.wait(time.Hour).tool("Bash", `{"command":"make"}`, 1000, text(2952))
	r := replayed(t, s.answer(50, "done").record(t, replay.Options{FixedTokens: 1000, ContextWindow: 500_000}), "masking-batch-2", nil)
	if got := cutsOf(t, r); got != strings.Repeat("|", 12)+"mask|mask" {
		t.Errorf("cuts %q", got)
	}
	written := 33 + 10 + 33 + 10*1010 // behind the first call
	compareUsages(t, usages(r)[11:], []usage{{1100 + 10*1010, 1010, 0, 11_200 + 1010*12.5, 10_200 + 1010*12.5},
		{1110, written, 0, 1110 + float64(written)*12.5, 110 + float64(written)*12.5},
		{0, 1110 + 3*43 - 10 + 10*1010, 0, 11_329 * 12.5, 10_329 * 12.5}})
}

// Results that no call has shown stay, however many there are.
func TestMaskingShowsWhatIsNew(t *testing.T) {
	s := newScript().user(100, "go")
	var calls, answers []memkernel.Part
	for _, id := range []string{"a", "b", "c"} {
		calls = append(calls, memkernel.Part{Kind: memkernel.PartToolUse, Call: &memkernel.ToolCall{ID: id, Name: "Bash", Input: "{}"}})
		answers = append(answers, memkernel.Part{Kind: memkernel.PartToolResult, Result: &memkernel.ToolResult{CallID: id, Text: true, Content: []memkernel.Part{textPart(text(3000))}}})
	}
	s.say(memkernel.RoleAssistant, 0, calls...).say(memkernel.RoleUser, 0, answers...).answer(0, "done").user(10, "and?").answer(10, "no")
	got := stepped(s.record(t, replay.Options{}), newMasking(s.record(t, replay.Options{}), 1), nil)
	for i, want := range []int{0, 3, 1} {
		n := 0
		for _, r := range shownResults(got[i].Items) {
			if r != masked {
				n++
			}
		}
		if n != want {
			t.Errorf("call %d shows %d results in full, want %d", i+1, n, want)
		}
	}
}

// The third prompt has 5,500 tokens of messages, more than 5,000: the newest within 2,000
// stay, behind a line of 15, since a prompt can't begin with an answer.
func TestBatchByHand(t *testing.T) {
	s := newScript().user(2000, "one").answer(500, "yes").user(1000, "two").answer(1000, "yes").user(1000, "three").answer(50, "yes").user(100, "four").answer(50, "yes")
	r := replayed(t, s.record(t, replay.Options{FixedTokens: 1000}), "batch-5k-2k", nil)
	if got := cutsOf(t, r); got != "||batch|" {
		t.Errorf("cuts %q", got)
	}
	compareUsages(t, usages(r), []usage{{0, 3000, 0, 37_500, 25_000}, {3000, 1500, 0, 21_750, 20_750}, {1000, 2015, 0, 26_187.5, 25_187.5}, {3015, 150, 0, 4890, 3890}})
}

// The fourth result of 30,000 makes more than 100,000, so the first is cleared, and by the
// next call the second. With a long answer the three that stay are over 150,000, and all is
// replaced by a summary of what the call before sent and of what is new.
func TestContextEditingByHand(t *testing.T) {
	s := newScript().user(100, "go")
	for range 5 {
		s.tool("Bash", `{"command":"make"}`, 30_000, text(90_000))
	}
	s.answer(60_000, "a long answer").user(100, "and?").answer(50, "yes").user(100, "more").answer(50, "yes")
	r := replayed(t, s.record(t, replay.Options{FixedTokens: 1000, ContextWindow: 500_000}), contextEditingRule, nil)
	if got := cutsOf(t, r); got != "||||clear|clear|compact|" {
		t.Errorf("cuts %q", got)
	}
	const gone = 35 // a cleared result
	kept := 1100 + 2*(10+gone) + 3*30_010
	summary := float64(kept) + 60_100*10 + 3500*50
	compareUsages(t, usages(r)[3:], []usage{
		{61_120, 30_010, 0, 61_120 + 30_010*12.5, 60_120 + 30_010*12.5},
		{1100, 10 + gone + 3*30_010, 0, 1100 + (10+gone+3*30_010)*12.5, 100 + (10+gone+3*30_010)*12.5},
		{1100, 2*(10+gone) + 3*30_010, 0, 1100 + (2*(10+gone)+3*30_010)*12.5, 100 + (2*(10+gone)+3*30_010)*12.5},
		{1000, 3500, 0, 1000 + 3500*12.5 + summary, 3500*12.5 + summary},
		{4500, 150, 0, 4500 + 150*12.5, 3500 + 150*12.5},
	})
}
