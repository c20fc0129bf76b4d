package kernel_test

import (
	"context"
	"math"
	"testing"

	"github.com/memkernel/memkernel/kernel"
)

// fixedPlans plans a session call by call in a window that its system prompt nearly
// fills, so that there is little for a cut to take, and counts the cuts.
func fixedPlans(t *testing.T, o kernel.ProgressOptions) (cuts, held int) {
	t.Helper()
	k, err := kernel.Open(context.Background(), t.TempDir(), &kernel.Options{Life: kernel.LifeOptions{Progress: o}})
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	c := newConversation(241)
	for range 40 {
		c.user()
		req := request(c)
		req.ContextWindow, req.Reserve, req.FixedTokens = 32_000, 8000, 17_000
		p := mustPlan(t, k, req)
		checkPlan(t, p, c.msgs)
		if p.Layout.Made != nil {
			cuts++
		}
		for _, r := range p.Layout.Refused {
			if r.Rule == kernel.RuleNoProgress {
				held++
			}
		}
		c.loop(1, 500)
		c.say()
	}
	return cuts, held
}

// Cuts of the planner's own that come to nothing are not made again and again: what
// has to be cut to fit is cut deeper then, and lasts.
func TestBreakerOnPlannedCuts(t *testing.T) {
	free, none := fixedPlans(t, kernel.ProgressOptions{MinTokens: 3000, Futile: math.MaxInt})
	cuts, held := fixedPlans(t, kernel.ProgressOptions{MinTokens: 3000})
	if none+held != 0 || cuts == 0 || 3*cuts > 2*free {
		t.Errorf("without a breaker %d cuts, %d held; with it %d, %d held", free, none, cuts, held)
	}
}
