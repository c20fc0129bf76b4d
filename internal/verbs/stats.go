package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/billing"
	"github.com/memkernel/memkernel/serve/meter"
)

func statsVerb(a *cli.App) *cobra.Command {
	o := &billing.Options{}
	cmd := &cobra.Command{
		Long: `stats reads what every observed call was billed and, where it was planned, what that
was to cost: tokens by how they were billed, the price of the input side, how much of
it the cache served, which calls were cold and whether that was expected, and what cuts
have kept out of the prompts. Sums are per session, day and model. A call counts once
it was observed with its usage, whether that stands in the transcript (observe, the
hooks of hosts) or was handed in beside it; it is compared if the host named its plan.

What cuts saved is against sending everything ever said at every call, whether a
window holds it or not, and less what the cuts themselves had to rewrite. A price
that the book did not know when the call was observed is in no sum of costs.`,
		Example: `  memkernel stats
  memkernel stats --session build-42 --since 2026-03-09T00:00:00Z`,
		RunE: with(a, o, runStats),
	}
	f := cmd.Flags()
	f.StringVarP(&o.Session, "session", "s", "", "`key` of the session (default all)")
	cli.TimeFlag(f, &o.Since, "since", "leave out calls that were planned before")
	return cmd
}

func runStats(ctx context.Context, a *cli.App, o *billing.Options) error {
	st, err := usage(ctx, a, o)
	if err != nil {
		return err
	}
	for _, path := range st.Torn {
		a.Tip("the last line of %s was cut off and is left out", path)
	}
	return cli.Answer(a, document.OfUsage(st), st, showStats)
}

// usage returns the bills of calls. Days begin in the workspace's time zone.
func usage(ctx context.Context, a *cli.App, o *billing.Options) (*billing.Report, error) {
	o.Location = a.Config.Workspace.Timezone.Location()
	st, err := ask(ctx, a, cli.Needs{}, "", (*kernel.Kernel).Usage, *o)
	if damage := (*store.LogError)(nil); errors.As(err, &damage) {
		err = cli.Hint(err, "the file is a report and no state: mend that line or move %s away", damage.File)
	}
	return st, err
}

func gainVerb(a *cli.App) *cobra.Command {
	o := &billing.Options{}
	cmd := &cobra.Command{
		Long: `gain adds up the calls of the sessions that memkernel planned, by day: what the provider
billed, and about what the same calls would have cost without memkernel. The second figure
is an estimate. It is made once for each call and kept with the session, so that wrap, ui
and replay show the same. Where nothing was cut, kept out or added both figures are equal.
Requests that belong to no session are in neither. For a session that memkernel did not
plan, memkernel replay --transcript FILE simulates what could be saved.`,
		Example: `  memkernel gain
  memkernel gain --since 2026-11-01T00:00:00Z --json`,
		RunE: with(a, o, runGain),
	}
	cli.TimeFlag(cmd.Flags(), &o.Since, "since", "leave out calls that were made before")
	return cmd
}

func runGain(ctx context.Context, a *cli.App, o *billing.Options) error {
	st, err := usage(ctx, a, o)
	if err != nil {
		return err
	}
	saved := document.OfSaved(st, o.Location)
	_, err = answer(a, &saved, nil, showGain)
	return err
}

// showStats prints sums of what was planned and billed.
func showStats(s *display.Sheet, st *billing.Report) {
	t := &st.Total
	head := s.Say("{call} of {session}", t.Calls, len(st.Sessions))
	if t.Turns > 0 {
		head += s.Say(", {turn}", t.Turns)
	}
	s.Line("{}  {}", display.Inked("bold", "stats"), head)
	if t.Calls == 0 {
		s.Para(2, "", "nothing was observed with its usage yet, or nothing that the flags ask for")
		return
	}
	againstBill(s, t)
	said(s, t)
	sums(s, "by session", st.Sessions)
	sums(s, "by day", st.Days)
	sums(s, "by model", st.Models)
}

// againstBill writes the plan next to the bill for the calls that have both. If no call has both,
// it writes the bill.
func againstBill(s *display.Sheet, t *billing.Sum) {
	compared := t.Compared > 0
	table := s.Table(2, []int{16, -13, -13, -11})
	row := func(what string, planned, billed, by any) {
		if compared {
			table(what, planned, billed, by)
		} else {
			table(what, billed)
		}
	}
	row("", display.Inked("gray", "planned"), display.Inked("gray", "billed"), display.Inked("gray", "off by"))
	b, cost := t.Billed, costOf(t)
	if compared {
		b, cost = t.BilledCompared, display.Say("{}", t.ComparedCostUSD)
	}
	tokens := func(what string, planned, billed int) {
		if planned != 0 || billed != 0 {
			row(what, planned, billed, offBy(new(float64(planned)), new(float64(billed))))
		}
	}
	tokens("input tokens", t.Planned.InputTokens, b.InputTokens)
	tokens("  cache read", t.Planned.CacheReadTokens, b.CacheReadTokens)
	tokens("  write, short", t.Planned.CacheWrite5mTokens, b.CacheWrite5mTokens)
	tokens("  write, long", t.Planned.CacheWrite1hTokens, b.CacheWrite1hTokens)
	tokens("  uncached", t.Planned.UncachedTokens, b.UncachedTokens)
	row("cost of input", t.PlannedCostUSD, cost, "")
}

// said writes the facts that sums alone do not show.
func said(s *display.Sheet, t *billing.Sum) {
	line := func(name, form string, values ...any) { s.Hang(display.Left("  "+name, 18), 18, "", form, values...) }
	line("hit ratio", "{} of what was billed was read from the cache", display.OptionalShare(t.HitRatio))
	if t.Compared > 0 {
		line("error per call", "input {}, read {}, write {} (medians)", display.OptionalShare(t.InputError), display.OptionalShare(t.ReadError), display.OptionalShare(t.WriteError))
		line("cold calls", "{} expected, {} seen, {} of them expected", t.ColdExpected, t.ColdSeen, t.ColdBoth)
		line("cuts", "{} kept {} tokens out of prompts", t.Cuts, t.SavedTokens)
	}
	for _, f := range t.FirstSight {
		line("first sight", "{}: {result}, {} tokens kept out, {} fetched back", f.Kind, f.Results, f.Tokens, f.FetchedTokens)
	}
	if len(t.Broke) > 0 {
		line("host", "{}", hostBroke(t.Broke))
	}
	if r := t.Reasoning; r.LeftOutItems+r.DroppedItems > 0 {
		line("reasoning", "{item} lost at cuts ({%d} left out, {%d} for the provider to drop): {} tokens that were billed as output for {}",
			r.LeftOutItems+r.DroppedItems, r.LeftOutItems, r.DroppedItems, r.LeftOutTokens+r.DroppedTokens, r.LostUSD)
	}
	if len(t.Reasoning.Removed) > 0 {
		line("removed", "by the provider: {} of reasoning", removedText(t.Reasoning.Removed))
	}
	if t.Estimated > 0 && t.BilledUSD != nil {
		line("bill", "{} with the answers; without memkernel about {}", t.BilledUSD, t.WithoutUSD)
	}
	if t.Unpriced > 0 {
		line("unpriced", "{call} of models without a price, in no cost above", t.Unpriced)
	}
	if n := t.Calls - t.Compared; n > 0 {
		line("not compared", "{call} without a known plan, with {} tokens of input", n, t.Billed.InputTokens-t.BilledCompared.InputTokens)
	}
}

// hostBroke lists the number, the causes and the cost of cache breaks by a host.
func hostBroke(list []billing.Broken) string {
	var parts []string
	times := 0
	for _, b := range list {
		times += b.Times
		parts = append(parts, display.Say("{} {%d}x {} tokens {}", b.What, b.Times, shortTokens(b.Tokens), b.USD))
	}
	return display.Say("the host broke the cache {time}: {}", times, parts)
}

// removedText lists removed items by reason.
func removedText(list []memkernel.Removal) string {
	var parts []string
	for _, r := range list {
		parts = append(parts, display.Say("{item} ({})", r.Items, strings.ReplaceAll(r.Reason, "_", " ")))
	}
	return strings.Join(parts, ", ")
}

// sums writes a table of sums.
func sums(s *display.Sheet, title string, rows []billing.Sum) {
	s.Line("{}", display.Inked("bold", title))
	row := s.Table(2, []int{s.Columns() - 60, -7, -8, -9, -11, -9, -6, -8}, "", "calls", "input", "hits", "cost", "error", "cold", "saved")
	for i := range rows {
		r := &rows[i]
		row(r.Name, r.Calls, shortTokens(r.Billed.InputTokens), display.OptionalShare(r.HitRatio), costOf(r), display.OptionalShare(r.InputError), r.ColdSeen, shortTokens(r.SavedTokens))
	}
}

// costOf formats the cost of the calls of a sum. A plus means that some are unpriced.
func costOf(s *billing.Sum) string {
	if s.BilledCostUSD != nil && s.Unpriced > 0 {
		return display.Say("{}", s.BilledCostUSD) + "+"
	}
	return display.Say("{}", s.BilledCostUSD)
}

// gained returns one line about the sum of calls: their bill, and their estimated cost without
// memkernel.
func gained(s *meter.Sum) string {
	p := display.Style{}
	line := p.Say("{call}, billed {}", s.Calls, inCents(&s.BilledUSD))
	if s.Unpriced == s.Calls && s.Calls > 0 {
		line = p.Say("{call} of models without a price", s.Calls)
	}
	if n := s.Usage.InputTotal(); n > 0 {
		line += p.Say(" ({} tokens in, {} from the cache)", shortTokens(n), percent(s.Usage.CacheReadTokens, n))
	}
	if s.Estimated > 0 {
		by := change(s.BilledUSD, s.WithoutUSD)
		line += p.Say("; without about {}{?, }{} by an estimate", inCents(&s.WithoutUSD), by != "", by)
	}
	if s.Cuts > 0 {
		line += p.Say("; {cut}", s.Cuts)
	}
	if s.Unpriced > 0 && s.Unpriced < s.Calls {
		line += p.Say("; {call} of models without a price not counted", s.Unpriced)
	}
	return line
}

// change formats the difference of a bill from the cost without memkernel: −20 %. It returns "" for
// less than a cent.
func change(billed, without float64) string {
	if inCents(&without) == "$0.00" {
		return ""
	}
	p := int(math.Round(100 * (billed/without - 1)))
	switch {
	case p < 0:
		return fmt.Sprintf("−%d %%", -p)
	case p > 0:
		return fmt.Sprintf("+%d %%", p)
	}
	return "0 %"
}

// unknownModels names the models without a window or a price, and explains how to set the missing
// value.
func unknownModels(window, price []string) (lines []string) {
	if len(window) > 0 {
		lines = append(lines, "no window is known of "+strings.Join(window, ", ")+": nothing was cut; set plan.context_window in the configuration, or --context-window")
	}
	if len(price) > 0 {
		lines = append(lines, "no price is known of "+strings.Join(price, ", ")+": name a file that has it by prices in the configuration, or by --prices; memkernel prices import makes one")
	}
	return lines
}

// showGain prints the bills by day, and below them the bill of all days.
func showGain(s *display.Sheet, d *document.Saved) {
	if d.Calls == 0 {
		s.Line("memkernel planned no call yet, or none that the flags ask for")
		return
	}
	usd := func(v *float64) float64 { return *cmp.Or(v, new(float64)) }
	row := s.Table(0, []int{12, -10, -10, -10, -10}, "", "calls", "billed", "without")
	for i := range d.Days {
		o := &d.Days[i]
		row(o.Day, o.Calls, inCents(o.BilledUSD), inCents(o.WithoutUSD), change(usd(o.BilledUSD), usd(o.WithoutUSD)))
	}
	all := meter.Sum{Calls: d.Calls, Unpriced: d.Unpriced, BilledUSD: usd(d.BilledUSD), WithoutUSD: usd(d.WithoutUSD), Estimated: d.Calls}
	for _, text := range append([]string{"in all " + gained(&all)}, unknownModels(nil, d.Unknown)...) {
		s.Para(0, "", "{}", text)
	}
}
