package represent

import (
	"regexp"
	"strings"
)

// Class is a kind of fact.
type Class int

// The classes of facts, see the package comment.
const (
	paths Class = iota
	identifiers
	numbers
	errorLines
	classes
)

func (c Class) String() string {
	return [...]string{"paths", "identifiers", "numbers", "error lines"}[c]
}

var (
	path       = regexp.MustCompile(`(?:~|\.{1,2})?/?(?:[\w.@+-]+/)+[\w.@+-]+|\b[\w-]+\.[A-Za-z][A-Za-z0-9]{0,7}\b`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w{4,}`)
	inner      = regexp.MustCompile(`^.+[_0-9]|[a-z][A-Z]`)
	number     = regexp.MustCompile(`\b(?:\d+\.\d+|\d{3,})\b`)
	speaksOf   = regexp.MustCompile(`(?i)\b(error|fatal|panic|fail(ed|ure|s)?|exception|traceback|warn(ing)?)\b`)
	gutter     = regexp.MustCompile(`(?m)^ *\d{1,7}(→|\t)`)
)

const (
	minPath   = 5
	maxErrors = 480 // bytes of a line that is still one fact
)

// facts returns the distinct facts of a text, by class.
func facts(text string) (out [classes]map[string]bool) {
	for c := range out {
		out[c] = map[string]bool{}
	}
	for _, p := range path.FindAllString(text, -1) {
		if len(p) >= minPath {
			out[paths][p] = true
		}
	}
	for _, id := range identifier.FindAllString(text, -1) {
		if inner.MatchString(id) {
			out[identifiers][id] = true
		}
	}
	for _, n := range number.FindAllString(gutter.ReplaceAllString(text, ""), -1) {
		out[numbers][n] = true
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); len(line) <= maxErrors && speaksOf.MatchString(line) {
			out[errorLines][line] = true
		}
	}
	return out
}

// survival returns the share of facts that are in what is shown.
func survival(facts map[string]bool, shown string) float64 {
	n := 0
	for f := range facts {
		if strings.Contains(shown, f) {
			n++
		}
	}
	return float64(n) / float64(len(facts))
}

// headAndTail returns the first and the last bytes of a text, n together.
func headAndTail(text string, n int) string {
	if n >= len(text) {
		return text
	}
	return strings.ToValidUTF8(text[:n/2], "") + "\n…\n" + strings.ToValidUTF8(text[len(text)-(n-n/2):], "")
}
