package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/internal/config"
	"github.com/memkernel/memkernel/internal/tokencount"
	"github.com/memkernel/memkernel/kernel/api"
	"github.com/memkernel/memkernel/transcript"
)

// TimeValue is a flag for a time in RFC 3339.
type TimeValue struct{ time.Time }

// String implements pflag.Value.
func (t *TimeValue) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

// Type implements pflag.Value.
func (t *TimeValue) Type() string { return "time" }

// Set implements pflag.Value.
func (t *TimeValue) Set(s string) error {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2026-03-09T08:12:31Z", s)
	}
	t.Time = v
	return nil
}

// Choice is a flag that takes one of a few words.
type Choice struct {
	Value string
	Of    []string
}

// String implements pflag.Value.
func (c *Choice) String() string { return c.Value }

// Type implements pflag.Value.
func (c *Choice) Type() string { return strings.Join(c.Of, "|") }

// Set implements pflag.Value.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Of, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(c.Of, ", "))
	}
	c.Value = s
	return nil
}

// OverflowFlag is a flag for a provider's refusal: its text, or the name of a file with the text.
type OverflowFlag struct {
	set  bool
	text string
}

// String implements pflag.Value.
func (o *OverflowFlag) String() string { return o.text }

// Type implements pflag.Value.
func (o *OverflowFlag) Type() string { return "text" }

// Set reads the file named s. If there is no such file, it takes s itself as the text.
func (o *OverflowFlag) Set(s string) error {
	o.set, o.text = true, s
	if len(s) > 4096 || strings.ContainsAny(s, "\n\x00") {
		return nil
	}
	fi, err := os.Stat(s)
	if err != nil || !fi.Mode().IsRegular() {
		return nil
	}
	data, err := os.ReadFile(s)
	if err != nil {
		return fmt.Errorf("read the refusal: %w", err)
	}
	o.text = string(data)
	return nil
}

// Refusal returns the refusal that the user passed, nil if the user passed none.
func (o *OverflowFlag) Refusal() *api.Overflow {
	if !o.set {
		return nil
	}
	return &api.Overflow{Text: o.text}
}

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
