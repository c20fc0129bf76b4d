package verbs

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

func TestParsePlace(t *testing.T) {
	type want struct {
		place
		isPath, ok bool
	}
	tests := map[string]want{
		"MEMORY.md":                     {place{"MEMORY.md", 0, 0}, true, true},
		"memory/a.md:3":                 {place{"memory/a.md", 3, 0}, true, true},
		"memory/a.md:3:9":               {place{"memory/a.md", 3, 9}, true, true},
		"memory/a.md#L3":                {place{"memory/a.md", 3, 1}, true, true},
		"memory/a.md#L3-L9":             {place{"memory/a.md", 3, 7}, true, true},
		"memory/10:30.MD":               {place{"memory/10:30.MD", 0, 0}, true, true},
		"/etc/passwd":                   {place{"/etc/passwd", 0, 0}, true, true},
		"/etc/passwd:1":                 {place{"/etc/passwd", 1, 0}, true, true},
		`..\x`:                          {place{`..\x`, 0, 0}, true, true},
		"ev-0123456789abcdef":           {place{"ev-0123456789abcdef", 0, 0}, false, true},
		"ev-0123456789abcdef@L3-L9":     {place{"ev-0123456789abcdef@L3-L9", 0, 0}, false, true},
		"ev-0123456789abcdef#L3-L9":     {place{"ev-0123456789abcdef#L3-L9", 0, 0}, false, true},
		"su-0123456789abcdef.decisions": {place{"su-0123456789abcdef.decisions", 0, 0}, false, true},
		"ev-0123456789abcdef.md":        {place{"ev-0123456789abcdef.md", 0, 0}, true, true},
		"notes:a.md#L3":                 {place{"notes:a.md", 3, 1}, true, true},
		"README.markdown:2":             {place{"README.markdown", 2, 0}, true, true},
		"notes:a b.mdx#L3-L4":           {place{"notes:a b.mdx", 3, 2}, true, true},
		".cursorrules#L3":               {place{".cursorrules", 3, 1}, true, true},
		"notes:.cursorrules:7":          {place{"notes:.cursorrules", 7, 0}, true, true},
		"MEMORY":                        {place{"MEMORY", 0, 0}, false, true},
		"a.md:x":                        {isPath: true}, "a.md:0": {isPath: true}, "a.md:1:0": {isPath: true}, "a.md#L9-L3": {isPath: true}, "a.md#3": {isPath: true},
		"a.md:1:2:3": {isPath: true}, "a.md:99999999999999999999": {isPath: true},
	}
	for in, w := range tests {
		pl, isPath, err := parsePlace(in)
		if isPath != w.isPath || (err == nil) != w.ok || w.ok && pl != w.place {
			t.Errorf("parsePlace(%q) = %+v, %v, %v", in, pl, isPath, err)
		}
	}
}

// TestPlacesRoundTrip: a citation of lines is read as these lines.
func TestPlacesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := "memory/" + rapid.StringMatching(`[a-zA-Z0-9:# ._-]{1,20}`).Draw(t, "name") + ".md"
		from := rapid.IntRange(1, 9999).Draw(t, "from")
		n := rapid.IntRange(1, 99).Draw(t, "lines")
		for _, s := range []string{citationOf(name, from, n), name + ":" + itoa(from) + ":" + itoa(n)} {
			pl, isPath, err := parsePlace(s)
			if err != nil || !isPath || pl != (place{name, from, n}) {
				t.Fatalf("parsePlace(%q) = %+v, %v, %v", s, pl, isPath, err)
			}
		}
	})
}

func citationOf(name string, from, n int) string {
	s := name + "#L" + itoa(from)
	if n > 1 {
		s += "-L" + itoa(from+n-1)
	}
	return s
}

func itoa(n int) string { return strconv.Itoa(n) }
