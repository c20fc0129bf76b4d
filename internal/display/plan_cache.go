package display

import (
	"cmp"
	"fmt"
	"time"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/pagevm"
)

// markers has the purpose of each marker in words.
var markers = map[string]string{
	cachelayout.WhyFixed: "end of tools and system", cachelayout.WhyCarry: "end of the carry block", cachelayout.WhyPreviousTail: "end of the last request",
	cachelayout.WhyGuard: "keeps the look-back unbroken", cachelayout.WhyEnd: "end of this request",
}

// lifetime spells 5m and 1h as providers do.
func lifetime(seconds int) string {
	d := time.Duration(seconds) * time.Second
	switch {
	case d <= 0:
		return "-"
	case d%time.Hour == 0:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d%time.Minute == 0:
		return fmt.Sprintf("%dm", d/time.Minute)
	}
	return d.String()
}

// bill writes the expected cache reads, cache writes and cost of the call.
func (s *sheet) bill() {
	l := &s.out.Plan.Layout
	b := l.Bill
	clock := "warm"
	if l.Cold {
		clock = "cold"
	}
	s.section("Cache, predicted", clock)
	total := b.Total()
	tier := s.out.Model.TierFor(total)
	table := s.table(2, []int{14, -11, -10, -12, -12}, "", "tokens", "share", "cost", "$/million")
	row := func(name string, n int, price *float64, as ink) {
		table(inked{as, name}, n, percent(n, total), cost(n, price), rate(price))
	}
	row("read", b.ReadTokens, tier.Read, green)
	row("write, short", b.Write5mTokens, tier.Write5m, yellow)
	row("write, long", b.Write1hTokens, tier.Write1h, yellow)
	row("uncached", b.UncachedTokens, tier.Input, red)
	table("total", total, "", dollars(b.CostUSD))
	s.line("  ", s.row([]int{14, -11, -10, -12}, "without cache", total, "", dollars(b.NoLayoutCostUSD)), s.savedRemark(b))
	if made := l.Made; made != nil && l.Cold {
		whole := uncut(s.out.Plan)
		s.text("uncut", fmt.Sprintf("%s tokens, written anew for %s", Thousands(whole), cost(whole, tier.Write5m)), "")
	}
	s.text("clock", l.Clock, "")
	if l.Cold && l.Change.Kind != cachelayout.ChangeFirst {
		n := b.Write5mTokens + b.Write1hTokens + b.UncachedTokens
		s.text("", fmt.Sprintf("this call pays %s tokens anew; read from a warm cache they would cost %s", Thousands(n), cost(n, tier.Read)), "")
	}
	s.text("first change", changeText(l.Change), "")
	if h := l.Change.Host; h != nil {
		s.text("", fmt.Sprintf("the host changed %s: %s cached tokens are written anew, which costs %s more", Printable(h.Place), Thousands(h.Tokens), dollars(h.USD)), yellow)
	}
	if told := l.Reported; told != nil && told.Miss != nil {
		s.text("", fmt.Sprintf("of the last request the provider says: %s, %s tokens not read", Printable(told.Miss.Reason), Thousands(told.Miss.Tokens)), "")
	}
	s.ahead()
	for _, n := range b.Notes {
		s.text("note", n, "")
	}
}

func (s *sheet) savedRemark(b cachelayout.Bill) string {
	if b.CostUSD == nil || b.NoLayoutCostUSD == nil || *b.NoLayoutCostUSD <= 0 {
		return ""
	}
	v := 1 - *b.CostUSD / *b.NoLayoutCostUSD
	if v < 0 {
		return s.Paint(red, fmt.Sprintf("   %s dearer", Share(-v)))
	}
	return s.Paint(green, fmt.Sprintf("   %s saved", Share(v)))
}

// cost formats the cost of n tokens at a price per million.
func cost(n int, price *float64) string {
	if n == 0 {
		return "-"
	}
	if price == nil {
		return "unpriced"
	}
	v := float64(n) * *price / 1e6
	return dollars(&v)
}

func rate(price *float64) string {
	if price == nil {
		return "-"
	}
	return fmt.Sprintf("%g", *price)
}

// changeText describes the difference between this request and the previous one.
func changeText(c cachelayout.Change) string {
	switch c.Kind {
	case cachelayout.ChangeFirst:
		return "none: there is no request before"
	case cachelayout.ChangeNone:
		return "none: the request is the same as the one before"
	case cachelayout.ChangeAppend:
		return fmt.Sprintf("none: it extends the request before, of which %s tokens are kept", Thousands(c.KeptTokens))
	}
	return fmt.Sprintf("%s; %s tokens are kept, %s are broken", c, Thousands(c.KeptTokens), Thousands(c.BrokenTokens))
}

// cut writes the cut planner's figures and its decision.
func (s *sheet) cut() {
	plan := s.out.Plan
	c, f := plan.Layout.Cut, plan.Layout.Cut.Figures
	verdict := "none, append only"
	if plan.Layout.Made != nil {
		verdict = "made: " + plan.Layout.Made.Reason
	} else if c.Do {
		verdict = "wished: " + c.Reason + ", not made"
	}
	s.section("Cut", verdict)
	if made := plan.Layout.Made; made != nil {
		s.text("made", fmt.Sprintf("%s: from %s to %s tokens of messages%s", reasonText(made.Reason), Thousands(made.Before), Thousands(made.After), eventText(made.Event)), "")
	} else if c.Do {
		s.text("wished", reasonText(c.Reason), "")
	}
	if plan.Budgets.ContextWindow == 0 {
		s.text("marks", "none while the window is unknown", "")
		return
	}
	s.text("marks", fmt.Sprintf("high water %s, low water %s, limit %s", Thousands(f.HighWater), Thousands(f.LowWater), Thousands(f.Limit)), "")
	s.text("economy", Printable(string(cmp.Or(c.Economy, cachelayout.Balanced))), "")
	s.text("growth", fmt.Sprintf("median %s, largest %s tokens a call (last ten), mean %s", Thousands(f.MedianGrowth), Thousands(f.MaxGrowth), Thousands(f.MeanGrowth)), "")
	s.text("memory", keepText(f), "")
	s.text("payback", paybackText(f), "")
	s.text("optimum", optimumText(f), "")
	if f.Cliff > 0 {
		s.text("price cliff", fmt.Sprintf("above %s tokens the whole request costs more", Thousands(f.Cliff)), "")
	}
	if r := plan.Layout.Reasoning; r.Binding != cachelayout.BindingNone {
		s.text("reasoning", reasoningText(r), "")
	}
	if told := plan.Layout.Reported; told.Of("") > 0 {
		s.text("", "of the last request the provider removed "+removedText(told.Removed), yellow)
	}
	for _, p := range clipRows(s, plan.Layout.Cuts) {
		s.text(fmt.Sprintf("gen %d", p.Generation), fmt.Sprintf("%s, %s to %s tokens%s", p.Reason, Thousands(p.Before), Thousands(p.After), AtTime(p.Time)), "")
	}
	s.refusals(plan)
}

// refusals counts the refused wishes by rule.
func (s *sheet) refusals(plan *api.ContextPlan) {
	counts := map[string]int{}
	var order []string
	for _, r := range plan.Layout.Refused {
		if counts[r.Rule] == 0 {
			order = append(order, r.Rule)
		}
		counts[r.Rule]++
	}
	for _, rule := range order {
		s.text("refused", fmt.Sprintf("%s, by rule: %s", Plural(counts[rule], "item"), rule), "")
	}
}

// clipRows returns the newest rows of a table, or all with --all.
func clipRows[T any](s *sheet, rows []T) []T {
	if s.all || len(rows) <= maxRows {
		return rows
	}
	return rows[len(rows)-maxRows:]
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
		how = fmt.Sprintf("%d left out, %d for the provider to drop", r.LeftOutItems, r.DroppedItems)
	}
	return fmt.Sprintf("%s; this plan loses %s (%s), %s tokens that were billed as output for %s", bound, Plural(r.Items(), "item"), how, Thousands(r.Tokens()), dollars(r.LostUSD))
}

func eventText(event string) string {
	if event == "" {
		return ""
	}
	return ", on the cold event \"" + event + "\""
}

// keepText returns the cost of keeping the low-water conversation.
func keepText(f cachelayout.Figures) string {
	return fmt.Sprintf("keeping it costs %s of %s base tokens a call, a miss %s; %.1f %% of calls meet a cold cache",
		Thousands(int(f.MemoryCost)), Thousands(int(f.CallCost)), Thousands(int(f.MissCost)), 100*f.ColdRate)
}

// ahead writes the lifetimes of cached parts.
func (s *sheet) ahead() {
	l := &s.out.Plan.Layout
	s.text("lifetimes", fmt.Sprintf("tools and system %s: %s", lifetime(l.Lifetimes.FixedSeconds), l.Lifetimes.FixedWhy), "")
	s.text("", fmt.Sprintf("messages %s: %s", lifetime(l.Lifetimes.MessagesSeconds), l.Lifetimes.MessagesWhy), "")
}

// paybackText describes n*, the number of calls after which a warm cut has paid.
func paybackText(f cachelayout.Figures) string {
	when := "never"
	if f.BreakEvenTurns >= 0 {
		when = fmt.Sprintf("after n* = %.1f calls", f.BreakEvenTurns)
	}
	s := fmt.Sprintf("a warm cut would save %s and rewrite %s tokens: pays %s", Thousands(f.Saved), Thousands(f.Rewritten), when)
	if f.ExpectedTurns > 0 {
		s += fmt.Sprintf(", %.0f expected", f.ExpectedTurns)
	}
	return s
}

// optimumText describes H*, the mark at which batches are cheapest.
func optimumText(f cachelayout.Figures) string {
	assumed := ""
	if f.RatiosAssumed {
		assumed = ", assumed"
	}
	ratios := fmt.Sprintf("write %gx, read %gx of input%s", f.WriteRatio, f.ReadRatio, assumed)
	if f.EOQHighWater < 0 || f.EOQBatch < 0 {
		return "by price alone never cut (" + ratios + ")"
	}
	return fmt.Sprintf("by price H* = %s, batches of %s (%s)", Thousands(int(f.EOQHighWater)), Thousands(int(f.EOQBatch)), ratios)
}
