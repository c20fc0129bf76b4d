package replay

import (
	"context"
	"errors"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/replay/recall"
	"github.com/memkernel/memkernel/transcript"
)

// Session is the key of the kernel's session that is planned.
const Session = "replay"

// kernelPolicy lets the kernel plan every call.
type kernelPolicy struct {
	rec      *Recording
	lowWater int
	economy  cachelayout.Economy
	k        *kernel.Kernel
}

func (p *kernelPolicy) open(ctx context.Context) error {
	if p.rec.Opt.Scratch == "" {
		return errors.New("the memkernel policy needs a scratch folder for its state")
	}
	opt := p.rec.Kernel()
	opt.LowWater, opt.Economy = p.lowWater, p.economy
	k, err := kernel.Open(ctx, p.rec.Opt.Scratch, opt)
	p.k = k
	return err
}

func (p *kernelPolicy) close() error { return p.k.Close() }

// plan requests a plan from the kernel.
func (p *kernelPolicy) plan(ctx context.Context, n int) (*prompt, error) {
	plan, err := p.k.PlanContext(ctx, p.rec.Request(n))
	if err != nil {
		return nil, err
	}
	pr := &prompt{behind: behind(plan), bill: plan.Layout.Bill, extra: new(float64)}
	for i := range plan.Messages {
		pr.texts = append(pr.texts, recall.TextOf(plan.Messages[i]))
	}
	pr.call = Call{Cold: plan.Layout.Cold, Faults: len(plan.Faults), Violations: violations(plan)}
	for _, f := range plan.Faults {
		pr.call.code(string(f.Code))
	}
	if plan.Layout.Made != nil {
		pr.call.Cut = plan.Layout.Made.Reason
	}
	return pr, nil
}

// violations returns how many of the provider's rules a plan breaks.
func violations(plan *api.ContextPlan) int {
	return len(transcript.Validate(plan.Format, &transcript.Request{Model: plan.Model, Tools: plan.Tools,
		System: plan.System, Messages: plan.Messages, Markers: plan.Markers}))

}

// behind returns a function that reports whether a place of the history is not shown in full but
// can be fetched by a handle in the prompt.
func behind(plan *api.ContextPlan) func(recall.Place) bool {
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
