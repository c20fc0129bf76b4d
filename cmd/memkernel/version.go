package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newVersion(a *app) *cobra.Command {
	return &cobra.Command{
		Args: noArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := buildVersion()
			if a.JSON {
				return a.writeJSON(v)
			}
			_, err := fmt.Fprintf(a.Out, "memkernel %s %s %s\n", v.Version, v.Go, v.Platform)
			return err
		},
	}
}
