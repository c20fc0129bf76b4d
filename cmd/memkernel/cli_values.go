package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/kernel"
)

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
	Value string
	Of    []string
}

func (c *choice) String() string { return c.Value }
func (c *choice) Type() string   { return strings.Join(c.Of, "|") }

func (c *choice) Set(s string) error {
	if !slices.Contains(c.Of, s) {
		return fmt.Errorf("%q is none of %s", s, strings.Join(c.Of, ", "))
	}
	c.Value = s
	return nil
}

// overflowFlag is a provider's refusal: a text, or the name of a file that holds it.
type overflowFlag struct {
	set  bool
	text string
}

func (o *overflowFlag) String() string { return o.text }

func (o *overflowFlag) Type() string { return "text" }

// Set takes a file's content if there is one of that name.
func (o *overflowFlag) Set(s string) error {
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

// refusal is what was handed in, nil if nothing was.
func (o *overflowFlag) refusal() *kernel.Overflow {
	if !o.set {
		return nil
	}
	return &kernel.Overflow{Text: o.text}
}
