package policies

import (
	"cmp"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/memkernel/memkernel/replay"
)

func TestParsePolicy(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		figures      []int
		ok           bool
	}{
		{"memkernel", replay.Memkernel, nil, true},
		{"memkernel-20k", replay.Memkernel, []int{20_000}, true},
		{"append-late", replay.AppendLate, nil, true},
		{"append-late-512", replay.AppendLate, []int{512}, true},
		{"clear-tool-uses-10", ClearTools, []int{10}, true},
		{"cache-ttl-20", CacheTTL, []int{20}, true},
		{"masking", maskingRule, nil, true},
		{"masking-10", maskingRule, []int{10}, true},
		{"masking-batch", maskingBatch, nil, true},
		{"masking-batch-30", maskingBatch, []int{30}, true},
		{"batch", batch, nil, true},
		{"batch-80k-30k", batch, []int{80_000, 30_000}, true},
		{"batch-60000-20k", batch, []int{60_000, 20_000}, true},
		{"oracle-90", replay.Oracle, []int{90}, true},
		{"recorded", "recorded", nil, true},
		{"claude-code", claudeCodeRule, nil, true},
		{"context-editing", contextEditingRule, nil, true},
		{"batch-80k", "", nil, false},
		{"batch-30k-80k", "", nil, false},
		{"batch-80k-30k-10k", "", nil, false},
		{"masking-3-4", "", nil, false},
		{"masking-batches", "", nil, false},
		{"claude-code-3", "", nil, false},
		{"recorded-1", "", nil, false},
		{"fullest-3", "", nil, false},
		{"sliding-", "", nil, false},
		{"sliding-k", "", nil, false},
		{"sliding-+5", "", nil, false},
		{"sliding-0", "", nil, false},
		{"sliding--5", "", nil, false},
		{"sliding5", "", nil, false},
		{"newest", "", nil, false},
		{"-5", "", nil, false},
		{"", "", nil, false},
	} {
		policy, figures, err := replay.ParsePolicy(c.name)
		if policy != c.policy || !slices.Equal(figures, c.figures) || (err == nil) != c.ok {
			t.Errorf("ParsePolicy(%q) = %q, %d, %v", c.name, policy, figures, err)
		}
	}
}

// threeTurns are three turns of which the last comes after a gap.
func threeTurns(gap time.Duration) *script {
	return newScript().user(100, "one").answer(50, "yes").user(200, "two").answer(50, "yes").wait(gap).user(300, "three").answer(50, "yes")
}

// TestTurnsAndSlidingByHand: of three turns the newest two stay, or 350 tokens and a line of
// 15 in front, since a prompt can't begin with an answer.
func TestTurnsAndSlidingByHand(t *testing.T) {
	for policy, want := range map[string][]usage{
		Turns + "-2":     {{0, 1100, 0, 13750, 1250}, {1100, 250, 0, 4225, 3225}, {1000, 550, 0, 7875, 6875}},
		Sliding + "-400": {{0, 1100, 0, 13750, 1250}, {1100, 250, 0, 4225, 3225}, {1000, 365, 0, 5562.5, 4562.5}},
	} {
		r := replayed(t, threeTurns(0).record(t, replay.Options{FixedTokens: 1000}), policy, nil)
		compareUsages(t, usages(r), want)
		if got, want := cutsOf(t, r), map[bool]string{true: "||turns", false: "||slide"}[policy == Turns+"-2"]; got != want {
			t.Errorf("%s: cuts %q, want %q", policy, got, want)
		}
	}
}

// shownResults lists what is in place of each tool result in a call's prompt.
func shownResults(items []replay.Item) (out []string) {
	for i := range items {
		for j := range items[i].Msg.Parts {
			if p := &items[i].Msg.Parts[j]; p.Result != nil {
				s, _ := resultText(p)
				out = append(out, s)
			}
		}
	}
	return out
}

// stepped asks a chooser for every call.
func stepped(rec *replay.Recording, by replay.Chooser, cold map[int]bool) (out []replay.Choice) {
	for n, c := range rec.Calls {
		model := rec.Model(c.Start)
		window := cmp.Or(rec.Opt.ContextWindow, model.ContextWindow)
		req := replay.Request{N: n, End: rec.End(n), Cold: cold[n], Room: rec.Room(window), Window: window, Model: model}
		out = append(out, by.Choose(req))
	}
	return out
}

func TestClearToolUses(t *testing.T) {
	// Results of 30,000 tokens each.
	s := newScript().user(0, "go")
	for range 5 {
		s.tool("Read", `{"file_path":"a"}`, 0, text(90_000))
	}
	s.answer(0, "done")
	rec := s.record(t, replay.Options{ContextWindow: 200_000, FixedTokens: 1000})
	var whole []int
	for _, c := range stepped(rec, newClearTools(rec, 0), nil) {
		n := 0
		for _, r := range shownResults(c.Items) {
			if r != cleared {
				n++
			}
		}
		whole = append(whole, n)
	}
	if want := []int{0, 1, 2, 3, 3, 3}; !slices.Equal(whole, want) {
		t.Errorf("results in full: %v, want %v", whole, want)
	}
	r := replayed(t, rec, ClearTools, nil)
	// The fifth call clears the first result, so all that is read is what the first
	// call wrote; the sixth clears the second, and reads what the second call wrote
	// (with the first result in its new form it was never written: the fixed part and
	// the question again).
	first := 1000 + rec.Items[0].Tokens
	if c := r.Calls[4]; c.Cut != "clear" || c.Read != first || c.Write != c.Input-first {
		t.Errorf("the call that clears: %+v, want %d read", c, first)
	}
	if r.Totals.Violations > 0 {
		t.Errorf("%d violations", r.Totals.Violations)
	}
}

func TestClearToolUsesClearsAtLeast(t *testing.T) {
	s := newScript().user(0, "go").tool("Read", `{}`, 0, text(30_000)) // 10,000 tokens: too little
	for range 3 {
		s.tool("Read", `{}`, 0, text(120_000))
	}
	rec := s.answer(0, "done").record(t, replay.Options{ContextWindow: 200_000})
	for n, c := range stepped(rec, newClearTools(rec, 0), nil) {
		if c.Cut != "" {
			t.Errorf("call %d cleared though less than %d tokens would go", n+1, clearAtLeast)
		}
	}
}

func TestCacheTTL(t *testing.T) {
	s := newScript().user(0, "go")
	for range 5 {
		s.tool("Read", `{"file_path":"a"}`, 0, text(100_000))
	}
	s.answer(0, "done").wait(time.Hour).user(0, "more").answer(0, "yes").user(0, "again").answer(0, "yes")
	rec := s.record(t, replay.Options{ContextWindow: 200_000, FixedTokens: 1000})
	cold := map[int]bool{0: true, 6: true}
	got := stepped(rec, newCacheTTL(rec, 0), cold)
	for n, c := range got[:6] {
		if c.Cut != "" {
			t.Errorf("call %d is warm and was pruned", n+1)
		}
	}
	var sizes []int
	for _, r := range shownResults(got[6].Items) {
		sizes = append(sizes, len(r))
	}
	// The results before the third answer from the end keep 1,500 characters of each
	// end, with two marks between and behind them.
	if len(sizes) != 5 || got[6].Cut != "ttl" || sizes[3] != 100_000 || sizes[4] != 100_000 || sizes[0] > 3100 || sizes[0] < 3000 || sizes[2] != sizes[0] {
		t.Fatalf("cut %q, results of %v characters", got[6].Cut, sizes)
	}
	for i, it := range got[6].Items {
		if !reflect.DeepEqual(got[7].Items[i].Msg, it.Msg) || got[7].Items[i].Text != it.Text {
			t.Errorf("message %d changed while the cache was warm", i)
		}
	}
	if got[7].Cut != "" {
		t.Error("a warm call was pruned")
	}
}

// TestCacheTTLClears: where shortening the ends does not do, the oldest results go
// until the prompt is below the mark.
func TestCacheTTLClears(t *testing.T) {
	s := newScript().user(0, "go")
	for range 100 {
		s.tool("Read", `{}`, 0, text(3900))
	}
	rec := s.answer(0, "done").wait(time.Hour).user(0, "more").answer(0, "yes").record(t, replay.Options{ContextWindow: 180_000, FixedTokens: 1000})
	p := newCacheTTL(rec, 0).(*trimmed)
	last := stepped(rec, p, map[int]bool{101: true})[101]
	gone := 0
	for i, r := range shownResults(last.Items) {
		if r == pruned {
			if gone++; i != gone-1 {
				t.Fatalf("result %d went before older ones", i+1)
			}
		}
	}
	size := p.chars(rec.End(101)) + 4*1000
	if gone == 0 || float64(size) >= pruneHardShare*180_000*pruneChars || float64(size+3900) < pruneHardShare*180_000*pruneChars {
		t.Errorf("%d results cleared, %d characters left", gone, size)
	}
}
