package verbs

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/budget"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/internal/cli"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// sourceFlags are the flags for the source of a session.
type sourceFlags struct{ file, channel, agent string }

// Add adds the flags to a verb. The help text of --session-file ends with the parameter file.
func (s *sourceFlags) Add(cmd *cobra.Command, file string) {
	f := cmd.Flags()
	f.StringVar(&s.file, "session-file", "", "`path` of the host's transcript, kept in checkpoints"+file)
	f.StringVar(&s.channel, "channel", "", "`name` of the channel that the person writes on, such as telegram, kept in checkpoints")
	f.StringVar(&s.agent, "agent", "", "`name` of the agent that answers, kept in checkpoints")
}

// fileOfTranscript ends the help text of --session-file in verbs where --transcript is the default.
// The verb plan has no such default, because a plan must be the same on every machine.
const fileOfTranscript = " (default the file of --transcript)"

// Of returns the source of a session that was read from the file at path. The session may be nil.
// The paths "" and - mean that there is no file.
func (s *sourceFlags) Of(path string, session *transcript.Session) checkpoint.Source {
	out := checkpoint.Source{File: s.file, Channel: s.channel, Agent: s.agent}
	if session != nil {
		out.Compactions = len(session.Compactions())
	}
	if out.File == "" && path != "" && path != "-" {
		out.File = path
		if abs, err := filepath.Abs(path); err == nil {
			out.File = abs
		}
	}
	return out
}

// viewFlag is a flag for the view of a session.
func viewFlag(cmd *cobra.Command, v *cli.Choice, def string) {
	*v = cli.Choice{Value: def, Of: []string{"host", "full"}}
	cmd.Flags().Var(v, "view", "which messages count: those that the host would send, or all there ever were")
	cli.CompleteWords(cmd, "view", v.Of)
}

// viewOf returns the view that the flag names.
func viewOf(c *cli.Choice) transcript.View {
	if c.Value == "full" {
		return transcript.Full
	}
	return transcript.Host
}

// overflowFlag adds --overflow to a verb. It takes a provider's refusal: its text, or the name of a
// file with the text.
func overflowFlag(f *pflag.FlagSet, to **api.Overflow, usage string) {
	f.Func("overflow", usage, func(s string) error {
		*to = &api.Overflow{Text: s}
		if len(s) > 4096 || strings.ContainsAny(s, "\n\x00") {
			return nil
		}
		if fi, err := os.Stat(s); err != nil || !fi.Mode().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(s)
		if err != nil {
			return fmt.Errorf("read the refusal: %w", err)
		}
		(*to).Text = string(data)
		return nil
	})
}

// fixedValue is a number of tokens. Until the user gives a number, the recorded usage implies the
// number.
type fixedValue struct {
	config.Tokens
	// Auto reports that the user gave no number.
	Auto bool
}

// Set implements pflag.Value.
func (v *fixedValue) Set(s string) error {
	v.Auto = false
	return v.Tokens.Set(s)
}

// String implements pflag.Value.
func (v *fixedValue) String() string {
	if v.Auto {
		return "as recorded"
	}
	return v.Tokens.String()
}

// Add adds --fixed-tokens to a verb.
func (v *fixedValue) Add(f *pflag.FlagSet) {
	v.Auto = true
	f.Var(v, "fixed-tokens", "size of a system prompt and tools that the transcript doesn't hold (default what its first billed call implies; 0 for none)")
}

// Implied returns the number that the recorded usage implies. It returns 0 if the user gave a
// number, if nothing was billed, or if the transcript holds the system prompt and tools, as a
// request does.
func (v *fixedValue) Implied(s *transcript.Session, msgs []memkernel.Message, system []memkernel.Part, tools []memkernel.Tool, book *cachelayout.Book) (int, error) {
	request := s.Dialect.Document() && len(s.System)+len(s.Tools) > 0
	if !v.Auto || request || len(system) > 0 && len(tools) > 0 {
		return 0, nil
	}
	price, _ := cmp.Or(book, cachelayout.DefaultBook()).Lookup(s.Model, time.Time{})
	counter, err := budget.NewModel(price.Tokenizer, s.Model, nil)
	if err != nil {
		return 0, err
	}
	msgs, _ = transcript.Repair(msgs, false)
	return counter.Fixed(msgs, system, tools), nil
}

// economyFlag adds --economy to a verb that plans. The flag overrides the setting economy.
func economyFlag(cmd *cobra.Command) *cachelayout.Economy {
	e := cachelayout.Balanced
	cmd.Flags().Var(&e, "economy", "what to prefer where memory costs money: save, balanced, keep, or a `number` from 0 to 1")
	cli.CompleteWords(cmd, "economy", []string{string(cachelayout.Save), string(cachelayout.Balanced), string(cachelayout.Keep)})
	return &e
}

// nowFlag adds --now to a verb whose answer depends on the time.
func nowFlag(cmd *cobra.Command, to *time.Time) {
	cli.TimeFlag(cmd.Flags(), to, "now", "the moment that ages are counted to, in RFC 3339 (default now)")
}
