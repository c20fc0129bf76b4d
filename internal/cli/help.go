package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel/internal/display"
)

// helpVerb prints help on a verb, or explains the words that all of them use.
func (p *Program) helpVerb(a *App) *cobra.Command {
	return &cobra.Command{
		Use: "help [VERB | terms [WORD...]]", GroupID: p.Groups[0].ID, SuggestFor: strings.Fields("terms glossary docs manual commands h ?"),
		Short: "print help on a verb; 'help terms' explains the words used",
		Long:  "help prints help on a verb. 'help terms' explains the words that help, explanations and\ndocuments use: all of them, or those that are named.",
		Example: `  memkernel help plan
  memkernel help terms
  memkernel help terms page pointer`,
		ValidArgsFunction: completeHelp,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "terms" {
				return showTerms(a, args[1:])
			}
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return UnknownVerb(about, rest[0])
			}
			about.InitDefaultHelpFlag()
			about.InitDefaultVersionFlag()
			return about.Help()
		},
	}
}

func completeHelp(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	var out []cobra.Completion
	if len(args) > 0 && args[0] == "terms" {
		return beginning(typed, termNames()), cobra.ShellCompDirectiveNoFileComp
	}
	of, _, err := cmd.Root().Find(args)
	if err != nil || of == nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	for _, c := range of.Commands() {
		if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), typed) {
			out = append(out, cobra.CompletionWithDesc(c.Name(), c.Short))
		}
	}
	if len(args) == 0 && strings.HasPrefix("terms", typed) {
		out = append(out, cobra.CompletionWithDesc("terms", "what the words mean"))
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

// showTerms explains the words in asked, or all terms.
func showTerms(a *App, asked []string) error {
	text, unknown := Terms(asked, a.Style().Width)
	if unknown != "" {
		return UsageWith(fmt.Sprintf("%q is none of the words explained", unknown), "run 'memkernel help terms' for all")
	}
	_, err := io.WriteString(a.Out, text)
	return err
}

// help prints the purpose and usage of a verb with its examples, verbs and flags, in the width of
// the screen.
func help(a *App, cmd *cobra.Command) {
	width := a.Style().Width
	var b strings.Builder
	for p := range strings.SplitSeq(strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), "\n\n") {
		b.WriteString(paragraph(p, width) + "\n\n")
	}
	b.WriteString("Usage:\n")
	if !cmd.HasAvailableSubCommands() || strings.Contains(cmd.Use, " ") { // the verb itself has arguments
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s VERB [flags]\n", cmd.CommandPath())
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.ReplaceAll(cmd.Example, "  memkernel ", "  "+cmd.Root().Name()+" "))
	}
	for _, g := range append(cmd.Groups(), &cobra.Group{Title: "Verbs"}) {
		var rows [][2]string
		for _, c := range cmd.Commands() {
			if c.GroupID == g.ID && (c.IsAvailableCommand() || c.Name() == "help") {
				rows = append(rows, [2]string{c.Name(), c.Short})
			}
		}
		columns(&b, g.Title, 11, width, rows)
	}
	columns(&b, "Flags", 24, width, flagRows(cmd.LocalFlags()))
	columns(&b, "Flags of every verb", 24, width, flagRows(cmd.InheritedFlags()))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nRun '%s VERB --help' for more on a verb.\n", cmd.CommandPath())
	}
	io.WriteString(a.Out, b.String())
}

// paragraph wraps text. Indented lines are a table and stay unchanged.
func paragraph(p string, width int) string {
	if strings.HasPrefix(p, " ") || strings.Contains(p, "\n ") {
		return p
	}
	return strings.Join(display.Wrap(p, width), "\n")
}

// columns writes rows of a name and a text under a title, unless there are none. A name that is
// wider than its column has a line of its own.
func columns(b *strings.Builder, title string, wide, width int, rows [][2]string) {
	for i, r := range rows {
		if i == 0 {
			fmt.Fprintf(b, "\n%s:\n", title)
		}
		name := r[0]
		if len(name) > wide {
			fmt.Fprintf(b, "  %s\n", name)
			name = ""
		}
		for _, l := range display.Wrap(r[1], width-wide-4) {
			fmt.Fprintf(b, "  %-*s  %s\n", wide, name, l)
			name = ""
		}
	}
}

// flagRows returns the spelling of each flag with its value, and its purpose with the default.
func flagRows(set *pflag.FlagSet) (rows [][2]string) {
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, does := pflag.UnquoteUsage(f)
		if c, ok := f.Value.(*Choice); ok {
			kind, does = "word", does+": "+strings.Join(c.Of, ", ")
		}
		spelled := "    --" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", --" + f.Name
		}
		if kind != "" && f.NoOptDefVal == "" {
			spelled += " " + strings.ToUpper(kind)
		}
		if !slices.Contains([]string{"", "false", "0", "0s", "[]"}, f.DefValue) && !strings.Contains(does, "(default") {
			does += " (default " + f.DefValue + ")"
		}
		rows = append(rows, [2]string{spelled, does})
	})
	return rows
}
