package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Beginning are the words that begin with what was typed.
func Beginning(typed string, words []string) []cobra.Completion {
	var out []cobra.Completion
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			out = append(out, w)
		}
	}
	return out
}
