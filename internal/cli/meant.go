package cli

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/internal/textutil"
)

// UnknownVerb returns the error for a word that is not a verb of cmd. It suggests the first of these
// that exist: verbs for which people use the word, verbs that a part of the word names, verbs for
// which people use a part of the word, and verbs with a similar spelling. A word that people use for a
// verb counts as similar only with one wrong letter, because short words resemble many others.
func UnknownVerb(cmd *cobra.Command, word string) error {
	near := wordFor(cmd, word)
	var names, words, named []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names, words = append(names, c.Name()), append(words, c.SuggestFor...)
		}
	}
	parts := strings.FieldsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if near == nil {
		for _, part := range parts {
			if slices.Contains(names, part) {
				named = append(named, part)
			}
		}
		near = named
	}
	for i := 0; near == nil && i < len(parts); i++ {
		near = wordFor(cmd, parts[i])
	}
	if near == nil {
		near = textutil.Nearest(word, names)
		if also := textutil.Nearest(word, words); len(also) > 0 && textutil.Distance(word, also[0]) == 1 && (len(near) == 0 || textutil.Distance(word, near[0]) > 1) {
			near = wordFor(cmd, also[0])
		}
	}
	slices.Sort(near)
	near = slices.Compact(near)
	what := fmt.Sprintf("unknown verb %q", word)
	switch {
	case len(near) > 0:
		return UsageWith(what, fmt.Sprintf("did you mean %s?", strings.Join(near, " or ")))
	case len(names) < 6:
		return UsageWith(what, "verbs are "+strings.Join(names, ", "))
	}
	return UsageWith(what, fmt.Sprintf("run '%s --help' for all verbs", cmd.CommandPath()))
}

// wordFor returns the verbs of cmd that have a word as their name, or for which people use it.
func wordFor(cmd *cobra.Command, word string) (out []string) {
	for _, c := range cmd.Commands() {
		if !c.Hidden && (strings.EqualFold(c.Name(), word) || slices.ContainsFunc(c.SuggestFor, func(s string) bool { return strings.EqualFold(s, word) })) {
			out = append(out, c.Name())
		}
	}
	return out
}

// FlagWords are other words that people use for flags, by the flag's name. A flag of one name
// means the same in every verb.
var FlagWords = map[string]string{
	"max-results":    "limit max top top-k topk count num number results hits max-count max-hits k n l first most",
	"limit":          "max max-results top count num number n l most last",
	"transcript":     "file input session-file transcript-file session-log jsonl log path from source f i",
	"session":        "id key session-id session-key chat conversation thread",
	"workspace":      "project dir directory folder root cwd repo path C p",
	"state-dir":      "state data data-dir store db database",
	"config":         "conf cfg settings rc c",
	"apply":          "yes y force f confirm do-it execute no-dry-run",
	"yes":            "y force f confirm apply",
	"json":           "format output o machine-readable as-json json-output j",
	"quiet":          "silent s no-hints",
	"color":          "colour no-color no-colour",
	"to":             "topic file path in into target dest destination output o",
	"for-good":       "permanent permanently hard purge forever force erase",
	"version":        "V",
	"everywhere":     "all-sessions global words text",
	"all":            "everything whole full a",
	"scope":          "tag tags folder folders in path project filter",
	"collection":     "folder dir in",
	"min-score":      "score threshold min cutoff",
	"explain":        "verbose why debug details v",
	"wait":           "timeout no-wait",
	"now":            "date at time",
	"model":          "llm engine",
	"prompt":         "question text message query p q",
	"context-window": "window context size tokens max-tokens limit budget",
	"reserve":        "answer max-output output-tokens",
	"remove":         "delete rm drop del",
	"name":           "as alias label call",
	"include":        "only path file add",
	"host":           "agent client for",
	"diff":           "changes patch d p",
	"full":           "force all rebuild",
	"upstream":       "url target api base-url",
	"reason":         "why because message comment",
	"ended":          "done finished end close final",
}

// flagFor returns the flags of cmd for which people use a word.
func flagFor(cmd *cobra.Command, word string) (out []string) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && slices.Contains(strings.Fields(FlagWords[f.Name]), word) {
			out = append(out, f.Name)
		}
	})
	slices.SortStableFunc(out, func(a, b string) int { // a verb's own flags come first
		own := func(name string) int {
			if cmd.LocalNonPersistentFlags().Lookup(name) != nil {
				return 0
			}
			return 1
		}
		return own(a) - own(b)
	})
	return out
}

// withText puts a -- before the texts of a command line if an argument begins with a dash and can't be
// a flag, such as "- buy milk". The flags come before the --. The texts keep their order.
func withText(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || !slices.ContainsFunc(rest, isText) {
		return args
	}
	verb := strings.Fields(cmd.CommandPath())[1:]
	var flags, texts []string
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			texts = append(texts, rest[i+1:]...)
			break
		}
		if isText(arg) || arg == "-" || !strings.HasPrefix(arg, "-") {
			texts = append(texts, arg)
			continue
		}
		flags = append(flags, arg)
		name := strings.TrimLeft(arg, "-")
		f := cmd.Flags().Lookup(name)
		if !strings.HasPrefix(arg, "--") && f == nil {
			f = cmd.Flags().ShorthandLookup(name[len(name)-1:])
		}
		if f == nil {
			f = root.PersistentFlags().Lookup(name)
		}
		if f != nil && f.NoOptDefVal == "" && i+1 < len(rest) {
			i++
			flags = append(flags, rest[i])
		}
	}
	return slices.Concat(verb, flags, []string{"--"}, texts)
}

// isText reports whether an argument that begins with a dash can be no flag.
func isText(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return strings.HasPrefix(arg, "-") && strings.ContainsFunc(name, unicode.IsSpace)
}
