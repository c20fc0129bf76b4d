package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/kernel/api"
)

// strictCounter plays a provider that counts more than we do: it refuses what is over its
// limit, in Anthropic's words.
type strictCounter struct {
	factor float64
	limit  int
}

func (p strictCounter) real(tokens int) int { return int(float64(tokens) * p.factor) }

func (p strictCounter) refusal(plan *api.ContextPlan) string {
	if n := p.real(plan.Budgets.PlannedInputTokens); n > p.limit {
		return fmt.Sprintf("prompt is too long: %d tokens > %d maximum", n, p.limit)
	}
	return ""
}

// A refusal that names figures is planned under them at once, with checkpoint and
// summary first, and the line keeps under them from then on.
func TestOverflowPlansBelowTheRealLimit(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	defer k.Close()
	c := session(211, 8, 3, 2400)
	real := strictCounter{limit: 30_000}
	p := mustPlan(t, k, request(c))
	real.factor = 1.25 * float64(real.limit) / float64(p.Budgets.PlannedInputTokens)
	text := real.refusal(p)
	if text == "" {
		t.Fatal("nothing was refused")
	}
	req := request(c)
	req.Overflow = &api.Overflow{Text: text, PlanID: p.ID}
	q := mustPlan(t, k, req)
	checkPlan(t, q, c.msgs)
	if again := real.refusal(q); again != "" || q.Layout.Made == nil || q.Budgets.ContextWindow != real.limit {
		t.Fatalf("window %d, cut %v, and then: %s", q.Budgets.ContextWindow, q.Layout.Made, again)
	}
	if len(checkpoints(t, dir)) == 0 {
		t.Error("no checkpoint was written before the cut")
	}
	if r := mustPlan(t, k, req); stream(r) != stream(q) {
		t.Error("the refusal was taken for a second one when it was delivered again")
	}
	c.loop(1, 900)
	if r := mustPlan(t, k, request(c)); real.refusal(r) != "" || r.Budgets.ContextWindow != real.limit {
		t.Errorf("a call later: window %d, %s", r.Budgets.ContextWindow, real.refusal(r))
	}
}

// A refusal without figures goes lower each time, and ends in an error that says what
// is largest.
func TestOverflowWithoutFigures(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(212, 8, 3, 2400)
	p := mustPlan(t, k, request(c))
	sizes := []int{p.Budgets.PlannedInputTokens}
	const tries = 3
	for range tries {
		req := request(c)
		req.Overflow = &api.Overflow{Text: "Input is too long for requested model.", PlanID: p.ID}
		p = mustPlan(t, k, req)
		checkPlan(t, p, c.msgs)
		counted := 0
		for i := range p.Messages {
			for j := range p.Messages[i].Parts {
				counted += len(p.Messages[i].Parts[j].Text)
			}
		}
		sizes = append(sizes, p.Budgets.PlannedInputTokens)
		if p.Layout.Made == nil {
			t.Fatalf("nothing was cut: %v", sizes)
		}
	}
	req := request(c)
	req.Overflow = &api.Overflow{PlanID: p.ID}
	_, err := k.PlanContext(context.Background(), req)
	var over *api.OverflowError
	if !errors.As(err, &over) || over.Tries != tries || len(over.Largest) == 0 {
		t.Fatalf("after %v: %v", sizes, err)
	}
	c.loop(1, 200)
	if _, err := k.PlanContext(context.Background(), request(c)); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// What is no refusal is not learned from.
func TestOverflowIsToldFromOtherErrors(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := session(213, 3, 2, 900)
	p := mustPlan(t, k, request(c))
	req := request(c)
	req.Overflow = &api.Overflow{Text: "tokens per min (TPM): Limit 30000, Requested 45000"}
	if _, err := k.PlanContext(context.Background(), req); !errors.Is(err, api.ErrNoOverflow) {
		t.Errorf("%v", err)
	}
	if q := mustPlan(t, k, request(c)); stream(q) != stream(p) {
		t.Error("the prompt changed")
	}
}

// Results that the refused request showed for the first time were never seen: they
// are shown shorter if that is what it takes.
func TestOverflowLowersWhatNobodySaw(t *testing.T) {
	k := memoryKernel(t)
	defer k.Close()
	c := newConversation(214)
	c.user()
	c.loop(6, 12_000)
	p := mustPlan(t, k, request(c))
	req := request(c)
	real := p.Budgets.PlannedInputTokens
	if len(p.Reduced) > 0 || real < 15_000 {
		t.Fatalf("%d tokens, %d shortened", real, len(p.Reduced))
	}
	limit := real * 4 / 5
	req.Overflow = &api.Overflow{Input: real, Limit: limit, PlanID: p.ID}
	q := mustPlan(t, k, req)
	checkPlan(t, q, c.msgs)
	if q.Budgets.PlannedInputTokens > limit || len(q.Reduced) == 0 {
		t.Errorf("%d of %d tokens, %d shortened", q.Budgets.PlannedInputTokens, real, len(q.Reduced))
	}
}

// OpenClaw's way: the refusal comes with Compact, and the next plan keeps under it.
func TestCompactOnOverflow(t *testing.T) {
	dir := t.TempDir()
	k := openKernel(t, dir)
	c := session(215, 8, 3, 2400)
	p := mustPlan(t, k, request(c))
	limit := p.Budgets.PlannedInputTokens * 3 / 4
	b := api.Boundary{Now: c.now.Add(time.Second), Compact: &api.CompactWish{Force: true, Overflow: &api.Overflow{Input: p.Budgets.PlannedInputTokens, Limit: limit}}}
	got := compact(t, k, b)
	if got.Reason != api.CompactOK || got.ContextWindow != limit || got.Refusal == nil || got.Refusal.Limit != limit {
		t.Fatalf("%+v", got)
	}
	k.Close()
	k = openKernel(t, dir)
	defer k.Close()
	q := mustPlan(t, k, request(c))
	checkPlan(t, q, c.msgs)
	if q.Budgets.ContextWindow != limit || q.Budgets.PlannedInputTokens != got.TokensAfter {
		t.Errorf("window %d, %d tokens; want %d, %d", q.Budgets.ContextWindow, q.Budgets.PlannedInputTokens, limit, got.TokensAfter)
	}
}

// A refusal takes nothing from what is known of the counts: the plan that answers it is
// measured by the same ratio at least, and by the same margin, and stays under the provider's limit by the provider's
// own count.
func TestRefusalKeepsTheCalibration(t *testing.T) {
	const real = 1.3 // the provider's tokens per token of ours
	size := func(msgs []memkernel.Message) int { return counted(t, msgs) }
	for name, refuse := range map[string]func(planned int) *api.Overflow{
		"no figures": func(int) *api.Overflow { return &api.Overflow{Text: "Input is too long for requested model."} },
		"the limit":  func(n int) *api.Overflow { return &api.Overflow{Limit: n * 9 / 10} },
		"figures in words": func(n int) *api.Overflow {
			return &api.Overflow{Text: fmt.Sprintf("prompt is too long: %d tokens > %d maximum", n*9/10, n*8/10)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := memoryKernel(t)
			defer k.Close()
			c := session(216, 8, 3, 2400)
			billAt(t, c, real)
			req := request(c)
			req.ContextWindow = 60_000
			ratio := func(p *api.ContextPlan) float64 {
				return float64(p.Budgets.PlannedInputTokens) / float64(size(p.Messages))
			}
			p := mustPlan(t, k, req)
			if r := ratio(p); p.Budgets.TokensAre != budget.Calibrated || math.Abs(r-real) > .1 {
				t.Fatalf("before: %s, ratio %.2f", p.Budgets.TokensAre, r)
			}
			req.Overflow = refuse(p.Budgets.PlannedInputTokens)
			req.Overflow.PlanID = p.ID
			q := mustPlan(t, k, req)
			checkPlan(t, q, c.msgs)
			if r := ratio(q); q.Budgets.TokensAre != budget.Calibrated || r < ratio(p)-.02 || q.Layout.Made == nil {
				t.Errorf("after: %s, ratio %.2f, was %.2f; cut %+v", q.Budgets.TokensAre, r, ratio(p), q.Layout.Made)
			}
			if n := int(real * float64(size(q.Messages))); n > q.Budgets.ContextWindow-q.Budgets.ReserveTokens {
				t.Errorf("%d tokens by the provider's count, %d allowed", n, q.Budgets.ContextWindow-q.Budgets.ReserveTokens)
			}
			margin := func(p *api.ContextPlan) float64 {
				return float64(p.Budgets.MarginTokens) / float64(p.Budgets.ContextWindow-p.Budgets.ReserveTokens)
			}
			if math.Abs(margin(q)-margin(p)) > .02 {
				t.Errorf("margin of %.3f, was %.3f", margin(q), margin(p))
			}
		})
	}
}

// counted is what a plan counts for messages before any calibration.
func counted(t *testing.T, msgs []memkernel.Message) (n int) {
	t.Helper()
	counter, err := budget.NewModel("", "claude-opus-4-5", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range msgs {
		n += counter.Message(&msgs[i])
	}
	return n
}

// billAt records what a provider billed that counts so many tokens for each of ours; 1
// records nothing.
func billAt(t *testing.T, c *conversation, real float64) {
	t.Helper()
	for i := range c.msgs {
		if c.msgs[i].Role == memkernel.RoleAssistant && real != 1 {
			c.msgs[i].Usage = &memkernel.Usage{InputTokens: int(real*float64(counted(t, c.msgs[:i]))) + 1}
		}
	}
}
