package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/kernel"
)

// beginning returns the words that begin with typed and that a shell can show.
func beginning(typed string, words []string) []cobra.Completion {
	var out []cobra.Completion
	for _, w := range words {
		if strings.HasPrefix(w, typed) && textutil.IsVisible(w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// CompleteWords lets the shell complete the words of a flag. If the flag takes a list, it
// completes the word after the last comma.
func CompleteWords(cmd *cobra.Command, flag string, words []string) {
	list := cmd.Flag(flag).Value.Type() == "stringSlice"
	Must(cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		head := ""
		if list {
			head = typed[:strings.LastIndexByte(typed, ',')+1]
		}
		out := beginning(typed[len(head):], words)
		for i := range out {
			out[i] = head + out[i]
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}))
}

// completeSessions completes the keys of the sessions in the state folder. An unreadable
// configuration yields no words, because a shell shows no errors.
func (a *App) completeSessions(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var keys []string
	if a.Prepare(cmd) == nil {
		if s, err := a.Stored(context.Background()); err == nil {
			keys, _ = kernel.Stored.SessionKeys(s)
		}
	}
	slices.Sort(keys)
	return beginning(typed, keys), cobra.ShellCompDirectiveNoFileComp
}
