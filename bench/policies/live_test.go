package policies_test

import (
	"math"
	"strings"
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/replay"
	"github.com/memkernel/memkernel/transcript"
)

// A conversation that is held live is planned and billed as its record is, under every
// policy; what is sent is the whole prompt.
func TestLiveIsAsReplayed(t *testing.T) {
	s, err := transcript.LoadFile("../../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	const limit = 70
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	calls := transcript.Calls(msgs)[:limit]
	for _, policy := range replay.LivePolicies() {
		t.Run(policy, func(t *testing.T) {
			opt := replay.Options{Model: "claude-opus-4-5", ContextWindow: 40_000, FixedTokens: 6_000, TTL: 300e9, Resolver: "memory_get", Limit: limit}
			want := run(t, s, policy, opt)
			opt.Scratch = t.TempDir()
			live, err := replay.NewLive(t.Context(), policy, opt)
			if err != nil {
				t.Fatal(err)
			}
			defer live.Close()
			usd, cuts := 0.0, 0
			for n, c := range calls {
				sent, err := live.Plan(t.Context(), msgs[:c.Index], c.Start)
				if err != nil {
					t.Fatal(err)
				}
				usd += *sent.Call.CostUSD
				if sent.Call.Cut != "" {
					cuts++
				}
				shown := ""
				for _, m := range sent.Messages[max(0, len(sent.Messages)-4):] { // what is recalled and the gauge stand behind
					shown += textOf(m)
				}
				if !strings.Contains(shown, textOf(msgs[c.Index-1])) {
					t.Errorf("call %d does not show the newest message", n)
				}
				if whole := sent.CostUSD(1_000_000); math.Abs(*whole-*sent.Call.CostUSD-25) > 1e-9 {
					t.Errorf("a million tokens of output cost %f", *whole-*sent.Call.CostUSD)
				}
			}
			if math.Abs(usd-*want.Totals.CostUSD) > 1e-9 || cuts != want.Totals.Cuts {
				t.Errorf("live $%f with %d cuts, replayed $%f with %d", usd, cuts, *want.Totals.CostUSD, want.Totals.Cuts)
			}
		})
	}
}

func textOf(m memkernel.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// What a policy that compacts shows of the past is the host's to say, and billed by its
// size.
func TestLiveSummary(t *testing.T) {
	s, err := transcript.LoadFile("../../testdata/session.jsonl", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs, _ := transcript.Repair(s.View(transcript.Full), false)
	asked := 0
	live, err := replay.NewLive(t.Context(), replay.AppendLate, replay.Options{Model: "claude-opus-4-5", ContextWindow: 40_000, TTL: 300e9,
		Summary: func(all []memkernel.Message, tokens int) string {
			asked++
			if tokens <= 0 || len(all) == 0 {
				t.Errorf("a summary of %d messages in %d tokens", len(all), tokens)
			}
			return "the owl is grey"
		}})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	for _, c := range transcript.Calls(msgs)[:70] {
		sent, err := live.Plan(t.Context(), msgs[:c.Index], c.Start)
		if err != nil {
			t.Fatal(err)
		}
		if shown := strings.Contains(textOf(sent.Messages[0]), "the owl is grey"); shown != (asked > 0) {
			t.Fatalf("%d summaries, shown: %v", asked, shown)
		}
	}
	if asked == 0 {
		t.Error("nothing was compacted")
	}
	if _, err := live.Plan(t.Context(), msgs[:1], msgs[0].Time); err == nil {
		t.Error("a shorter conversation is planned")
	}
	if _, err := replay.NewLive(t.Context(), replay.Oracle, replay.Options{Model: "claude-opus-4-5"}); err == nil {
		t.Error("a conversation that goes on can't be held under the oracle")
	}
}
