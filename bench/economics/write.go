package economics

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/atomicfile"
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
	b.WriteString("\n## Targets\n\nFigures are sums over all sessions unless a row says otherwise. The bill includes the fixed\npart; gaps and tokens do not. The last columns are the actions that were ready.\n\n" + r.targetTable())
	if len(r.Points) > 0 {
		fmt.Fprintf(&b, "\n## Cost against recall\n\n![%s](%s)\n\nEach policy over its one figure, `%s`, room %dk; low and right is good.\n\n%s", r.curveTitle(), pictureFile,
			r.Options.Regimes[0].Name, curveRoom/1000, curveTable(r.curves()))
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
policy, with the same messages, token counts, clock and price book. Answers are the
recorded ones. An agent could only use text that its own host's compactions had left, so
a policy gets no credit for keeping more. The size of the fixed part (tools and system
prompt) comes from the usage of each session's first call. The policies, whose figures
` + "`memkernel replay --help`" + ` explains:

%sThe price regimes:

`

const leftOutText = `
A call that one policy could not plan is in no policy's figures; its messages are in later
prompts. ` + "`answered`" + `: the conversation ended with a message of the model's;
` + "`no_messages`" + `: there was no message before it; ` + "`does_not_fit`" + `: the smallest possible prompt
was larger than the window less the reserve; ` + "`refused`" + `: the plan was refused.

`

const billText = `## What it comes to

The whole bill includes the fixed part, the summary calls of policies that compact, and
the recorded answers. An action is a tool call whose input was seen before (paths,
identifiers, numbers, quoted strings). It is ready if the prompt held all of that input. A
blind edit replaces a line that was seen before and that the prompt did not hold.
References are names that the agent used next and that it had seen more than 8,000 tokens
earlier.
`

const columnsText = `## By window and prices

Medians over the sessions, with the worst session in brackets. Costs and tokens exclude
the fixed part and are compared with append-late on the same session.

- cost: input, and the summary calls of policies that compact
- and getting back: cost, plus the cost of fetching every needed page that the prompt did
  not show: one write, reads until the next cut, and one more reading of the prompt
- after a gap, written: by the first call after the cache entries' lifetime
- warm hits: cache reads over all input, without the calls that found the cache cold
- references shown, anchors: names in the agent's answers, and lines that its edits need
- caused re-reads: recorded reads and edits of lines that were seen before and that the
  prompt did not show, over all recorded reads, without the 30 calls after a compaction
  of the host
- to fetch, lost: needed pages that were a pointer in the prompt, or missing
- overflows: prompts over window − reserve
- faults: refetch and duplicate_tool faults that another choice of pages would have
  prevented

Pages, cuts, overflows, violations and faults are sums over the sessions.
`

const gapText = `## Distance to the oracle and to the bound

The oracle knows the rest of the session. Dynamic programming over the possible cuts finds
its plan, which shows the last 8,000 tokens and at least as many references as memkernel
did, and is replayed and billed like the others. It ignores excerpts, pointers, repeated
references, price tiers, and that a cut may leave the beginning cached, so a better plan
may exist. The bound is proved: every token is written once, when it is new, and nothing
is retained. Costs exclude the fixed part.
`

const distanceText = `## Where the distance comes from

The same distances by cause, with the fixed part, in US dollars. The causes add up to the
whole. The oracle shows as much, so the distance to it is the value of knowing the future.

- selection: messages that were sent when new, and read again by every later call that
  kept them
- fixed part: tools and system prompt, written and read
- cuts, gaps: older messages that a cut, or a call that found the cache cold, wrote again,
  and the calls that wrote summaries
- rest: text that memkernel added, such as recalled memory, and other cache misses
`
