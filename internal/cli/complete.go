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

// Complete is a completion by words that depend on the configuration. An unreadable configuration
// yields no words, because a shell shows no errors.
func (a *App) Complete(words func() []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if a.Prepare(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return beginning(typed, words()), cobra.ShellCompDirectiveNoFileComp
	}
}

// SessionKeys returns the keys of the sessions in the state folder.
func (a *App) SessionKeys() []string {
	var keys []string
	if s, err := a.Stored(context.Background()); err == nil {
		keys, _ = kernel.Stored.SessionKeys(s)
	}
	slices.Sort(keys)
	return keys
}

// ModelNames returns the models of the price book.
func (a *App) ModelNames() (out []string) {
	book, err := a.Book()
	if err != nil {
		return nil
	}
	for _, m := range book.Models() {
		out = append(out, m.ID)
	}
	return out
}

// SettingNames returns the keys of the configuration.
func (a *App) SettingNames() (out []string) {
	for _, k := range a.Config.Keys() {
		out = append(out, k.Name)
	}
	return out
}

// maxPaths is the largest number of files to offer.
const maxPaths = 1000

// MemoryPaths returns the paths of memory's files.
func (a *App) MemoryPaths() (out []string) {
	st, err := a.OpenStore(context.Background(), a.Private())
	if err != nil || st == nil {
		return nil
	}
	defer st.Close()
	for f, err := range st.Walk(context.Background()) {
		if err == nil {
			out = append(out, f.Path)
		}
		if len(out) == maxPaths {
			break
		}
	}
	return out
}
