package cli

import (
	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/tokencount"
	"github.com/memkernel/memkernel/transcript"
)

// FixedValue is a number of tokens. Until the user gives a number, the recorded usage implies the
// number.
type FixedValue struct {
	config.Tokens
	// Auto reports that the user gave no number.
	Auto bool
}

// Set implements pflag.Value.
func (v *FixedValue) Set(s string) error {
	v.Auto = false
	return v.Tokens.Set(s)
}

// String implements pflag.Value.
func (v *FixedValue) String() string {
	if v.Auto {
		return "as recorded"
	}
	return v.Tokens.String()
}

// Add adds --fixed-tokens to a verb.
func (v *FixedValue) Add(f *pflag.FlagSet) {
	v.Auto = true
	f.Var(v, "fixed-tokens", "size of a system prompt and tools that the transcript doesn't hold (default what its first billed call implies; 0 for none)")
}

// Implied returns the number that the recorded usage implies. It returns 0 if the user gave a
// number, if nothing was billed, or if the transcript holds the system prompt and tools, as a
// request does.
func (v *FixedValue) Implied(s *transcript.Session, msgs []memkernel.Message, system []memkernel.Part, tools []memkernel.Tool, book *cachelayout.Book) (int, error) {
	request := s.Dialect.Document() && len(s.System)+len(s.Tools) > 0
	if !v.Auto || request || len(system) > 0 && len(tools) > 0 {
		return 0, nil
	}
	counter, err := tokencount.ForModel(book, s.Model)
	if err != nil {
		return 0, err
	}
	msgs, _ = transcript.Repair(msgs, false)
	return counter.Fixed(msgs, system, tools), nil
}
