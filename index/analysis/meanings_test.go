package analysis

import (
	"slices"
	"strings"
	"testing"
)

func TestSameMeaning(t *testing.T) {
	for _, c := range []struct{ ask, want string }{
		{"turn on write-ahead logging", "enable"}, {"Turn on: the light", "enable"}, {"dictionaries", "dict"}, {"the k8s cluster", "kubernetes"},
		{"regular expressions", "regex"}, {"resized pictures", "image"}, {"kennwort", "password"}, {"¿contraseña?", "password"},
		{"数据库在哪里", "database"},
	} {
		var all []string
		for _, m := range SameMeaning(c.ask) {
			if len(m.Typed) == 0 || len(m.Same) == 0 {
				t.Errorf("%q: %+v", c.ask, m)
			}
			all = append(all, m.Same...)
		}
		if !slices.Contains(all, c.want) {
			t.Errorf("%q: %q, want %q among them", c.ask, all, c.want)
		}
	}
	for _, ask := range []string{"", "the heron", "turn it on", "turn, on", "heron\x00"} {
		if got := SameMeaning(ask); len(got) > 0 {
			t.Errorf("%q: %+v", ask, got)
		}
	}
}

// Each line of the table has at least two words in small letters, and none twice.
func TestMeaningsAreWellFormed(t *testing.T) {
	m := readMeanings()
	if len(m.lines) < 500 {
		t.Fatalf("%d lines", len(m.lines))
	}
	for _, line := range m.lines {
		seen := map[string]bool{}
		for _, w := range line {
			if w == "" || w != strings.TrimSpace(w) || w != strings.ToLower(w) || seen[w] || len(strings.Fields(w)) > mostTyped+1 {
				t.Errorf("%q in %q", w, line)
			}
			seen[w] = true
		}
		if len(line) < 2 {
			t.Errorf("%q", line)
		}
	}
}
