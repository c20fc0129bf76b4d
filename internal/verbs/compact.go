package verbs

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// compactFlags are the flags of compact.
type compactFlags struct {
	lifeFlags
	windowFlags
	target   config.Tokens
	force    bool
	overflow *api.Overflow
	fixed    fixedValue
	text     bool
}

func compactVerb(a *cli.App) *cobra.Command {
	o := &compactFlags{}
	cmd := &cobra.Command{Long: `compact takes in what the conversation holds, checkpoints it, flushes it to the log
of today and sums it up; then it cuts the prompt. The next plan begins with what
was cut, and has the size that compact prints. No model is asked: the summary is
ready. If nothing can be reclaimed, it says why and changes nothing.

A host that compacts its own history calls it before and takes the text that --text
prints: the summary, and what a model needs to go on. A host whose request was
refused as too long hands the provider's words in with --overflow.

With --transcript the conversation is read from there. Without it the next plan
makes the cut.`,
		Example: `  memkernel compact -t session.jsonl
  memkernel compact -t session.jsonl --target 40k --force
  memkernel compact -t session.jsonl --text > resume.txt
  memkernel compact -t session.jsonl --overflow refusal.txt`,
		RunE: with(a, o, runCompact),
	}
	o.lifeFlags.add(cmd, "full", fileOfTranscript)
	o.addOwn(a, cmd)
	return cmd
}

func (o *compactFlags) addOwn(a *cli.App, cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "why, for the record")
	f.Var(&o.target, "target", "size that the whole prompt should come down to (default the low-water mark, or half of the conversation)")
	f.BoolVar(&o.force, "force", false, "cut inside an open tool loop, too")
	overflowFlag(f, &o.overflow, "a provider's refusal as too long: its `text`, or a file that holds it")
	o.windowFlags.add(f, "the last plan's, or the price book's", "the last plan's, or a fifth, 8k to 40k", "", "the tool or command")
	o.fixed.Add(f)
	economyFlag(cmd)
	f.BoolVar(&o.text, "text", false, "print summary and restore text alone")
	a.SharedFlag(f)
}

func runCompact(ctx context.Context, a *cli.App, o *compactFlags) error {
	book, err := a.Book()
	if err != nil {
		return err
	}
	b, err := compactBoundary(a, o, book)
	if err != nil {
		return err
	}
	p, err := ask(ctx, a, cli.Needs{Prices: book}, "", (*kernel.Kernel).Compact, b)
	if err != nil {
		return err
	}
	c := p.Compaction
	if o.text && !a.JSON {
		_, err := fmt.Fprintln(a.Out, strings.TrimSpace(c.Restore+"\n\n"+c.Summary))
		return err
	}
	if err := showPassed(a, b.SessionKey, "compact", p); err != nil || a.JSON {
		return err
	}
	for _, text := range []string{c.Detail, c.Warning} {
		if text != "" {
			a.Tip("%s", text)
		}
	}
	if n := b.Compact.FixedTokens; n > 0 && n == c.FixedTokens {
		a.Tip("the figures have %s", fixedRemark(n))
	}
	return nil
}

// compactBoundary reads the transcript and adds the options of the compaction and of the next
// call.
func compactBoundary(a *cli.App, o *compactFlags, book *cachelayout.Book) (api.Boundary, error) {
	b, session, err := boundaryOf(a, &o.lifeFlags)
	if err != nil {
		return b, err
	}
	fixed, err := o.fixed.Implied(session, b.Messages, session.System, session.Tools, book)
	if err != nil {
		return b, err
	}
	b.Compact = &api.CompactWish{Tokens: int(o.target), Force: o.force, FixedTokens: fixed, Overflow: o.overflow,
		Call: &api.PlanRequest{ContextWindow: int(o.window), Reserve: int(o.reserve), FixedTokens: int(o.fixed.Tokens), Resolver: o.resolver,
			Private: a.Private(), System: session.System, Tools: session.Tools}}
	return b, nil
}

// showCompaction prints the result of a compaction.
func showCompaction(s *display.Sheet, c *api.Compaction) {
	if c.Reason == api.CompactOK {
		s.Line("  {} tokens before, {} after: {} reclaimed", c.TokensBefore, c.TokensAfter, c.ReclaimedTokens)
		s.Line("  {message} in {atom} left, {result} shown shorter", c.Messages, c.Atoms, c.Lowered)
		if c.FirstKept != nil {
			s.Line("  kept from message {%d} on: {}", c.FirstKept.Index+1, display.Clip(c.FirstKept.Key, display.Columns-40))
		}
	} else {
		s.Line("  0 tokens reclaimed of {}: {}", c.TokensBefore, c.Reason)
	}
	for _, it := range c.Largest {
		if it.Tokens > 0 {
			s.Line("  {%8s}  {}", display.Thousands(it.Tokens), display.Clip(it.Name, display.Columns-12))
		}
	}
}
