package cli

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/kernel/health"
)

// named is a command in a text, such as 'memkernel reindex'.
var named = regexp.MustCompile(`'memkernel [a-z][^']*'`)

// remember keeps the shared flags that say of which workspace the call is, as they were
// given, for commands that hints name.
func (u *UI) remember(cmd *cobra.Command) {
	u.given = ""
	for _, name := range []string{"workspace", "state-dir", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			u.given += " --" + name + " " + shellWord(f.Value.String())
		}
	}
}

// Commands completes the commands that a text names, so that they can be typed as they are: with
// the workspace of this call, and the name of the program that runs.
func (u *UI) Commands(text string) string {
	if !strings.Contains(text, "'memkernel ") {
		return text
	}
	return named.ReplaceAllStringFunc(text, func(command string) string {
		if !strings.Contains(command, "--help") && !strings.HasPrefix(command, "'memkernel prices ") { // those are of no workspace
			command = strings.TrimSuffix(command, "'") + u.given + "'"
		}
		if u.Name == "memkernel-server" { // its verbs are memkernel's
			command = "'" + u.Name + strings.TrimPrefix(command, "'memkernel")
		}
		return command
	})
}

// Findings has the hints of findings name whole commands.
func (u *UI) Findings(of []health.Finding) {
	for i := range of {
		of[i].Hint = u.Commands(of[i].Hint)
	}
}

// shellWord spells a value as one word of a shell: as it is, if nothing in it means
// anything there. It stands in a command between single quotes, so that it has double
// ones.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if strings.ContainsRune("\\\"$`", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	b.WriteByte('"')
	return b.String()
}
