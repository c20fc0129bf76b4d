package cachelayout

import (
	"testing"
	"time"
)

func TestAdvise(t *testing.T) {
	m, id := mustModel(t, "claude-opus-5"), Identity{Model: "claude-opus-5"}
	advise := func(conversation int, p Pace) Advice {
		blocks := grow(fixedPart(), 1, conversation)
		_, l := send(Ledger{}, m, id, blocks, noon)
		c := PlanCut(CutInput{Model: m, Window: 200_000, Reserve: 40_000, Fixed: 15_000, Conversation: conversation, Pending: conversation,
			ColdRate: p.Rate(5 * time.Minute), LowWater: 30_000})
		return l.Advise(m, p, c, 15_000+conversation, noon)
	}
	large := advise(90_000, Pace{})
	if !large.ExpiresAt.Equal(noon.Add(5*time.Minute)) || !large.SummariseBy.Equal(large.ExpiresAt.Add(-adviceMargin)) || !near(large.SummaryWarm, 10_500) || large.SummaryCold != 105_000 {
		t.Errorf("%+v", large)
	}
	if large.KeepAlive {
		t.Errorf("at the mark nothing is lost: %+v", large)
	}
	short := paceWith(100, 6*time.Minute, 7*time.Minute, 8*time.Minute, 7*time.Minute, 6*time.Minute, 7*time.Minute)
	small := advise(30_000, short)
	if !small.SummariseBy.IsZero() || small.Expiry <= small.Ping {
		t.Errorf("%+v", small)
	}
	if !small.KeepAlive || small.KeepAliveSeconds != int((5*time.Minute-adviceMargin)/time.Second) || !small.KeepAliveUntil.After(noon) {
		t.Errorf("short gaps right after a cut: %+v", small)
	}
	if (&Ledger{}).Advise(m, Pace{}, Cut{}, 0, noon) != (Advice{}) {
		t.Error("nothing was sent")
	}
}
