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
	MarkdownFile = "economics.md"
	PictureFile  = "economics.svg"
)

// Write writes the report and its picture into a folder. command is what made it,
// now the day it was made on.
func (r *Report) Write(dir, command string, now time.Time) error {
	if len(r.Points) > 0 {
		if err := atomicfile.WriteFile(filepath.Join(dir, PictureFile), []byte(svg(r.curves(), r.curveTitle())), 0o644); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
	}
	if err := atomicfile.WriteFile(filepath.Join(dir, MarkdownFile), []byte(r.Markdown(command, now)), 0o644); err != nil {
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
	fmt.Fprintf(&b, head, now.UTC().Format(time.DateOnly), command, len(r.Options.Sessions), calls)
	for _, g := range r.Options.Regimes {
		fmt.Fprintf(&b, "- `%s`: %s, cache entries that live %s\n", g.Name, g.Model, lifetime(g.TTL))
	}
	b.WriteString(r.leftOut())
	b.WriteString("\n## Targets\n\nMedians over the sessions unless a row says otherwise. Costs and tokens are net of the\nfixed part. A saving counts only while as many references are shown as append-late\nshows, or up to 3 points less at the larger room. Smaller rooms have no targets.\n\n" + r.targetTable())
	if len(r.Points) > 0 {
		fmt.Fprintf(&b, "\n## Cost against recall\n\n![%s](%s)\n\nEach policy over its one figure, `%s`, room %dk; low and right is good.\n\n%s", r.curveTitle(), PictureFile,
			r.Options.Regimes[0].Name, curveRoom/1000, curveTable(r.curves()))
	}
	b.WriteString("\n" + columnsText)
	for _, c := range r.cells() {
		fmt.Fprintf(&b, "\n### %s, fixed part + %dk\n\n%s", c.regime, c.room/1000, r.policyTable(c))
	}
	if r.has(replay.Memkernel, replay.AppendLate, replay.Oracle) {
		b.WriteString("\n" + gapText)
		for _, c := range r.cells() {
			fmt.Fprintf(&b, "\n### Sessions, %s, fixed part + %dk\n\n%s", c.regime, c.room/1000, r.gapTable(c))
		}
	}
	return b.String()
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
			lines = append(lines, fmt.Sprintf("- %s, %s, fixed part + %dk: %s\n", s.Name, c.regime, c.room/1000, strings.Join(why, ", ")))
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
policy, with the same messages, token counts, clock and price book. ` + "`memkernel replay --help`" + `
says what the policies are. Agents could only use what their host's own compactions
had left them, so a policy that keeps more is not credited for what the agent might
have done with it. Only the input side is priced, and the summary calls of policies
that compact; tokens are counted and not billed. The fixed part (tools and system
prompt) is taken from the usage of each session's first call. The price regimes:

`

const leftOutText = `
Calls that a policy could not plan count for none of them, with what they would have
cost and shown; what was said in them stands in later prompts. ` + "`answered`" + `: the
conversation ended with a message of the model's; ` + "`no_messages`" + `: nothing stood before it;
` + "`does_not_fit`" + `: the least that must stand was larger than the window less the reserve;
` + "`refused`" + `: the plan was refused.

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
