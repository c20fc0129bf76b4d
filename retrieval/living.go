package retrieval

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/ledger"
)

// If two passages match about equally, text that is still valid comes before outdated text.

// Factors on the scores of text that no longer holds, our choice. finished is for archived files
// and for files whose front matter says that they are done or replaced. outlived is for a passage that a newer one overrules.
const (
	finished = .8
	outlived = .95
)

// claimsAmong is the number of the best passages whose claims are compared with all others.
const claimsAmong = 48

// OutOfDate returns the reason why a line is out of date by its own words, or "" if it isn't.
func OutOfDate(line string, now time.Time) string {
	switch day, ahead := ledger.Stale(line, now); {
	case day == "":
		return ""
	case ahead:
		return "out of date: " + day + " is over"
	default:
		return "out of date: it is as of " + day
	}
}

// past reports whether the question is about the past. If so, outdated text keeps its place.
func (q *question) past() bool {
	return q.intent.past || q.when.months != 0 || slices.ContainsFunc(q.when.stretches, func(d stretch) bool { return !d.to.After(q.Now) })
}

// finishedFactor returns the factor for the chunks of a file.
func finishedFactor(p, over string) float64 {
	if over != "" || buried(p) {
		return finished
	}
	return 1
}

// overBy returns the SupersededBy of a passage, given its file's Over and the passage's citation.
func overBy(over, citation string) string {
	switch over {
	case "done":
		return ""
	case "superseded":
		return citation
	}
	return over
}

// graves are the names of folders for files that are no longer in use, without signs and numbers
// around them.
var graves = strings.Fields("archive archives archived old done deprecated trash obsolete attic superseded completed closed archiv papierkorb archivo 归档")

// buried reports whether a file is in one of these folders.
func buried(p string) bool {
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		if slices.Contains(graves, strings.ToLower(strings.TrimFunc(dir, func(r rune) bool { return r < '@' || r == '_' }))) {
			return true
		}
	}
	return false
}

// bury marks the passages of files that are no longer valid and lowers their scores.
func (r *refiner) bury() {
	past := r.past()
	for _, s := range r.sessions {
		c := s.places[0].chunk
		f := finishedFactor(c.hit.Path, c.over())
		if f == 1 {
			continue
		}
		for _, p := range s.places {
			if p.by == "" {
				p.by = overBy(p.chunk.over(), cite(p.chunk.hit.Path, p.from, p.to))
			}
			if !past {
				p.score *= f
			}
		}
	}
}

// overrule marks passages that newer passages overrule. It considers only the subjects of the best
// passages. It reports whether scores changed.
func (r *refiner) overrule(best []*place) (changed bool) {
	var seen []*claim
	for _, p := range best {
		if c := p.claims(); c != nil && !slices.ContainsFunc(seen, func(o *claim) bool { return o.key == c.key && o.Label == c.Label }) {
			seen = append(seen, c)
			if ps := r.onSubject(c); len(ps) > 1 {
				changed = outdate(ps, r.past()) || changed
			}
		}
	}
	return changed
}

// onSubject returns the passages with a claim about the same subject as the given claim.
func (r *refiner) onSubject(of *claim) (out []*place) {
	for _, p := range r.places {
		if !p.pairs.hasAll(&of.pairs) {
			continue
		}
		if c := p.claims(); c != nil && c.key == of.key && c.Label == of.Label {
			out = append(out, p)
		}
	}
	return out
}

// outdate marks those of the passages ps, which have one subject, whose value a newer passage
// replaces. Unless the question is about the past, the newest passage also takes their place, and
// outdate returns true.
func outdate(ps []*place, past bool) (moved bool) {
	for _, q := range ps {
		if q.by != "" || !q.claims().alone {
			continue
		}
		var last *place
		for _, p := range ps {
			if p.by == "" && p != q && p.after(q) && p.comparable(q) && (last == nil || p.after(last)) {
				last = p
			}
		}
		if last == nil || !last.claims().overrules(q.claims()) {
			continue
		}
		if q.by = last.cite(); !past {
			last.score, last.exact, last.words = max(last.score, q.score), max(last.exact, q.exact), max(last.words, q.words)
			last.complete = last.complete || q.complete
			q.score, moved = min(q.score, last.score)*outlived, true
		}
	}
	return moved
}

// claims returns the claim that a passage itself makes, or nil. It is read on first use.
func (p *place) claims() *claim {
	if p.gone || p.task || p.bound {
		return nil
	}
	c := p.claim.Load()
	if c == nil {
		if c = claimOf(p.ownText()); c == nil {
			c = new(claim)
		}
		p.claim.Store(c)
	}
	if c.key == "" || p.session.talk && !c.Label {
		return nil
	}
	return c
}

// day returns the day of a passage: the day in its headings, or else the day of its file.
func (p *place) day() string {
	for i := len(p.trail) - 1; i >= 0; i-- {
		if d := dayIn(p.trail[i]); d != "" {
			return d
		}
	}
	return p.chunk.hit.Date
}

// dayIn returns the day YYYY-MM-DD that a text names, or "".
func dayIn(text string) string {
	for i := 0; i+len(time.DateOnly) <= len(text); i++ {
		if text[i] == '2' && text[i+4] == '-' && text[i+7] == '-' {
			if _, err := time.Parse(time.DateOnly, text[i:i+10]); err == nil {
				return text[i : i+10]
			}
		}
	}
	return ""
}

// after reports whether a passage is newer than another one.
func (p *place) after(q *place) bool {
	a, b := p.day(), q.day()
	switch {
	case a != b && a != "" && b != "":
		return a > b
	case p.chunk.hit.Path == q.chunk.hit.Path:
		return a == b && p.from > q.to
	}
	return a != "" && b == "" && !q.chunk.found.ModTime.IsZero() && q.chunk.found.ModTime.Format(time.DateOnly) < a
}

// comparable reports whether the claims of two passages can have one subject, by the places of the
// passages. A subject with a name is the same everywhere. Any other subject depends on its file and
// headings.
func (p *place) comparable(q *place) bool {
	c, d := p.claims(), q.claims()
	under, over := p.topic(), q.topic()
	oneFile, logs := p.chunk.hit.Path == q.chunk.hit.Path, p.log() && q.log()
	switch {
	case c.Label:
		return under == over && (logs || oneFile && p.listed(q)) && !c.nested && !d.nested && c.specific(under) && !p.form(q)
	case under == over && (logs || oneFile):
		return c.Named || !c.nested && !d.nested && (!oneFile || p.listed(q))
	case c.Named:
		return !oneFile || p.day() != q.day() || !versioned(under) && !versioned(over)
	}
	return !oneFile && !c.nested && !d.nested && (c.New || c.Changes || logs && len(c.Subject) > 2)
}

// topic returns the innermost heading above a passage that is not a date.
func (p *place) topic() string {
	for i := len(p.trail) - 1; i >= 0; i-- {
		if dayIn(p.trail[i]) == "" {
			return p.trail[i]
		}
	}
	return ""
}

// versioned reports whether a heading contains a number or a word for the past, such as "history".
func versioned(heading string) bool {
	return strings.ContainsAny(heading, "0123456789") || slices.ContainsFunc(strings.Fields(strings.ToLower(heading)), func(w string) bool { return slices.Contains(graves, w) || w == "history" || w == "previous" })
}

// log reports whether the passage is in a day's log.
func (p *place) log() bool {
	name := strings.TrimSuffix(path.Base(p.chunk.hit.Path), path.Ext(p.chunk.hit.Path))
	return p.chunk.hit.Date != "" && strings.Trim(name, "0123456789-_.") == ""
}

// specific reports whether a claim's label and the heading above it identify a subject.
func (c *claim) specific(heading string) bool {
	return len(c.Subject) > 1 || heading != "" && !versioned(heading)
}

// listed reports whether the text between two passages of one file consists only of list items
// without labels. Any other text may change the subject.
func (p *place) listed(q *place) bool {
	return p.session == q.session && !slices.ContainsFunc(p.session.places, func(o *place) bool {
		if o.from <= q.to || o.to >= p.from {
			return false
		}
		text := strings.TrimLeft(o.chunk.hit.Text[o.begin:o.end], " \t")
		return text == "" || !strings.ContainsAny(text[:1], "-*+0123456789") || strings.Contains(text, ": ") || strings.HasSuffix(text, ":")
	})
}

// form reports whether two passages are lines of a form that was filled in twice. They are if their
// sections have another label in common.
func (p *place) form(q *place) bool {
	labels := func(of *place, n map[string]int) {
		for _, o := range of.session.places {
			if c := o.claims(); c != nil && c.Label && slices.Equal(o.trail, of.trail) {
				n[c.key]++
			} else if o.label != nil && slices.Equal(o.trail, of.trail) {
				text := o.chunk.hit.Text[o.ownBegin:o.end]
				if at := strings.IndexByte(text, ':'); at > 0 {
					n[strings.ToLower(text[:at])]++
				}
			}
		}
	}
	n := map[string]int{}
	if labels(p, n); p.session != q.session || !slices.Equal(p.trail, q.trail) {
		for k := range n {
			n[k] = 1
		}
		more := map[string]int{}
		labels(q, more)
		for k := range more {
			n[k]++
		}
	}
	for k, times := range n {
		if times > 1 && k != p.claims().key || times > 2 {
			return true
		}
	}
	return false
}

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

// claimLead matches the marks, time and tags before the text of an item.
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

// overrules reports whether a claim contradicts an older claim on the same subject: their values
// differ, and only one can hold. A new value of a recurring event does not contradict the old one.
func (c *claim) overrules(older *claim) bool {
	again := c.Recurs && !c.New && !c.Changes && c.Value.Kind != "name" && c.Value.Kind != "word"
	return !again && c.Overrules(&older.Claim)
}
