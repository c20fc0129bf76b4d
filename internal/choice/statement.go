package choice

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/memkernel/memkernel/transcript"
)

// StatementRunes is how long a statement is at most, in characters, and maxStatements how
// many of a text are returned.
const (
	StatementRunes = 220
	maxStatements  = 3
)

// Statements returns the sentences of an agent's text that state that something is decided, by
// the agent or by it and the person: "We decided to …", "I'll go with … because …",
// "Decision: …". A sentence that is denied, asked, supposed, quoted or told of others is none.
// A sentence that decides for nothing but "that" follows the sentence before it.
func Statements(text string) []string {
	lines := readable(tailBytes(text, textBytes))
	means := strings.Split(transcript.Unquoted(strings.Join(lines, "\n")), "\n")
	var out []string
	add := func(s string) {
		if s != "" && len(out) < maxStatements && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	before := ""
	for i, l := range lines {
		t := strings.TrimSpace(l)
		if t == "" || t[0] == '|' {
			continue
		}
		if rest, ok := DecisionLabel(t); ok {
			add(headed(lines[i+1:], rest, strings.HasPrefix(t, "#")))
			continue
		}
		body, _ := unbulleted(means[i])
		said, _ := unbulleted(l)
		if len(body) != len(said) {
			continue
		}
		at := 0
		for _, m := range splitSentences(body) {
			from := strings.Index(body[at:], m) + at
			at = from + len(m)
			s := unmarked(said[from:at])
			if states(unmarked(m)) {
				add(stated(s, before))
			}
			before = s
		}
	}
	return out
}

// headed returns what follows a label: the rest of its line, or below a heading the first
// sentence of what follows.
func headed(below []string, rest string, heading bool) string {
	if rest == "" && heading {
		for _, l := range below {
			if t := strings.TrimSpace(l); t != "" && t[0] != '|' {
				if t[0] != '#' {
					rest, _ = unbulleted(t)
				}
				break
			}
		}
		if s := splitSentences(unmarked(rest)); len(s) > 0 {
			rest = s[0]
		}
	}
	if rest = unmarked(rest); rest == "" || undecided(rest) {
		return ""
	}
	return Cut(rest, StatementRunes)
}

// undecided reports whether what follows a label decides nothing: a question, "none",
// "pending".
func undecided(rest string) bool {
	low := normal(rest)
	return Asking(rest) || cues().open[strings.Trim(low, " .。*_-–—")] || slices.ContainsFunc(cues().openings, func(p string) bool {
		next, _ := utf8.DecodeRuneInString(strings.TrimPrefix(low, p))
		return strings.HasPrefix(low, p) && utf8.RuneCountInString(low) < 40 && !isWordRune(next) && len(p) > 4
	})
}

// cueWords are the phrases of all languages that statements are known by.
type cueWords struct {
	// starts begin a sentence, with what must be in it behind them; ends are
	// anywhere in one.
	starts   [][2]string
	ends     []string
	labels   map[string]bool
	open     map[string]bool
	openings []string
}

var cues = sync.OnceValue(func() *cueWords {
	c := &cueWords{labels: map[string]bool{}, open: map[string]bool{}}
	for _, t := range tongues {
		for _, p := range phrasesOf(t.decided) {
			start, rest, _ := strings.Cut(p, " … ")
			c.starts = append(c.starts, [2]string{start, rest})
		}
		c.ends = append(c.ends, phrasesOf(t.within)...)
		for _, p := range phrasesOf(t.decision) {
			c.labels[p] = true
		}
		for _, p := range phrasesOf(t.open) {
			c.open[p], c.openings = true, append(c.openings, p)
		}
	}
	return c
})

func phrasesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(normal(s), "|")
}

// grounds begin a clause that says when or why something was decided, before what was.
var grounds = [...]string{"after ", "in the end", "finally", "eventually", "today", "yesterday", "together", "as discussed", "based on ", "given ", "since ", "because ", "following ", "having ", "for now",
	"nach ", "am ende", "schließlich", "heute", "gestern", "weil ", "da ", "aufgrund ", "nachdem ", "après ", "finalement", "aujourd'hui", "puisque ", "comme ", "después de ", "finalmente", "hoy", "ya que ", "depois de ", "no fim", "dopo ", "alla fine"}

// states reports whether a sentence states that something is decided, by itself or behind a
// clause of when or why.
func states(s string) bool {
	if cue(s) {
		return true
	}
	low := normal(s)
	if !slices.ContainsFunc(grounds[:], func(g string) bool { return strings.HasPrefix(low, g) }) {
		return false
	}
	for range 3 {
		i := strings.IndexAny(s, ",:")
		if i < 0 {
			return false
		}
		if slices.ContainsFunc(scan(s[:i]), func(t token) bool { return t.is(isKill | isHedge) }) {
			return false // "after that, if you agree, we …", "after they told us: we …"
		}
		if s = strings.TrimSpace(s[i+1:]); cue(s) {
			return true
		}
	}
	return false
}

// cue reports whether a sentence states that something is decided.
func cue(s string) bool {
	if Asking(s) {
		return false
	}
	low := strings.TrimLeft(normal(s), " *_-–—")
	for _, lead := range [...]string{"so ", "ok, ", "okay, ", "then ", "therefore ", "and ", "also ", "also, ", "alors ", "donc ", "entonces ", "dann ", "так что ", "итак, ", "所以", "那么", "因此", "따라서 ", "우리는 "} {
		low = strings.TrimPrefix(low, lead)
	}
	for _, c := range cues().starts {
		rest, ok := strings.CutPrefix(low, c[0])
		next, _ := utf8.DecodeRuneInString(rest)
		if !ok || isWordRune(next) && !wide(next) || c[1] != "" && !found(rest, c[1]) {
			continue
		}
		if slices.ContainsFunc(scan(rest), func(t token) bool { return t.is(isKill) }) {
			return false // "whatever you prefer", "if you agree"
		}
		if c[1] != "" {
			rest, _, _ = strings.Cut(rest, c[1])
			return !denies(rest)
		}
		return strings.Trim(rest, " .!:。") != "" && !denies(firstWords(rest, 1))
	}
	for _, c := range cues().ends {
		if i := strings.Index(low, c); i >= 0 {
			return true
		}
	}
	return false
}

// found reports whether a text has a phrase as words of their own.
func found(s, phrase string) bool {
	i := strings.Index(s, phrase)
	if i < 0 {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+len(phrase):])
	return !isWordRune(before) && !isWordRune(after)
}

func firstWords(s string, n int) string {
	f := strings.Fields(s)
	return strings.Join(f[:min(n, len(f))], " ")
}

// denies reports whether words deny.
func denies(s string) bool {
	return slices.ContainsFunc(scan(s), func(t token) bool { return t.is(isNeg) && !t.is(isFill|isAnd) })
}

// stated returns a statement, after the sentence before it where it says nothing but "that". It
// returns "" if there is no such sentence.
func stated(s, before string) string {
	for _, t := range scan(s) {
		if t.kind == other || t.kind == number || t.kind == word && t.class == 0 {
			return Cut(s, StatementRunes)
		}
	}
	if before == "" {
		return ""
	}
	return Cut(before+" "+s, StatementRunes)
}

// DecisionLabel reports whether a line is headed by a word for a decision, in any of the
// languages, and returns what follows it: "**Decision:** keep it", "## Decisions".
func DecisionLabel(line string) (rest string, ok bool) {
	t, _ := unbulleted(strings.TrimLeft(strings.TrimSpace(line), "# "))
	t = strings.TrimLeft(t, "*_ ")
	end := strings.IndexAny(t, ":：")
	label := t
	if end >= 0 {
		label, rest = t[:end], strings.TrimLeft(t[end:], ":：*_ ")
	}
	if len(label) > 80 || !cues().labels[strings.Trim(normal(label), "*_ ")] {
		return "", false
	}
	return strings.TrimSpace(rest), true
}
