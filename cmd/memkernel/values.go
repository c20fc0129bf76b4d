package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// tokenCount is a flag for a number of tokens: 200000, 200k, 1m.
type tokenCount int

func (n *tokenCount) String() string {
	if *n == 0 {
		return ""
	}
	return strconv.Itoa(int(*n))
}

func (n *tokenCount) Type() string { return "tokens" }

// Set reads a number with an optional k (thousand) or m (million).
func (n *tokenCount) Set(s string) error {
	unit := 1.0
	digits := strings.ToLower(strings.TrimSpace(s))
	switch {
	case strings.HasSuffix(digits, "k"):
		unit, digits = 1e3, digits[:len(digits)-1]
	case strings.HasSuffix(digits, "m"):
		unit, digits = 1e6, digits[:len(digits)-1]
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(digits, "_", ""), 64)
	if err != nil || v < 0 || v*unit > math.MaxInt32 || v*unit != math.Trunc(v*unit) {
		return fmt.Errorf("%q is not a number of tokens such as 200000, 200k or 1m", s)
	}
	*n = tokenCount(v * unit)
	return nil
}

// UnmarshalText lets a configuration file use the same spelling.
func (n *tokenCount) UnmarshalText(b []byte) error { return n.Set(string(b)) }

// set is how a flag would be given, "" if it was not.
func (n tokenCount) set() string { return n.String() }

// timeValue is a flag for a time in RFC 3339.
type timeValue struct{ time.Time }

func (t *timeValue) String() string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339)
}

func (t *timeValue) Type() string { return "time" }

func (t *timeValue) Set(s string) error {
	v, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("%q is not a time such as 2026-03-09T08:12:31Z", s)
	}
	t.Time = v
	return nil
}

// choice is a flag that takes one of a few words.
type choice struct {
	value string
	of    []string
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.of, "|") }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.of, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(c.of, ", "))
	}
	c.value = s
	return nil
}
