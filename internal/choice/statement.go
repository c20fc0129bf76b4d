package choice

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// statementRunes is the largest length of a statement in characters. maxStatements is the largest
// number of statements returned for a text.
const (
	statementRunes = 220
	maxStatements  = 3
)

var (
	// deciding matches the words by which a sentence says that something was decided.
	deciding = textutil.LazyRegexp(`(?i)\b(?:we|i|the team|(?:the )?user|the owner)(?: have|'ve| has)?(?: now| all| finally)? (?:decided|agreed|resolved to|settled on|chose|chosen)\b|(?:\b(?:i|we)(?:'ll| will)|\blet's|^) (?:go|going) with\b|^going with\b|\b(?:i|we)(?:'m|'re| am| are) going with\b|` +
		`\b(?:wir haben|haben wir) (?:uns )?(?:\S+ )?(?:beschlossen|entschieden|vereinbart)\b|\b(?:nous avons|on a) (?:décidé|convenu)|\b(?:decidimos|acordamos|hemos (?:decidido|acordado))\b|我们决定|决定(?:采用|使用|改用|不再)`)
	// supposing matches words before or within a decision that leave it open or ascribe it to
	// others. yours matches words after a decision that leave the decision to the reader.
	supposing = textutil.LazyRegexp(`(?i)\b(?:if|before|once|when|whether|unless|suppose|told|said|asked|says|never|not|they|he|she|nicht|nie|noch|wenn|falls|sie|si|ils|ellos)\b|他`)
	yours     = textutil.LazyRegexp(`(?i)^ ?(?:whatever|whichever|nothing)\b|\bif you\b|\bwhat you\b`)
	// labelled matches a label for decisions, in the languages of saysLesson in package
	// consolidation.
	labelled = textutil.LazyRegexp(`(?i)^(?:(?:final|key|main) )?(?:decisions?|decided|entscheidung(?:en)?|décisions?|decisi(?:ó|o)n(?:es)?|决定|决策|決定)$`)
	// open matches the text after a label if nothing is decided yet.
	open = textutil.LazyRegexp(`(?i)^(?:none|pending|open|tbd|n/?a|needed|required|deferred|undecided|to be (?:decided|made|determined))\b.{0,30}$`)
)

// stems holds parts of the words of deciding. Every match of deciding contains a stem, and
// searching for the stems takes a hundredth of the time.
var stems = [...]string{"decid", "agreed", "resolved to", "settled on", "chose", "go with", "going with", "beschlossen", "entschieden", "vereinbart", "décidé", "convenu", "acorda", "决定"}

// decided returns the place of the deciding words in a sentence, or nil if there are none.
func decided(s string) []int {
	low := strings.ToLower(s)
	if !slices.ContainsFunc(stems[:], func(stem string) bool { return strings.Contains(low, stem) }) {
		return nil
	}
	return deciding.FindStringIndex(s)
}

// Statements returns the sentences of a text that state that something is decided: "We decided to
// …", "I'll go with … because …", "Decision: …". A sentence that asks, supposes, quotes or
// reports others' decisions is not a statement. A sentence that decides for one or two words
// ("that") follows the sentence before it.
func Statements(text string) []string {
	lines := readable(textutil.Tail(text, textBytes))
	means := strings.Split(transcript.Unquoted(strings.Join(lines, "\n")), "\n")
	var out []string
	add := func(s string) {
		if s = cut(s, statementRunes); s != "" && len(out) < maxStatements && !slices.Contains(out, s) {
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
			if rest, ok := states(unmarked(m)); ok && before != "" && len(strings.Fields(rest)) < 3 && !strings.ContainsAny(rest, "0123456789") {
				add(before + " " + s)
			} else if ok {
				add(s)
			}
			before = s
		}
	}
	return out
}

// states reports whether a sentence states that something is decided, and returns the text after
// the words for that.
func states(s string) (rest string, ok bool) {
	m := decided(s)
	if m == nil || Asking(s) || supposing.MatchString(s[:m[1]]) || yours.MatchString(s[m[1]:]) {
		return "", false
	}
	rest = strings.Trim(s[m[1]:], " .!:。")
	return rest, rest != ""
}

// headed returns the text after a label: the rest of its line, or the first sentence of the first
// line below a heading.
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
	if rest = unmarked(rest); Asking(rest) || open.MatchString(rest) {
		return ""
	}
	return rest
}

// DecisionLabel reports whether a line begins with a label for a decision, and returns the text
// after the label: "**Decision:** keep it", "## Decisions".
func DecisionLabel(line string) (rest string, ok bool) {
	t, _ := unbulleted(strings.TrimLeft(strings.TrimSpace(line), "# "))
	name := strings.TrimLeft(t, "*_ ")
	if end := strings.IndexAny(name, ":："); end >= 0 {
		name, rest = name[:end], strings.TrimSpace(strings.TrimLeft(name[end:], ":：*_ "))
	}
	return rest, labelled.MatchString(strings.Trim(name, "*_ "))
}
