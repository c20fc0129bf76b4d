package economics

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
	"github.com/memkernel/memkernel/internal/document"
	"github.com/memkernel/memkernel/replay"
)

// The files that a report is written to.
const (
	markdownFile = "economics.md"
	pictureFile  = "economics.svg"
)

// Write writes the report and its picture into a folder. command is what made it,
// now the day it was made on.
func (r *Report) Write(dir, command string, now time.Time) error {
	if len(r.Points) > 0 {
		if err := atomicfile.WriteFile(filepath.Join(dir, pictureFile), []byte(svg(r.curves(), r.curveTitle())), 0o644); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, markdownFile), []byte(r.Markdown(command, now)), 0o644); err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}

func (r *Report) curveTitle() string {
	return fmt.Sprintf("Cost against recall, %d sessions, %s, fixed part + %dk", len(r.Options.Sessions), r.Options.Regimes[0].Name, curveRoom/1000)
}

// Markdown returns the report.
func (r *Report) Markdown(command string, now time.Time) string {
	var b strings.Builder
	calls := 0
	for _, w := range r.of(r.cells()[0], r.Options.Policies[0]) {
		calls += w.Totals.Calls
	}
	fmt.Fprintf(&b, head, now.UTC().Format(time.DateOnly), command, len(r.Options.Sessions), calls, policyList())
	for _, g := range r.Options.Regimes {
		window := ""
		if g.Window > 0 {
			window = fmt.Sprintf(", a window of %dk", g.Window/1000)
		}
		fmt.Fprintf(&b, "- `%s`: %s, cache entries that live %s%s\n", g.Name, g.Model, lifetime(g.TTL), window)
	}
	b.WriteString(r.leftOut())
	b.WriteString("\n" + billText)
	for _, c := range r.cells() {
		fmt.Fprintf(&b, "\n### What it comes to, %s\n\n%s", r.title(c), r.billTable(c))
	}
	b.WriteString("\n## Targets\n\nOver all sessions unless a row says otherwise. The bill is the whole one; gaps and tokens\nare net of the fixed part. Beside it stand the actions that were ready.\n\n" + r.targetTable())
	if len(r.Points) > 0 {
		fmt.Fprintf(&b, "\n## Cost against recall\n\n![%s](%s)\n\nEach policy over its one figure, `%s`, room %dk; low and right is good.\n\n%s", r.curveTitle(), pictureFile,
			r.Options.Regimes[0].Name, curveRoom/1000, curveTable(r.curves()))
	}
	if m, err := document.MeasuredEconomy(); err == nil && len(m.Rows) > 0 {
		b.WriteString("\n" + EconomyMarkdown(m))
	}
	b.WriteString("\n" + columnsText)
	for _, c := range r.cells() {
		fmt.Fprintf(&b, "\n### %s\n\n%s", r.title(c), r.policyTable(c))
	}
	if r.has(replay.Memkernel, replay.AppendLate, replay.Oracle) {
		b.WriteString("\n" + gapText)
		for _, c := range r.cells() {
			fmt.Fprintf(&b, "\n### Sessions, %s\n\n%s", r.title(c), r.gapTable(c))
		}
	}
	if r.has(replay.Memkernel, replay.Oracle) {
		b.WriteString("\n" + distanceText)
		for _, c := range r.cells() {
			fmt.Fprintf(&b, "\n### Causes, %s\n\n%s", r.title(c), r.distanceTable(c))
		}
	}
	return b.String()
}

// policyList lists the policies with what they do.
func policyList() string {
	var b strings.Builder
	for _, p := range replay.About() {
		fmt.Fprintf(&b, "- `%s`: %s\n", p.Name, p.About)
	}
	return b.String() + "\n"
}

// leftOut returns which calls are in no figure, "" if there are none.
func (r *Report) leftOut() string {
	var lines []string
	for _, c := range r.cells() {
		of := r.of(c, r.Options.Policies[0])
		for _, s := range r.Options.Sessions {
			w := of[s.Name]
			if w == nil || len(w.Totals.Unplanned) == 0 {
				continue
			}
			var why []string
			for _, reason := range slices.Sorted(maps.Keys(w.Totals.Unplanned)) {
				why = append(why, fmt.Sprintf("%d `%s`", w.Totals.Unplanned[reason], reason))
			}
			lines = append(lines, fmt.Sprintf("- %s, %s: %s\n", s.Name, r.title(c), strings.Join(why, ", ")))
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return leftOutText + strings.Join(lines, "")
}

// lifetime prints a duration in its largest unit.
func lifetime(d time.Duration) string {
	if d >= time.Hour {
		return fmt.Sprintf("%d h", d/time.Hour)
	}
	return fmt.Sprintf("%d minutes", d/time.Minute)
}

const head = `# What context policies cost and show

Made on %s by ` + "`%s`" + `, which anyone can run on sessions of their own.

%d recorded sessions with %d model calls are replayed call by call under every
policy, with the same messages, token counts, clock and price book. Agents could only use
what their host's own compactions had left them, so a policy that keeps more is not
credited for what the agent might have done with it. Tokens are counted and not billed;
answers are those that were recorded. The fixed part (tools and system prompt) is taken from the usage of each session's first call. The policies (` + "`memkernel replay --help`" + `
says what figures may follow a name):

%sThe price regimes:

`

const leftOutText = `
Calls that a policy could not plan count for none of them, with what they would have
cost and shown; what was said in them stands in later prompts. ` + "`answered`" + `: the
conversation ended with a message of the model's; ` + "`no_messages`" + `: nothing stood before it;
` + "`does_not_fit`" + `: the least that must stand was larger than the window less the reserve;
` + "`refused`" + `: the plan was refused.

`

const billText = `## What it comes to

The whole bill has the fixed part, the summary calls of policies that compact, and the
recorded answers. Actions are tool calls with input that was seen before (paths,
identifiers, numbers, quoted strings): one is ready if all of that stood in the prompt. A
blind edit replaces a line that was seen before and was not shown. References are what
the agent named next, beyond the last 8,000 tokens.
`

const columnsText = `## By window and prices

Median over the sessions, and in brackets the worst one. Costs and tokens are net of
the fixed part and compared with append-late on the same session.

- cost: the input side, and the summary calls of policies that compact
- and getting back: with what it would have cost to fetch every page that was needed
  and did not stand, by a pointer or by reading it again: written once, read on until
  the next cut, and one more reading of the prompt per round
- after a gap, written: by the first call after the cache entries' lifetime
- warm hits: cache reads over all input, calls that found the cache cold left out
- references shown, anchors: of what the agent's answers refer to, and of the lines
  that its edits rest on
- caused re-reads: recorded reads of lines seen before, and edits of such, that the
  prompt did not show, over all recorded reads; the 30 calls after the host's own
  compaction are left out
- to fetch, lost: pages needed that stood behind a pointer, or nowhere
- overflows: prompts over window − reserve. Faults: the kernel's own, as far as
  another choice of what stands would have prevented them (refetch and
  duplicate_tool)

Pages, cuts, overflows, violations and faults are sums over the sessions.
`

const gapText = `## Distance to the oracle and to the bound

The oracle knows what comes. Its plan is found by dynamic programming over the calls
at which a cut could be made, shows at least as many references as memkernel did, and
the last 8,000 tokens, and is replayed and billed like the others. It ignores that a
cut may leave the leading part cached, excerpts and pointers, references that stand
in several older places, and dearer price tiers: so it can be followed, and a better
one may exist. The bound is proved: every token is written once, when it is new, and
nothing is retained. Costs are net of the fixed part.
`

const distanceText = `## Where the distance comes from

The same distances by their causes, with the fixed part, in US dollars; they sum to the
whole. An oracle that shows as much is the comparison, so what is left is what knowing
the future would save.

- selection: what was sent when it was new, and read again by every call for which it stood
- fixed part: tools and system prompt, written and read
- cuts, gaps: older messages that a cut, or a call that found the cache cold, wrote again,
  and the calls that wrote summaries
- rest: what memkernel added itself, such as what it recalled, and what other calls did not
  find in the cache
`
