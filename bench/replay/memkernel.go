package replay

import (
	"context"
	"errors"
	"time"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/bench/recall"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/transcript"
)

// kernelPolicy lets the kernel plan every call.
type kernelPolicy struct {
	opt Options
	k   *kernel.Kernel
}

func newKernelPolicy(ctx context.Context, opt Options) (*kernelPolicy, error) {
	if opt.Scratch == "" {
		return nil, errors.New("the memkernel policy needs a scratch folder for its state")
	}
	p := &kernelPolicy{opt: opt}
	return p, p.open(ctx)
}

func (p *kernelPolicy) open(ctx context.Context) error {
	k, err := kernel.Open(ctx, p.opt.Scratch, &kernel.Options{Prices: p.opt.Prices})
	p.k = k
	return err
}

func (p *kernelPolicy) close() error { return p.k.Close() }

// plan asks for a plan. A prompt that cannot fit is an overflow, as it would be
// for any policy, and shows nothing.
func (p *kernelPolicy) plan(ctx context.Context, msgs []memkernel.Message, start time.Time) (*prompt, error) {
	if p.opt.Reopen {
		if err := errors.Join(p.k.Close(), p.open(ctx)); err != nil {
			return nil, err
		}
	}
	plan, err := p.k.PlanContext(ctx, kernel.PlanRequest{SessionKey: "replay", Model: p.opt.Model, ContextWindow: p.opt.ContextWindow,
		Reserve: p.opt.Reserve, FixedTokens: p.opt.FixedTokens, Messages: msgs, Now: start, Resolver: p.opt.Resolver, TTL: p.opt.TTL})
	var small *kernel.TooSmallError
	if errors.As(err, &small) {
		return &prompt{call: Call{Overflow: true, CostUSD: new(float64)}}, nil
	}
	if err != nil {
		return nil, err
	}
	pr := &prompt{behind: behind(plan)}
	for i := range plan.Messages {
		pr.texts = append(pr.texts, recall.TextOf(plan.Messages[i]))
	}
	bill := plan.Layout.Bill
	pr.call = Call{Input: plan.Budgets.PlannedInputTokens, Read: bill.ReadTokens, Write: bill.Write5mTokens + bill.Write1hTokens,
		Uncached: bill.UncachedTokens, CostUSD: bill.CostUSD, Cold: plan.Layout.Cold, Faults: len(plan.Faults)}
	if plan.Layout.Made != nil {
		pr.call.Cut = plan.Layout.Made.Reason
	}
	pr.call.Violations = len(validate(plan))
	return pr, nil
}

// validate checks a plan by the rules of the provider that would get it.
func validate(plan *kernel.ContextPlan) []transcript.Violation {
	return transcript.Validate(transcript.Provider(plan.Format), &transcript.Request{Model: plan.Model, Tools: plan.Tools,
		System: plan.System, Messages: plan.Messages, Markers: plan.Markers}, nil)
}

// behind tells which earlier places are not shown in full but can be reached by a
// handle that the prompt names.
func behind(plan *kernel.ContextPlan) func(recall.Place) bool {
	calls, keys := map[string]bool{}, map[string]bool{}
	for _, r := range plan.Reduced {
		if r.Handle == "" {
			continue
		}
		if r.CallID != "" {
			calls[r.CallID] = true
		} else {
			keys[r.Key] = true
		}
	}
	return func(at recall.Place) bool {
		return at.CallID != "" && calls[at.CallID] || at.CallID == "" && keys[at.Key]
	}
}
