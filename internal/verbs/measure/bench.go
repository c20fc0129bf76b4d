// Package measure has the verbs that judge policies and search.
package measure

import (
	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
)

// Bench is the verb bench.
func Bench(a *cli.App) *cobra.Command {
	cmd := &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return cli.UnknownVerb(cmd, args[0])
		},
	}
	cmd.AddCommand(newBenchEconomics(a), newBenchPaging(a), newBenchPredict(a), newBenchTasks(a))
	return cmd
}
