package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel/api"
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
