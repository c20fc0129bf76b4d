package verbs

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/display"
	"github.com/memkernel/memkernel/kernel/api"
	sample "github.com/memkernel/memkernel/testdata"
)

// demoQuestions are asked of the sample's notes.
var demoQuestions = []string{"Is there a proxy in front of the service?", "Whom do I ask if a vessel was swapped?"}

func demoVerb(a *cli.App) *cobra.Command {
	explain := false
	cmd := &cobra.Command{
		Long: `demo asks two questions of a folder of notes, and plans one model call of a long
session. Notes and session are an invented sample, which the program carries. It lies in a
temporary folder while demo runs. Nothing else is written, and no setting is read.

--explain explains the same call in full, as plan --explain does, and then the words that
the explanation uses.`,
		Example: `  memkernel demo
  memkernel demo --explain`,
		RunE: with(a, &explain, runDemo),
	}
	cmd.Flags().BoolVar(&explain, "explain", false, "explain the planned call token by token")
	return cmd
}

func runDemo(ctx context.Context, a *cli.App, explain *bool) (err error) {
	if a.JSON {
		return cli.Usagef("demo has no --json: 'memkernel search --json' and 'memkernel plan --json' have")
	}
	dir, err := os.MkdirTemp("", "memkernel-demo-")
	if err != nil {
		return fmt.Errorf("make the folder of the sample: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(dir); err == nil && gone != nil {
			err = fmt.Errorf("remove the folder of the sample: %w", gone)
		}
	}()
	if err := os.CopyFS(dir, sample.Files); err != nil {
		return fmt.Errorf("write the sample: %w", err)
	}
	own := *a // the user's settings don't count, and their folder is not touched
	own.Settings = cli.Settings{Workspace: filepath.Join(dir, sample.Notes), StateDir: filepath.Join(dir, "state"), Config: config.Default()}
	demo := &display.Demo{}
	if demo.Files, demo.Answers, err = demoAnswers(ctx, &own); err != nil {
		return err
	}
	p := &planFlags{explain: *explain}
	p.transcript, p.view, p.resolver = *cli.TranscriptFile(filepath.Join(dir, sample.Session)), cli.Choice{Value: "full"}, "memory_get"
	p.fixed.Auto = true
	out, err := planOf(ctx, &own, p)
	if err != nil {
		return err
	}
	demo.Plan = &out.Plan
	demo.Plan.Implied = false // nobody sets the sample's fixed part by hand
	return a.Print(func(s *display.Sheet) {
		if !*explain {
			display.Tour(s, demo)
			return
		}
		display.Explain(s, demo.Plan)
		words, _ := cli.Terms(display.ExplainedIn(), s.Columns())
		s.Line("\nWords\n" + strings.TrimSuffix(words, "\n"))
	})
}

// demoAnswers asks the questions of the notes, and returns the number of files.
func demoAnswers(ctx context.Context, a *cli.App) (files int, out []display.Answer, err error) {
	k, err := a.Kernel(ctx, cli.Needs{})
	if err != nil {
		return 0, nil, err
	}
	defer k.Close()
	r, err := k.Reindex(ctx, nil)
	if err != nil {
		return 0, nil, err
	}
	for _, q := range demoQuestions {
		res, err := k.Search(ctx, api.SearchRequest{Query: q, Private: true, MaxResults: 1, Lines: true, Wait: -1})
		if err != nil {
			return 0, nil, err
		}
		out = append(out, display.Answer{Question: q, Result: res})
	}
	return r.Files, out, nil
}
