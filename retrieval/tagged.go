package retrieval

import "github.com/memkernel/memkernel/internal/lazyregexp"

// tagged matches an entry that carries a tag of why it matters, at its beginning
// (behind bullet, box and time) or its end; the tags are those of package
// consolidation. A bracket followed by ( is a link, not a tag.
var tagged = lazyregexp.New(`(?i)^\W{0,4}(?:\d{1,9}[.)]\s+)?(?:\[[ x]\]\s+)?(?:\d{1,2}:\d{2}\W{1,4})?\W{0,3}` + tagBracket + `(?:[^(]|$)|` + tagBracket + `\W{0,3}$`)

const tagBracket = `\[(?:decision|surprise|human|lesson|identity)\b[^\]()]{0,60}\]`

// Tagged reports whether a line of memory carries a tag of significance.
func Tagged(line string) bool { return tagged.MatchString(line) }

// anyTagged reports whether the first or the last line of a passage is tagged.
func anyTagged(lines []string) bool {
	return len(lines) > 0 && (Tagged(lines[0]) || len(lines) > 1 && Tagged(lines[len(lines)-1]))
}
