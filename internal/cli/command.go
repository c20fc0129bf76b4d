package cli

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/kernel/health"
)

// named matches a command in a text, such as 'memkernel reindex'.
var named = regexp.MustCompile(`'memkernel [a-z][^']*'`)

// remember keeps the flags that choose the workspace, as the user gave them. [UI.Commands] adds them
// to the commands in hints.
func (u *UI) remember(cmd *cobra.Command) {
	u.given = ""
	for _, name := range []string{"workspace", "state-dir", "config"} {
		if f := cmd.Flags().Lookup(name); f != nil && f.Changed {
			u.given += " --" + name + " " + shellWord(f.Value.String())
		}
	}
}

// Commands completes the commands in a text so that a user can type them unchanged. It adds the
// flags for the workspace of this call, and uses the name of the running program.
func (u *UI) Commands(text string) string {
	if !strings.Contains(text, "'memkernel ") {
		return text
	}
	return named.ReplaceAllStringFunc(text, func(command string) string {
		if !strings.Contains(command, "--help") && !strings.HasPrefix(command, "'memkernel prices ") { // these have no workspace
			command = strings.TrimSuffix(command, "'") + u.given + "'"
		}
		if u.Name == "memkernel-server" { // its verbs are memkernel's
			command = "'" + u.Name + strings.TrimPrefix(command, "'memkernel")
		}
		return command
	})
}

// Findings completes the commands in the hints of findings.
func (u *UI) Findings(of []health.Finding) {
	for i := range of {
		of[i].Hint = u.Commands(of[i].Hint)
	}
}

// shellWord returns a value as one word of a shell: unchanged if it has no special character,
// otherwise in double quotes, because the command itself is in single quotes.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("_-./:=@%+,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}
