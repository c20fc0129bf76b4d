package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/textutil"
)

// UnknownVerb returns the error for a word that is not a verb of cmd. It suggests verbs that have
// the word as an alias, or else verbs with a similar spelling.
func UnknownVerb(cmd *cobra.Command, word string) error {
	var near, names []string
	for _, c := range cmd.Commands() {
		if c.Hidden {
			continue
		}
		names = append(names, c.Name())
		if slices.ContainsFunc(c.SuggestFor, func(s string) bool { return strings.EqualFold(s, word) }) {
			near = append(near, c.Name())
		}
	}
	if len(near) == 0 {
		near = textutil.Nearest(word, names)
	}
	if len(near) == 0 && len(names) < 6 {
		return UsageWith(fmt.Sprintf("unknown verb %q", word), "verbs are "+strings.Join(names, ", "))
	}
	if len(near) == 0 {
		return UsageWith(fmt.Sprintf("unknown verb %q", word), fmt.Sprintf("run '%s --help' for all verbs", cmd.CommandPath()))
	}
	return UsageWith(fmt.Sprintf("unknown verb %q", word), fmt.Sprintf("did you mean %s?", strings.Join(near, " or ")))
}
