package consolidation

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// tag is the reason why an entry matters.
type tag string

// The tags, one for each question.
const (
	decision tag = "decision" // it changed a decision or a plan
	surprise tag = "surprise" // it was not expected
	human    tag = "human"    // the user said that it matters
	lesson   tag = "lesson"   // it can be used again
	identity tag = "identity" // it changed the agent's knowledge of itself
)

// Tags are the tags of one entry, each once, in the order of makeTags.
type Tags []tag

// makeTags returns tags in order, each once. It leaves out unknown tags.
func makeTags(tags ...tag) Tags {
	var out Tags
	for _, t := range [...]tag{decision, surprise, human, lesson, identity} {
		if slices.Contains(tags, t) {
			out = append(out, t)
		}
	}
	return out
}

// with returns t with more added.
func (t Tags) with(more ...tag) Tags { return makeTags(append(slices.Clone(t), more...)...) }

// Said reports whether the tags call a text a person's words.
func (t Tags) Said() bool { return t.has(human) }

// has reports whether t holds a tag.
func (t Tags) has(tag tag) bool { return slices.Contains(t, tag) }

// String returns the tags as they are written in an entry, such as "[decision] [lesson]".
func (t Tags) String() string {
	if len(t) == 0 {
		return ""
	}
	return "[" + strings.Join(t.names(), "] [") + "]"
}

// names returns the names of the tags.
func (t Tags) names() []string {
	out := make([]string, len(t))
	for i, tag := range t {
		out[i] = string(tag)
	}
	return out
}

const tagNames = `(?:decision|surprise|human|lesson|identity)`

// tagBracket matches a bracket of tags, with the emphasis that may surround it. A bracket
// followed by ( is a link and not a tag.
const tagBracket = `[*_]{0,3}\[\s*` + tagNames + `(?:\s*[,|/+&]\s*` + tagNames + `)*\s*\][*_]{0,3}:?`

var (
	leadingTags  = textutil.LazyRegexp(`(?i)^(?:\s*` + tagBracket + `)+(?:\s+|$)`)
	trailingTags = textutil.LazyRegexp(`(?i)(?:^|\s+)(?:` + tagBracket + `\s*)+[.。]?\s*$`)
	tagName      = textutil.LazyRegexp(`(?i)` + tagNames)
)

// CutTags takes the tags off the beginning and the end of a text. Tags in the middle of a
// sentence are mentions and are left.
func CutTags(text string) (string, Tags) {
	const emphasis = "*_ \t"
	var found []tag
	for i, re := range [...]*textutil.Regexp{leadingTags, trailingTags} {
		if i == 0 && !strings.HasPrefix(strings.TrimLeft(text, emphasis), "[") || i == 1 && !strings.HasSuffix(strings.TrimRight(text, emphasis+".。:"), "]") {
			continue // the expressions are slow, and few texts have a tag
		}
		at := re.FindStringIndex(text)
		if at == nil {
			continue
		}
		for _, name := range tagName.FindAllString(text[at[0]:at[1]], -1) {
			found = append(found, tag(strings.ToLower(name)))
		}
		text = text[:at[0]] + text[at[1]:]
	}
	if found == nil {
		return text, nil
	}
	return strings.TrimSpace(text), makeTags(found...)
}

// bullet matches the signs before an item's text: indent, marker, the box of a task.
var bullet = textutil.LazyRegexp(`^\s*(?:(?:[-*+]|\d{1,9}[.)])(?:[ \t]+|$))?(?:\[[ xX]\][ \t]+)?`)

// addTags writes tags and the author into an entry's text, after its bullet and before its words.
// The tags are merged with the tags that the text has already.
func addTags(text string, tags Tags, by string) string {
	at := len(bullet.FindString(text))
	body, has := CutTags(firstLine(text[at:]))
	rest := text[at+len(firstLine(text[at:])):]
	if !strings.HasPrefix(body, by) {
		body = by + body
	}
	if all := has.with(tags...); len(all) > 0 {
		body = all.String() + " " + body
	}
	return text[:at] + body + rest
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
