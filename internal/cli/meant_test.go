package cli

import (
	"slices"
	"testing"

	"github.com/spf13/cobra"

	"github.com/memkernel/memkernel/kernel/api"
)

// A text may begin with a dash wherever no flag can stand.
func TestWithText(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"remember", "a", "--to", "x.md"}, []string{"remember", "a", "--to", "x.md"}},
		{[]string{"remember", "- a b", "--to", "x.md"}, []string{"remember", "--to", "x.md", "--", "- a b"}},
		{[]string{"remember", "--to=x.md", "-5 degrees", "it is", "-q"}, []string{"remember", "--to=x.md", "-q", "--", "-5 degrees", "it is"}},
		{[]string{"--workspace", "w", "remember", "--no force is used", "-n", "3"}, []string{"remember", "--workspace", "w", "-n", "3", "--", "--no force is used"}},
		{[]string{"remember", "--to", "- a b", "c"}, []string{"remember", "--to", "- a b", "--", "c"}},
		{[]string{"remember", "-a b", "--", "-c"}, []string{"remember", "--", "-a b", "-c"}},
		{[]string{"remember", "-"}, []string{"remember", "-"}},
	} {
		root := &cobra.Command{Use: "memkernel"}
		root.PersistentFlags().String("workspace", "", "")
		root.PersistentFlags().BoolP("quiet", "q", false, "")
		verb := &cobra.Command{Use: "remember", Run: func(*cobra.Command, []string) {}}
		verb.Flags().String("to", "", "")
		verb.Flags().IntP("max", "n", 0, "")
		root.AddCommand(verb)
		if got := withText(root, c.args); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.args, got, c.want)
		}
	}
}

// Without a terminal nobody speaks for a person, and a mark that is off is none.
func TestVoice(t *testing.T) {
	for _, m := range agentMarks {
		t.Setenv(m, "")
	}
	if v := (&UI{}).Voice(); v != api.VoiceAgent {
		t.Errorf("without a terminal: %s", v)
	}
	t.Setenv("CLAUDECODE", "0")
	if got := agentMark(); got != "" {
		t.Errorf("%s=0 is a mark", got)
	}
	for _, m := range agentMarks {
		t.Setenv("CLAUDECODE", "")
		t.Setenv(m, "1")
		if got := agentMark(); got != m {
			t.Errorf("%s is no mark: %q", m, got)
		}
		t.Setenv(m, "")
	}
}
