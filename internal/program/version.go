package program

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/cli"
)

// Version is the verb version.
func Version(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			v := cli.Build()
			if a.JSON {
				return a.WriteJSON(v)
			}
			_, err := fmt.Fprintln(a.Out, v.Line())
			return err
		},
	}
}
