package kernel_test

import (
	"testing"
)

// fixedPlans plans a session call by call in a window that its system prompt nearly
// fills, so that there is little for a cut to take, and counts the cuts.
func fixedPlans(t *testing.T) (cuts, held int) {
	t.Helper()
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(241)
	for range 40 {
		c.user()
		req := request(c)
		req.ContextWindow, req.Reserve, req.FixedTokens = 32_000, 8000, 19_000
		p := mustPlan(t, k, req)
		checkPlan(t, p, c.msgs)
		if p.Layout.Made != nil {
			cuts++
		}
		for _, r := range p.Layout.Refused {
			if r.Rule == "no_progress" {
				held++
			}
		}
		c.loop(1, 60)
		c.say()
	}
	return cuts, held
}

// Cuts of the planner's own that come to nothing are not made again and again: what
// has to be cut to fit is cut deeper then, and lasts.
func TestBreakerOnPlannedCuts(t *testing.T) {
	cuts, held := fixedPlans(t)
	if held != 0 || cuts == 0 || cuts > 12 { // 15 if none is kept from being made
		t.Errorf("%d cuts, %d held", cuts, held)
	}
}
