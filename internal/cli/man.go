package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ManVerb prints man pages from the command tree, as --help and completion do.
func ManVerb(a *App) *cobra.Command {
	return &cobra.Command{
		Hidden: true,
		Long:   "man prints the man page of memkernel, or writes one page per verb into a folder.",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return Usagef("man takes one folder, got %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return writeMan(a.Out, cmd.Root())
			}
			return writeManFolder(args[0], cmd.Root())
		},
	}
}

// writeManFolder writes a page for every verb that is not hidden.
func writeManFolder(dir string, cmd *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write man pages: %w", err)
	}
	for _, c := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
		if c.Hidden || c.IsAdditionalHelpTopicCommand() || c.Name() == "help" {
			continue
		}
		var b strings.Builder
		if err := writeMan(&b, c); err != nil {
			return err
		}
		path := filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1")
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			return fmt.Errorf("write man pages: %w", err)
		}
	}
	return nil
}

// writeMan writes the page of one command in the man macros of roff.
func writeMan(w io.Writer, cmd *cobra.Command) error {
	var b strings.Builder
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
	fmt.Fprintf(&b, ".TH %q 1\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), roff(name), roff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(cmd.UseLine()))
	long := cmd.Long
	if long == "" {
		long = cmd.Short
	}
	b.WriteString(".SH DESCRIPTION\n" + paragraphs(long))
	if cmd.Example != "" {
		b.WriteString(".SH EXAMPLE\n.nf\n" + roff(cmd.Example) + "\n.fi\n")
	}
	flagSection(&b, "OPTIONS", cmd.NonInheritedFlags())
	flagSection(&b, "SHARED OPTIONS", cmd.InheritedFlags())
	verbSection(&b, cmd)
	if !cmd.HasParent() {
		b.WriteString(".SH EXIT STATUS\n0 success, also if nothing was found; 1 an error; 2 a mistake in the call; 3 a check has findings; 128 and the number of a signal.\n")
		b.WriteString(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nif set, text is not coloured.\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func flagSection(b *strings.Builder, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	b.WriteString(".SH " + title + "\n")
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		spelled := "--" + f.Name
		if f.Shorthand != "" {
			spelled = "-" + f.Shorthand + ", " + spelled
		}
		fmt.Fprintf(b, ".TP\n.B %s", roff(spelled))
		if kind != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(kind))
		}
		b.WriteString("\n" + roff(usage))
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" {
			fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
		}
		b.WriteString("\n")
	})
}

func verbSection(b *strings.Builder, cmd *cobra.Command) {
	first := true
	for _, c := range cmd.Commands() {
		if !c.IsAvailableCommand() {
			continue
		}
		if first {
			b.WriteString(".SH VERBS\n")
			first = false
		}
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", roff(c.Name()), roff(c.Short))
	}
}

// paragraphs turns text into roff: indented blocks stay as they are.
func paragraphs(text string) string {
	var b strings.Builder
	for _, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(p, "  ") {
			b.WriteString(".PP\n.nf\n" + roff(p) + "\n.fi\n")
		} else {
			b.WriteString(".PP\n" + roff(p) + "\n")
		}
	}
	return b.String()
}

// roff escapes characters that roff would read as a command.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, ".") || strings.HasPrefix(l, "'") {
			lines[i] = `\&` + l
		}
	}
	return strings.Join(lines, "\n")
}
