package paging

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/transcript"
)

// flags are the flags of the verb.
type flags struct {
	transcripts []string
	turns       int
	noKernel    bool
}

// Verb is the verb paging of mkbench.
func Verb(a *cli.App) *cobra.Command {
	b := &flags{}
	cmd := &cobra.Command{
		Long: `paging runs the policies of the ClawVM paper over workloads: pages, the turns that
need, make and change them, and the compactions and resets that strike. It prints
the tables of the paper with our figures beside the paper's; = marks what follows from
the rules of our workloads, ~ what their page sizes were chosen for, all else is to
be compared and not to be equal. With --transcript recorded sessions are replayed
as well.`,
		Example: `  mkbench paging
  mkbench paging --no-kernel --transcript session.jsonl --turns 50`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return b.run(cmd.Context(), a) },
	}
	f := cmd.Flags()
	f.BoolVar(&b.noKernel, "no-kernel", false, "leave the kernel's own table out, which takes some ten seconds")
	f.StringSliceVarP(&b.transcripts, "transcript", "t", nil, "recorded session `files` to replay")
	f.IntVar(&b.turns, "turns", 0, "how many model calls of each session, 0 for 50, 100, 200 and all")
	return cmd
}

// document is the JSON of the whole evaluation.
type document struct {
	Schema string   `json:"schema"`
	Tables []*table `json:"tables"`
}

func (b *flags) run(ctx context.Context, a *cli.App) error {
	if b.turns < 0 || b.turns > 0 && len(b.transcripts) == 0 {
		return cli.Usagef("--turns is a number from 1 and goes with --transcript")
	}
	all, err := tables(ctx)
	if err == nil && !b.noKernel {
		var t *table
		t, err = kernelTable(ctx)
		all = append(all, t)
	}
	if err == nil && len(b.transcripts) > 0 {
		var t *table
		t, err = b.table10(ctx)
		all = append(all, t)
	}
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(document{"memkernel/bench_tables/v1", all})
	}
	p := a.Style()
	for _, t := range all {
		head, rest, _ := strings.Cut(t.text(), "\n")
		if _, err := fmt.Fprintf(a.Out, "%s\n%s\n", p.Paint("bold", head), rest); err != nil {
			return err
		}
	}
	_, err = io.WriteString(a.Out, p.Paint("gray", "ours, then (the paper's); = follows from our workloads' rules, ~ from sizes")+"\n")
	return err
}

// table10 reads the recorded sessions.
func (b *flags) table10(ctx context.Context) (*table, error) {
	var sessions []*transcript.Session
	for _, f := range b.transcripts {
		s, err := transcript.LoadFile(f, nil)
		if err != nil {
			return nil, err
		}
		sessions = append(sessions, s)
	}
	lengths := []int{50, 100, 200, 0}
	if b.turns > 0 {
		lengths = []int{b.turns}
	}
	return table10(ctx, sessions, !b.noKernel, lengths...)
}
