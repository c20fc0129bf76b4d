package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// TimeFlag adds a flag for a time in RFC 3339.
func TimeFlag(f *pflag.FlagSet, to *time.Time, name, usage string) {
	f.Var((*timeValue)(to), name, usage)
}

type timeValue time.Time

// String implements pflag.Value.
func (t *timeValue) String() string {
	if v := time.Time(*t); !v.IsZero() {
		return v.Format(time.RFC3339)
	}
	return ""
}

// Type implements pflag.Value.
func (t *timeValue) Type() string { return "time" }

// Set implements pflag.Value.
func (t *timeValue) Set(s string) error {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2026-03-09T08:12:31Z", s)
	}
	*t = timeValue(v)
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
