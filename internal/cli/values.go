package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"
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
