package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

// VersionVerb is the verb version.
func VersionVerb(a *App) *cobra.Command {
	return &cobra.Command{
		RunE: func(cmd *cobra.Command, args []string) error {
			v := Build()
			if a.JSON {
				return a.WriteJSON(v)
			}
			_, err := fmt.Fprintln(a.Out, v.Line())
			return err
		},
	}
}
