package main

import "github.com/spf13/cobra"

func newBench(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return usagef("unknown benchmark %q, use economics, paging or predict", args[0])
		},
	}
	cmd.AddCommand(newBenchEconomics(a), newBenchPaging(a), newBenchPredict(a))
	return cmd
}
