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
		{"recorded", asRecorded, nil, true},
		{"append-late-80k-30k", "", nil, false},
		{"oracle", "", nil, false},
		{"memkernels", "", nil, false},
		{"recorded-1", "", nil, false},
		{"fullest-3", "", nil, false},
		{"append-late-", "", nil, false},
		{"append-late-k", "", nil, false},
		{"append-late-+5", "", nil, false},
		{"append-late-0", "", nil, false},
		{"append-late--5", "", nil, false},
		{"append-late5", "", nil, false},
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
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opt.FixedTokens = 1000
			r := replayed(t, c.s.record(t, c.opt), c.policy)
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
	r := replayed(t, threeTurns(10*time.Minute).record(t, Options{FixedTokens: 1000}), Fullest)
	got := r.Totals
	if got.Calls != 3 || got.InputTokens != 1100+1350+1700 || got.CacheReadTokens != 1100 || got.CacheWriteTokens != 1100+250+1700 ||
		got.Write5mTokens != got.CacheWriteTokens || got.NetInputTokens != 100+350+700 || got.NetWriteTokens != 100+250+700 {
		t.Errorf("tokens: %+v", got)
	}
	if millionths(got.CostUSD) != 13750+4225+21250 || millionths(got.NetCostUSD) != 1250+3225+8750 {
		t.Errorf("cost %v, net %v", millionths(got.CostUSD), millionths(got.NetCostUSD))
	}
	if got.ColdEvents != 1 {
		t.Errorf("%d cold events", got.ColdEvents)
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
		r := replayed(t, s.record(t, Options{}), policy)
		if len(r.Calls) != 1 || r.Calls[0].Index != 1 || r.Calls[0].Input == 0 || reasons(r) != "0 k0 no_messages" {
			t.Errorf("%s: %+v", policy, r.Calls)
		}
	}
}

func TestUnpricedStaysUnpriced(t *testing.T) {
	r := replayed(t, threeTurns(0).record(t, Options{Model: "nobody-knows", ContextWindow: 5000}), AppendLate)
	if o := r.Totals; o.CostUSD != nil || o.NetCostUSD != nil || r.Bound.CostUSD != nil || o.InputTokens == 0 {
		t.Errorf("%+v", o)
	}
}

func text(n int) string { return strings.Repeat("0123456789abcde\n", n/16+1)[:n] }

func TestFixedPartFromUsage(t *testing.T) {
	s := threeTurns(0)
	s.msgs[3].Usage = &memkernel.Usage{InputTokens: 3, CacheReadTokens: 4000, CacheWrite1hTokens: 1000} // the second call
	rec := s.record(t, Options{FixedAuto: true, RoomTokens: 64_000, TTL: 1})
	before := 0
	for i := range 3 {
		before += rec.Counter.Message(&rec.Messages[i])
	}
	if want := 5003 - before; rec.Opt.FixedTokens != want || rec.Opt.ContextWindow != want+64_000 {
		t.Errorf("fixed part %d, want %d; window %d", rec.Opt.FixedTokens, want, rec.Opt.ContextWindow)
	}
	if rec := threeTurns(0).record(t, Options{FixedAuto: true}); rec.Opt.FixedTokens != 0 {
		t.Errorf("without usage the fixed part is %d", rec.Opt.FixedTokens)
	}
}
