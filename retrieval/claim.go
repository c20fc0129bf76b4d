package retrieval

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
)

// claim is the claim with which a passage begins. A newer claim overrules an older one under these
// rules:
//
//	subject     the same
//	value       another one of the same kind, of which only one can hold
//	label       a thing with one value (port, owner), and the section is no form: no second label
//	            recurs
//	place       a subject without a name: the same headings and the same kind of file
//	newer       the later day in heading or file name; in one section the later line; an undated
//	            file that was last changed before the day
type claim struct {
	ledger.Claim
	key string
	// alone reports whether the passage states nothing else. nested reports whether the passage
	// belongs to an item above it.
	alone, nested bool
	// pairs are the pairs of the words of the subject, as in passages.
	pairs pairMask
}

// claimLead is the marks before an item's text, a time there, and tags.
var claimLead = textutil.LazyRegexp(`^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+)?(?:\[[a-z]+\]\s+)*`)

// claimOf returns the claim with which a passage begins, or nil.
func claimOf(text string) *claim {
	if strings.Contains(text, "<!--") {
		text = comments.ReplaceAllString(text, "")
	}
	if len(text) > 2000 || strings.Contains(text, "```") || strings.Contains(text, "\n- ") || strings.Contains(text, "\n* ") {
		return nil
	}
	line := strings.Join(strings.Fields(text[len(claimLead.FindString(text)):]), " ")
	if line == "" || line[0] == '[' || line[0] == '#' {
		return nil
	}
	first := ""
	n := 0
	for s := range textutil.Sentences(line) {
		if n++; n == 1 {
			first = s
		}
	}
	cs := ledger.Claims(first)
	at := slices.IndexFunc(cs, func(c ledger.Claim) bool { return !c.Whole })
	if at < 0 {
		at = slices.IndexFunc(cs, func(c ledger.Claim) bool { return c.Stated && c.Value.Unit != "rule" })
	}
	if at < 0 || cs[at].Label && !cs[at].One {
		return nil
	}
	c := &claim{Claim: cs[at], alone: n == 1 && cs[at].Aside == "", nested: text[0] == ' ' || text[0] == '\t'}
	c.key = strings.Join(c.Subject, " ")
	low := strings.ToLower(line)
	for _, w := range c.Subject {
		if w != c.Attribute && strings.Contains(low, w) {
			c.pairs.add(w)
		}
	}
	return c
}

// overrules reports whether a claim has another value than an older one on the subject, of which
// only one can hold. Of an event that comes again both can.
func (c *claim) overrules(older *claim) bool {
	again := c.Recurs && !c.New && !c.Changes && c.Value.Kind != "name" && c.Value.Kind != "word"
	return !again && c.Overrules(&older.Claim)
}
