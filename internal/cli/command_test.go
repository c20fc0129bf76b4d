package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// Commands that hints name say of which workspace they are, by the flags as they were
// given and as a shell reads them.
func TestCommandsRepeatTheFlags(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string // behind 'memkernel reindex
	}{
		{nil, ""},
		{[]string{"--quiet", "--json"}, ""},
		{[]string{"--workspace", "/srv/notes"}, " --workspace /srv/notes"},
		{[]string{"--workspace=notes", "--config", "c.yaml", "--state-dir", "s"}, " --workspace notes --state-dir s --config c.yaml"},
		{[]string{"--workspace", "."}, " --workspace ."},
		{[]string{"--workspace", ""}, ` --workspace ""`},
		{[]string{"--workspace", "/home/mika/私の メモ"}, ` --workspace "/home/mika/私の メモ"`},
		{[]string{"--workspace", "/home/mika/メモ"}, " --workspace /home/mika/メモ"},
		{[]string{"--state-dir", `it's "$HOME" \ ` + "`ls`"}, ` --state-dir "it's \"\$HOME\" \\ ` + "\\`ls\\`\""},
		{[]string{"--workspace", "~/notes"}, ` --workspace "~/notes"`},
		{[]string{"--workspace", "a;b&c|d>e*?[f](g)#h"}, ` --workspace "a;b&c|d>e*?[f](g)#h"`},
	} {
		a := &App{UI: &UI{}}
		cmd := &cobra.Command{Use: "memkernel", RunE: func(cmd *cobra.Command, _ []string) error { a.remember(cmd); return nil }}
		a.SharedFlags(cmd)
		cmd.SetArgs(c.args)
		if err := cmd.Execute(); err != nil {
			t.Fatal(err)
		}
		got := a.Commands("run 'memkernel reindex', or see 'memkernel search --help'; 'memkernel reindex --full' moves 'it' aside")
		want := "run 'memkernel reindex" + c.want + "', or see 'memkernel search --help'; 'memkernel reindex --full" + c.want + "' moves 'it' aside"
		if got != want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.args, got, want)
		}
		if sh, err := exec.LookPath("sh"); err == nil && c.want != "" {
			out, err := exec.Command(sh, "-c", `printf '%s\n' `+c.want).Output()
			for _, arg := range c.args {
				_, value, cut := strings.Cut(arg, "=")
				if !cut {
					value = arg
				}
				if err != nil || !strings.Contains("\n"+string(out), "\n"+value+"\n") {
					t.Errorf("a shell reads %s as %q, %v", c.want, out, err)
				}
			}
		}
	}
}
