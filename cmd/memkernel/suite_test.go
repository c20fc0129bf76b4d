package main

import (
	"context"
	"testing"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/internal/textutil"
)

func init() { suite.Quick(0) }

// TestPatterns: whatever package has a pattern that is compiled late has a good one.
func TestPatterns(t *testing.T) {
	if textutil.CompileAll() == 0 {
		t.Error("no pattern")
	}
}

func run(ctx context.Context, u *cli.UI, args []string) int { return command.Run(ctx, u, args) }

func newRoot(a *cli.App) *cobra.Command { return command.Root(a) }
