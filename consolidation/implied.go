package consolidation

import (
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/choice"
	"github.com/memkernel/memkernel/internal/textutil"
)

var utc = time.UTC

const dateLayout = time.DateOnly

var (
	// saysLesson matches labels and headings by which people mark a lesson, in the languages that
	// we were sure of. Package choice has the labels for decisions.
	saysLesson = textutil.LazyRegexp(`(?i)^[^\p{L}\p{N}]*(?:(?:key |main )?(?:lessons?(?: learned)?|learnings?|insights?|takeaways?|findings?)|what (?:i|we) learned|gotchas?|erkenntnisse?|gelernt|leçons?(?: apprises)?|apprentissages|lecci(?:ó|o)n(?:es)?|教训|经验|经验教训|核心洞察|关键洞察|关键发现|重要发现|洞察|学到|学到的|反思|教訓)[*_]*\s*(?:[:：]|$)`)
)

// impliedTags returns the tags of the user's words in the working buffer.
func impliedTags(e *Entry) Tags {
	if said, ok := strings.CutPrefix(e.Plain, quotesUser); ok && Important(said) {
		return MakeTags(Human)
	}
	return nil
}

func saysDecision(s string) bool {
	_, ok := choice.DecisionLabel(s)
	return ok
}

// speaksOfUser are the words by which a log names the person it works for.
var speaksOfUser = textutil.LazyRegexp(`(?i)\b(?:the )?(?:user|human|owner|client|customer|boss|operator)\b|用户|主人|老板`)

// quotesUser and quotesAgent begin a quotation in the working buffer.
const quotesUser, quotesAgent = "[user] ", "[agent] "

// asksFor reports whether an entry names a wish of the user.
func asksFor(e *Entry) bool { return Important(e.Plain) && speaksOfUser.MatchString(e.Plain) }

// supersede marks the entry that a new entry replaces. That is an entry of curated memory that
// plainly claims something else about the same subject.
func (c *curator) supersede(p *Promoted) {
	m := c.snap.Memory()
	if m == nil {
		return
	}
	e := Entry{Path: m.Path, Text: "- " + p.Text, Plain: p.Text, StartLine: 1, Date: c.Day, Dated: true}
	who := peopleIn(c.snap)
	for _, now := range entryClaims(m, &e) {
		if now.loose {
			continue // likely enough for a finding, not to call a line outdated
		}
		for _, was := range claims(m) {
			if was.entry.Date > c.Day || who.rename(was.key) != who.rename(now.key) || was.scope() != now.scope() || was.value.kind != now.value.kind || !was.value.disagree(now.value) {
				continue
			}
			if was.label && now.label && !slices.Equal(was.entry.Trail, e.Trail) && len(strings.Fields(was.subject)) < 2 {
				continue
			}
			p.Supersedes = append(p.Supersedes, lineRef(was.entry.Text))
			for _, r := range was.entry.From {
				if strings.Contains(r, "#L") {
					p.Supersedes = append(p.Supersedes, r)
				}
			}
			p.Replaces = was.entry.Plain
			return
		}
	}
}

// negated are the words that turn a sentence into its opposite.
var negated = textutil.LazyRegexp(`(?i)\b(?:no|not|never|none|nobody|without|cannot|don'?t|doesn'?t|isn'?t|won'?t|kein\w*|nicht|nie|ne|pas|jamais|nunca|sin|non|mai)\b|不|没|別|别|ない|не |안 `)
