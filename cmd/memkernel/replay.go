package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/bench/replay"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/transcript"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	transcript transcriptFlags
	policies   []string
	window     config.Tokens
	reserve    config.Tokens
	fixed      config.Tokens
	model      string
	ttl        time.Duration
	resolver   string
	view       choice
	limit      int
	trace      string
}

func newReplay(a *app) *cobra.Command {
	r := &replayFlags{}
	cmd := &cobra.Command{
		Use:   "replay --transcript FILE",
		Short: "replay a session call by call under context policies, and compare",
		Long: `replay runs every recorded call of a session again under one or more policies and
prints what they would have cost and how much of what the agent referred to they
showed. Nothing is sent anywhere and the project's state is not touched.

  memkernel    this program: append, cut in batches and when the cache is cold
  append-late  append until full, then a summary and the newest messages
  fullest      everything ever said, however large

With --trace it decides again what a trace says was decided, and shows the first
decision that comes out otherwise (exit code 3). A trace is what stands in a
session's folder as trace.jsonl, or what bench paging --trace writes. Decisions of
another version are counted apart: they may well differ.`,
		Example: `  memkernel replay -t session.jsonl --context-window 128k --fixed-tokens 25k
  memkernel replay -t session.jsonl --policy memkernel --json
  memkernel replay --trace .memkernel/sessions/default/trace.jsonl`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if r.trace != "" {
				return a.replayTrace(r.trace)
			}
			return a.runReplay(cmd.Context(), r)
		},
	}
	r.transcript.add(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&r.policies, "policy", replay.Policies(), "`policies` to compare")
	f.Var(&r.window, "context-window", "size of the window, such as 200k (default the price book's)")
	f.Var(&r.reserve, "reserve", "what is kept free for the answer (default the policy's own)")
	f.Var(&r.fixed, "fixed-tokens", "size of a system prompt and tools that the transcript doesn't hold")
	f.StringVarP(&r.model, "model", "m", "", "model `id` (default the recorded one)")
	f.DurationVar(&r.ttl, "ttl", 0, "lifetime of cache entries, 5m or 1h (default the recorded writes')")
	f.StringVar(&r.resolver, "resolver", "", "the tool or command by which the model can follow pointers, by `name`")
	f.IntVar(&r.limit, "limit", 0, "stop after `N` calls")
	f.StringVar(&r.trace, "trace", "", "re-run the decisions of a paging trace `file` instead of a session")
	cmd.MarkFlagsMutuallyExclusive("trace", "transcript")
	viewFlag(cmd, &r.view, "full")
	a.pricesFlag(cmd)
	completeWords(cmd, "policy", replay.Policies())
	return cmd
}

// replayJSON is the document for several policies.
type replayJSON struct {
	Schema  string           `json:"schema"`
	View    string           `json:"view"`
	Results []*replay.Result `json:"results"`
}

// replayOneJSON is the document for one policy: its result as it stands.
type replayOneJSON struct {
	Schema string `json:"schema"`
	View   string `json:"view"`
	*replay.Result
}

func (a *app) runReplay(ctx context.Context, r *replayFlags) error {
	if err := r.check(); err != nil {
		return err
	}
	book, err := a.book()
	if err != nil {
		return err
	}
	src, err := a.openSource(&r.transcript)
	if err != nil {
		return err
	}
	defer src.close()
	session, err := a.load(src)
	if err != nil {
		return err
	}
	doc := replayJSON{Schema: "memkernel/replay/v1", View: r.view.value, Results: []*replay.Result{}}
	for _, policy := range r.policies {
		a.progress("replaying under %s", policy)
		result, err := a.replayOne(ctx, session, policy, r, book)
		a.progressDone()
		if err != nil {
			return err
		}
		doc.Results = append(doc.Results, result)
	}
	switch {
	case a.json && len(doc.Results) == 1:
		return a.writeJSON(replayOneJSON{doc.Schema, doc.View, doc.Results[0]})
	case a.json:
		return a.writeJSON(doc)
	}
	_, err = a.out.Write([]byte(replayTable(doc.Results, a.painter())))
	return err
}

func (r *replayFlags) check() error {
	if r.transcript.path == "" {
		return usagef("replay needs --transcript FILE")
	}
	for _, p := range r.policies {
		known := choice{of: replay.Policies()}
		if err := known.Set(p); err != nil {
			return usagef("--policy %s", err)
		}
	}
	if r.ttl < 0 || r.limit < 0 {
		return usagef("--ttl and --limit are not negative")
	}
	return nil
}

// replayOne runs one policy with its state in a folder that is thrown away.
func (a *app) replayOne(ctx context.Context, s *transcript.Session, policy string, r *replayFlags, book *cachelayout.Book) (*replay.Result, error) {
	scratch, err := os.MkdirTemp("", "memkernel-replay-")
	if err != nil {
		return nil, fmt.Errorf("replay %s: %w", policy, err)
	}
	defer os.RemoveAll(scratch)
	return replay.Run(ctx, s, policy, replay.Options{
		ContextWindow: int(r.window), Reserve: int(r.reserve), FixedTokens: int(r.fixed), Model: r.model, TTL: r.ttl,
		Resolver: r.resolver, View: r.view.view(), Limit: r.limit, Prices: book, Scratch: filepath.Clean(scratch),
	})
}

// replayTable puts the policies side by side.
func replayTable(results []*replay.Result, p painter) string {
	var b strings.Builder
	const label, col = 20, 18
	line := func(name string, of func(t *replay.Totals) string) {
		b.WriteString("  " + left(name, label))
		for _, r := range results {
			b.WriteString(right(of(&r.Totals), col))
		}
		b.WriteString("\n")
	}
	b.WriteString(p.do(bold, left("memkernel replay", label+2)))
	for _, r := range results {
		b.WriteString(p.do(bold, right(r.Policy, col)))
	}
	b.WriteString("\n")
	if len(results) > 0 {
		b.WriteString("  " + left("model", label) + " " + clip(results[0].Model, columns-label-3) + "\n")
	}
	number := func(of func(t *replay.Totals) int) func(*replay.Totals) string {
		return func(t *replay.Totals) string { return thousands(of(t)) }
	}
	line("calls", number(func(t *replay.Totals) int { return t.Calls }))
	line("input tokens", number(func(t *replay.Totals) int { return t.InputTokens }))
	line("  cache read", number(func(t *replay.Totals) int { return t.CacheReadTokens }))
	line("  cache write", number(func(t *replay.Totals) int { return t.CacheWriteTokens }))
	line("  uncached", number(func(t *replay.Totals) int { return t.UncachedTokens }))
	line("hit ratio", func(t *replay.Totals) string { return share(t.HitRatio) })
	line("cost", func(t *replay.Totals) string { return dollars(t.CostUSD) })
	line("cuts", number(func(t *replay.Totals) int { return t.Cuts }))
	line("cold events", number(func(t *replay.Totals) int { return t.ColdEvents }))
	line("overflows", number(func(t *replay.Totals) int { return t.Overflows }))
	line("violations", number(func(t *replay.Totals) int { return t.Violations }))
	line("faults", number(func(t *replay.Totals) int { return t.Faults }))
	line("references", number(func(t *replay.Totals) int { return t.References }))
	line("  shown", func(t *replay.Totals) string { return share(t.ReferenceRecall) })
	line("  only named", func(t *replay.Totals) string { return share(t.Named) })
	line("  behind a pointer", func(t *replay.Totals) string { return share(t.Pointer) })
	line("edit anchors shown", func(t *replay.Totals) string { return share(t.AnchorRecall) })
	for _, l := range wrap("What is replayed is what was recorded: the agent could only use what its host's own compactions had left it. Input side only, and the summary calls of append-late.", columns-2) {
		b.WriteString("  " + p.do(gray, l) + "\n")
	}
	return b.String()
}
