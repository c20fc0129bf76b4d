package verbs

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// markers has the purpose of each cache marker in words.
var markers = map[string]string{
	cachelayout.WhyFixed: "end of tools and system", cachelayout.WhyCarry: "end of the carry block", cachelayout.WhyPreviousTail: "end of the last request",
	cachelayout.WhyGuard: "keeps the look-back unbroken", cachelayout.WhyEnd: "end of this request",
}

// lifetime spells 5m and 1h as providers do.
func lifetime(seconds int) string {
	if seconds <= 0 {
		return "-"
	}
	return config.Duration(time.Duration(seconds) * time.Second).String()
}

// bill writes the expected cache reads, cache writes and cost of the call.
func (s *explanation) bill() {
	l := &s.plan.Layout
	b := l.Bill
	clock := "warm"
	if l.Cold {
		clock = "cold"
	}
	s.Section("Cache, predicted", clock)
	total := b.Total()
	tier := s.out.Model.TierFor(total)
	table := s.Table(2, []int{14, -11, -10, -12, -12}, "", "tokens", "share", "cost", "$/million")
	row := func(name string, n int, price *float64, as string) {
		table(display.Inked(as, name), n, percent(n, total), cost(n, price), rateOf(price))
	}
	row("read", b.ReadTokens, tier.Read, "green")
	row("write, short", b.Write5mTokens, tier.Write5m, "yellow")
	row("write, long", b.Write1hTokens, tier.Write1h, "yellow")
	row("uncached", b.UncachedTokens, tier.Input, "red")
	table("total", total, "", b.CostUSD)
	s.Raw("  " + s.Row([]int{14, -11, -10, -12}, "without cache", total, "", b.NoLayoutCostUSD) + s.savedRemark(b))
	if made := l.Made; made != nil && l.Cold {
		whole := uncut(s.plan)
		s.text("uncut", "{} tokens, written anew for {}", whole, cost(whole, tier.Write5m))
	}
	s.text("clock", l.Clock)
	if l.Cold && l.Change.Kind != cachelayout.ChangeFirst {
		n := b.Write5mTokens + b.Write1hTokens + b.UncachedTokens
		s.text("", "this call pays {} tokens anew; read from a warm cache they would cost {}", n, cost(n, tier.Read))
	}
	s.text("first change", changeText(l.Change))
	if h := l.Change.Host; h != nil {
		s.textIn("yellow", "", "the host changed {}: {} cached tokens are written anew, which costs {} more", h.Place, h.Tokens, h.USD)
	}
	if told := l.Reported; told != nil && told.Miss != nil {
		s.text("", "of the last request the provider says: {}, {} tokens not read", told.Miss.Reason, told.Miss.Tokens)
	}
	at := &l.Lifetimes
	s.text("lifetimes", "tools and system {}: {}", lifetime(at.FixedSeconds), at.FixedWhy)
	s.text("", "messages {}: {}", lifetime(at.MessagesSeconds), at.MessagesWhy)
	for _, n := range b.Notes {
		s.text("note", n)
	}
}

func (s *explanation) savedRemark(b cachelayout.Bill) string {
	if b.CostUSD == nil || b.NoLayoutCostUSD == nil || *b.NoLayoutCostUSD <= 0 {
		return ""
	}
	v := 1 - *b.CostUSD / *b.NoLayoutCostUSD
	if v < 0 {
		return s.Paint("red", "   "+display.Share(-v)+" dearer")
	}
	return s.Paint("green", "   "+display.Share(v)+" saved")
}

// cost formats the cost of n tokens at a price per million.
func cost(n int, price *float64) string {
	if n == 0 {
		return "-"
	}
	if price == nil {
		return "unpriced"
	}
	return display.Say("{}", new(float64(n)**price/1e6))
}

// changeText describes the difference between this request and the previous one.
func changeText(c cachelayout.Change) string {
	switch c.Kind {
	case cachelayout.ChangeFirst:
		return "none: there is no request before"
	case cachelayout.ChangeNone:
		return "none: the request is the same as the one before"
	case cachelayout.ChangeAppend:
		return display.Say("none: it extends the request before, of which {} tokens are kept", c.KeptTokens)
	}
	return display.Say("{}; {} tokens are kept, {} are broken", c, c.KeptTokens, c.BrokenTokens)
}

// cut writes the cut planner's figures and its decision.
func (s *explanation) cut() {
	plan := s.plan
	c, f := plan.Layout.Cut, plan.Layout.Cut.Figures
	verdict := "none, append only"
	if plan.Layout.Made != nil {
		verdict = "made: " + plan.Layout.Made.Reason
	} else if c.Do {
		verdict = "wished: " + c.Reason + ", not made"
	}
	s.Section("Cut", verdict)
	if made := plan.Layout.Made; made != nil {
		s.text("made", "{}: from {} to {} tokens of messages", reasonText(made.Reason), made.Before, made.After)
	} else if c.Do {
		s.text("wished", reasonText(c.Reason))
	}
	if plan.Budgets.ContextWindow == 0 {
		s.text("marks", "none while the window is unknown")
		return
	}
	s.text("marks", "high water {}, low water {}, limit {}", f.HighWater, f.LowWater, f.Limit)
	s.text("economy", string(cmp.Or(c.Economy, cachelayout.Balanced)))
	s.text("growth", "median {}, largest {} tokens a call (last ten), mean {}", f.MedianGrowth, f.MaxGrowth, f.MeanGrowth)
	s.text("payback", paybackText(f))
	s.text("optimum", optimumText(f))
	if f.Cliff > 0 {
		s.text("price cliff", "above {} tokens the whole request costs more", f.Cliff)
	}
	if r := plan.Layout.Reasoning; r.Binding != cachelayout.BindingNone {
		s.text("reasoning", reasoningText(r))
	}
	if told := plan.Layout.Reported; told.Of("") > 0 {
		s.textIn("yellow", "", "of the last request the provider removed "+removedText(told.Removed))
	}
	s.refusals(plan)
}

// refusals writes how many wishes each rule refused.
func (s *explanation) refusals(plan *api.ContextPlan) {
	counts := map[string]int{}
	var order []string
	for _, r := range plan.Layout.Refused {
		if counts[r.Rule] == 0 {
			order = append(order, r.Rule)
		}
		counts[r.Rule]++
	}
	for _, rule := range order {
		s.text("refused", "{item}, by rule: {}", counts[rule], rule)
	}
}

// reasons has the reason of each cut in words.
var reasons = map[string]string{
	cachelayout.ReasonHighWater: "the prompt reached its high-water mark",
	cachelayout.ReasonCold:      "the cache is cold, so a cut costs nothing",
	cachelayout.ReasonForced:    "the prompt would be over its limit",
	cachelayout.ReasonPayback:   "what it saves pays back what it rewrites",
	string(pagevm.CutDemand):    "a compaction was asked for",
	string(pagevm.CutThinking):  "the provider refused the thinking of earlier turns, which is taken out",
}

func reasonText(reason string) string { return cmp.Or(reasons[reason], reason) }

// reasoningText describes how the model's reasoning is bound to its prefix, and how much of the
// reasoning the plan loses.
func reasoningText(r cachelayout.Reasoning) string {
	bound := "bound to its prefix; after a change the provider refuses it"
	if r.Binding == cachelayout.BindingDrops {
		bound = "bound to its prefix; after a change the provider drops it"
	}
	if r.Items() == 0 {
		return bound + "; this plan loses none"
	}
	how := fmt.Sprintf("%d left out", r.LeftOutItems)
	if r.DroppedItems > 0 {
		how += fmt.Sprintf(", %d for the provider to drop", r.DroppedItems)
	}
	return display.Say("{}; this plan loses {item} ({}), {} tokens that were billed as output for {}", bound, r.Items(), how, r.Tokens(), r.LostUSD)
}

// paybackText describes n*, the number of calls after which a warm cut has paid.
func paybackText(f cachelayout.Figures) string {
	when, more := "never", ""
	if f.BreakEvenTurns >= 0 {
		when = fmt.Sprintf("after n* = %.1f calls", f.BreakEvenTurns)
	}
	if f.ExpectedTurns > 0 {
		more = fmt.Sprintf(", %.0f expected", f.ExpectedTurns)
	}
	return display.Say("a warm cut would save {} and rewrite {} tokens: pays {}{}", f.Saved, f.Rewritten, when, more)
}

// optimumText describes H*, the mark at which batches are cheapest.
func optimumText(f cachelayout.Figures) string {
	ratios := display.Say("write {%g}x, read {%g}x of input{?, assumed}", f.WriteRatio, f.ReadRatio, f.RatiosAssumed)
	if f.EOQHighWater < 0 || f.EOQBatch < 0 {
		return "by price alone never cut (" + ratios + ")"
	}
	return display.Say("by price H* = {}, batches of {} ({})", int(f.EOQHighWater), int(f.EOQBatch), ratios)
}
