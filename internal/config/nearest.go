package config

import (
	"fmt"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// suggest returns the hint for a key that a section doesn't have: the key that was probably
// meant, or the existing keys if no key is similar.
func (c *Config) suggest(s section, word string) string {
	if _, known := c.find(word); known && strings.Contains(word, ".") {
		return "a dot is a level of the file: write " + short(word) + " indented below its section"
	}
	near := c.nearest(s, short(word))
	if _, key := c.find(near); key && s.name != "" && !strings.Contains(near, ".") {
		return fmt.Sprintf("did you mean %s, at the top of the file?", near)
	}
	if near != "" {
		return fmt.Sprintf("did you mean %s?", near)
	}
	if s.name == "" {
		keys := len(s.keys)
		return fmt.Sprintf("sections are %s; %s stands by itself", strings.Join(s.words()[keys:], ", "), strings.Join(s.words()[:keys], ", "))
	}
	return fmt.Sprintf("keys of %s are %s", s.name, strings.Join(s.words(), ", "))
}

// words returns the names that may be in a section.
func (s section) words() []string {
	var out []string
	for _, k := range s.keys {
		out = append(out, short(k.Name))
	}
	for _, b := range s.sections {
		out = append(out, short(b.name))
	}
	return out
}

// nearest returns the full name of the key that a word misspells, within a third of the word's
// length, or "". It prefers keys of the same section.
func (c *Config) nearest(s section, word string) string {
	best, name := 2*(len(word)/3+1), ""
	try := func(full string, far int) {
		if d := 2*textutil.Distance(word, short(full)) + far; d < best {
			best, name = d, full
		}
	}
	for _, w := range s.words() {
		try(strings.TrimPrefix(s.name+"."+w, "."), 0)
	}
	for _, full := range c.tree().names() {
		try(full, 1)
	}
	return name
}

// names returns the full names of all sections and keys.
func (s section) names() []string {
	var out []string
	for _, k := range s.keys {
		out = append(out, k.Name)
	}
	for _, b := range s.sections {
		out = append(append(out, b.name), b.names()...)
	}
	return out
}
