package replay

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
)

func TestParsePolicy(t *testing.T) {
	for _, c := range []struct {
		name, policy string
		figures      []int
		ok           bool
	}{
		{"memkernel", Memkernel, nil, true},
		{"memkernel-20k", Memkernel, []int{20_000}, true},
		{"append-late", AppendLate, nil, true},
		{"append-late-512", AppendLate, []int{512}, true},
		{"clear-tool-uses-10", ClearTools, []int{10}, true},
		{"cache-ttl-20", CacheTTL, []int{20}, true},
		{"masking", Masking, nil, true},
		{"masking-10", Masking, []int{10}, true},
		{"masking-batch", MaskingBatch, nil, true},
		{"masking-batch-30", MaskingBatch, []int{30}, true},
		{"batch", Batch, nil, true},
		{"batch-80k-30k", Batch, []int{80_000, 30_000}, true},
		{"batch-60000-20k", Batch, []int{60_000, 20_000}, true},
		{"oracle-90", Oracle, []int{90}, true},
		{"recorded", AsRecorded, nil, true},
		{"claude-code", ClaudeCode, nil, true},
		{"context-editing", ContextEditing, nil, true},
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
		policy, figures, err := ParsePolicy(c.name)
		if policy != c.policy || !slices.Equal(figures, c.figures) || (err == nil) != c.ok {
			t.Errorf("ParsePolicy(%q) = %q, %d, %v", c.name, policy, figures, err)
		}
	}
}

// threeTurns are three turns of which the last comes after a gap.
func threeTurns(gap time.Duration) *script {
	return newScript().user(100, "one").answer(50, "yes").user(200, "two").answer(50, "yes").wait(gap).user(300, "three").answer(50, "yes")
}

func TestBillsByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		s      *script
		policy string
		opt    Options
		want   []usage
		cuts   string
	}{
		// 1 to 2: what is there is read at 1, what is new written at 12.5. 3: all
		// cold.
		{"5m", threeTurns(10 * time.Minute), Fullest, Options{},
			[]usage{{0, 1100, 0, 13750, 1250}, {1100, 250, 0, 4225, 3225}, {0, 1700, 0, 21250, 8750}}, "||"},
		// Long entries survive the gap and cost 20 to write.
		{"1h", threeTurns(10 * time.Minute), Fullest, Options{TTL: time.Hour},
			[]usage{{0, 1100, 0, 22000, 2000}, {1100, 250, 0, 6100, 5100}, {1350, 350, 0, 8350, 7350}}, "||"},
		// An automatic cache writes nothing: what is new is plain input at 10.
		{"auto", threeTurns(10 * time.Minute), Fullest, Options{Model: "auto"},
			[]usage{{0, 0, 1100, 11000, 1000}, {1100, 0, 250, 3600, 2600}, {0, 0, 1700, 17000, 7000}}, "||"},
		// The third prompt of 9,000 is over 8,000: summary (2,000) and newest message are
		// written, the fixed part is read, and the summary call reads 7,000 and writes 2,000.
		{"append-late", newScript().user(1000, "one").answer(500, "yes").user(4000, "two").answer(500, "yes").user(3000, "three").answer(50, "yes"), AppendLate,
			Options{ContextWindow: 10_000, Reserve: 1000},
			[]usage{{0, 2000, 0, 25000, 12500}, {2000, 4500, 0, 58250, 57250}, {1000, 5000, 0, 170500, 169500}}, "||full"},
		{"turns", threeTurns(0), Turns + "-2", Options{},
			[]usage{{0, 1100, 0, 13750, 1250}, {1100, 250, 0, 4225, 3225}, {1000, 550, 0, 7875, 6875}}, "||turns"},
		// 350 tokens and a line of 15 in front, since a prompt can't begin with an answer.
		{"sliding", threeTurns(0), Sliding + "-400", Options{},
			[]usage{{0, 1100, 0, 13750, 1250}, {1100, 250, 0, 4225, 3225}, {1000, 365, 0, 5562.5, 4562.5}}, "||slide"},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.FixedTokens = 1000
			r := replayed(t, c.s.record(t, c.opt), c.policy, 0)
			compareUsages(t, usages(r), c.want)
			var cuts []string
			for _, call := range r.Calls {
				cuts = append(cuts, call.Cut)
				if call.Violations > 0 || call.Overflow {
					t.Errorf("%+v", call)
				}
			}
			if got := strings.Join(cuts, "|"); got != c.cuts {
				t.Errorf("cuts %q, want %q", got, c.cuts)
			}
		})
	}
}

func TestTotalsByHand(t *testing.T) {
	r := replayed(t, threeTurns(10*time.Minute).record(t, Options{FixedTokens: 1000}), Fullest, 0)
	got := r.Totals
	if got.Calls != 3 || got.InputTokens != 1100+1350+1700 || got.CacheReadTokens != 1100 || got.CacheWriteTokens != 1100+250+1700 ||
		got.Write5mTokens != got.CacheWriteTokens || got.NetInputTokens != 100+350+700 || got.NetWriteTokens != 100+250+700 {
		t.Errorf("tokens: %+v", got)
	}
	if millionths(got.CostUSD) != 13750+4225+21250 || millionths(got.NetCostUSD) != 1250+3225+8750 {
		t.Errorf("cost %v, net %v", millionths(got.CostUSD), millionths(got.NetCostUSD))
	}
	if got.GapCalls != 1 || got.GapInputTokens != 700 || got.GapWriteTokens != 700 || got.ColdEvents != 1 {
		t.Errorf("gap: %+v", got)
	}
	if got.WarmHitRatio != 1100.0/1350 { // the first call is cold too
		t.Errorf("warm hit ratio %v", got.WarmHitRatio)
	}
	if r.Bound.WriteTokens != 100+250+350 || millionths(r.Bound.NetCostUSD) != 700*12.5 || millionths(r.Bound.CostUSD) != 700*12.5+10_000+2000 {
		t.Errorf("bound: %+v", r.Bound)
	}
}

// TestAnswerFirst: a recording may begin with an answer, before which there is
// nothing. No policy has it as a call.
func TestAnswerFirst(t *testing.T) {
	s := newScript().answer(10, "hello").user(20, "hi").answer(10, "yes")
	for _, policy := range Policies() {
		r := replayed(t, s.record(t, Options{}), policy, 0)
		if len(r.Calls) != 1 || r.Calls[0].Index != 1 || r.Calls[0].Input == 0 || reasons(r) != "0 k0 no_messages" {
			t.Errorf("%s: %+v", policy, r.Calls)
		}
	}
}

func TestUnpricedStaysUnpriced(t *testing.T) {
	r := replayed(t, threeTurns(0).record(t, Options{Model: "nobody-knows", ContextWindow: 5000}), AppendLate, 0)
	if o := r.Totals; o.CostUSD != nil || o.NetCostUSD != nil || r.Bound.CostUSD != nil || o.InputTokens == 0 {
		t.Errorf("%+v", o)
	}
	if p := r.Parts.Over(r.Bound.Parts()); p.Total() != nil || p.SelectionUSD != nil || p.FixedUSD != nil {
		t.Errorf("%+v", p)
	}
}

func text(n int) string { return strings.Repeat("0123456789abcde\n", n/16+1)[:n] }

// shownResults lists what is in place of each tool result in a call's prompt.
func shownResults(items []item) (out []string) {
	for i := range items {
		for j := range items[i].msg.Parts {
			if p := &items[i].msg.Parts[j]; p.Result != nil {
				s, _ := textOf(p)
				out = append(out, s)
			}
		}
	}
	return out
}

// stepped asks a chooser for every call.
func stepped(rec *recording, by chooser, cold map[int]bool) (out []choice) {
	h := &hostPolicy{rec: rec, by: by}
	for n, c := range rec.calls {
		req := h.request(n, c.Start)
		req.cold = cold[n]
		out = append(out, by.choose(req))
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
	rec := s.record(t, Options{ContextWindow: 200_000, FixedTokens: 1000})
	var whole []int
	for _, c := range stepped(rec, newClearTools(rec, 0), nil) {
		n := 0
		for _, r := range shownResults(c.items) {
			if r != cleared {
				n++
			}
		}
		whole = append(whole, n)
	}
	if want := []int{0, 1, 2, 3, 3, 3}; !equal(whole, want) {
		t.Errorf("results in full: %v, want %v", whole, want)
	}
	r := replayed(t, rec, ClearTools, 0)
	// The fifth call clears the first result, so all that is read is what the first
	// call wrote; the sixth clears the second, and reads what the second call wrote
	// (with the first result in its new form it was never written: the fixed part and
	// the question again).
	first := 1000 + rec.items[0].tokens
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
	rec := s.answer(0, "done").record(t, Options{ContextWindow: 200_000})
	for n, c := range stepped(rec, newClearTools(rec, 0), nil) {
		if c.cut != "" {
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
	rec := s.record(t, Options{ContextWindow: 200_000, FixedTokens: 1000})
	cold := map[int]bool{0: true, 6: true}
	got := stepped(rec, newCacheTTL(rec, 0), cold)
	for n, c := range got[:6] {
		if c.cut != "" {
			t.Errorf("call %d is warm and was pruned", n+1)
		}
	}
	var sizes []int
	for _, r := range shownResults(got[6].items) {
		sizes = append(sizes, len(r))
	}
	// The results before the third answer from the end keep 1,500 characters of each
	// end, with two marks between and behind them.
	if len(sizes) != 5 || got[6].cut != "ttl" || sizes[3] != 100_000 || sizes[4] != 100_000 || sizes[0] > 3100 || sizes[0] < 3000 || sizes[2] != sizes[0] {
		t.Fatalf("cut %q, results of %v characters", got[6].cut, sizes)
	}
	for i, it := range got[6].items {
		if got[7].items[i].hash != it.hash || got[7].items[i].text != it.text {
			t.Errorf("message %d changed while the cache was warm", i)
		}
	}
	if got[7].cut != "" {
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
	rec := s.answer(0, "done").wait(time.Hour).user(0, "more").answer(0, "yes").record(t, Options{ContextWindow: 180_000, FixedTokens: 1000})
	p := newCacheTTL(rec, 0)
	last := stepped(rec, p, map[int]bool{101: true})[101]
	gone := 0
	for i, r := range shownResults(last.items) {
		if r == pruned {
			if gone++; i != gone-1 {
				t.Fatalf("result %d went before older ones", i+1)
			}
		}
	}
	size := p.chars(rec.end(101)) + 4*1000
	if gone == 0 || float64(size) >= pruneHardShare*180_000*pruneChars || float64(size+3900) < pruneHardShare*180_000*pruneChars {
		t.Errorf("%d results cleared, %d characters left", gone, size)
	}
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestFixedPartFromUsage(t *testing.T) {
	s := threeTurns(0)
	s.msgs[3].Usage = &memkernel.Usage{InputTokens: 3, CacheReadTokens: 4000, CacheWrite1hTokens: 1000} // the second call
	rec := s.record(t, Options{FixedAuto: true, RoomTokens: 64_000, TTL: 1})
	before := 0
	for i := range 3 {
		before += rec.counter.Message(&rec.msgs[i])
	}
	if want := 5003 - before; rec.opt.FixedTokens != want || rec.opt.ContextWindow != want+64_000 {
		t.Errorf("fixed part %d, want %d; window %d", rec.opt.FixedTokens, want, rec.opt.ContextWindow)
	}
	if rec := threeTurns(0).record(t, Options{FixedAuto: true}); rec.opt.FixedTokens != 0 {
		t.Errorf("without usage the fixed part is %d", rec.opt.FixedTokens)
	}
}
