package retrieval

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memkernel/memkernel/internal/textutil"
)

// claim is a statement that gives its subject one value: "The port of the ferry is 5432", "Ferry
// port: 5432". Two claims on one subject with different values can't both hold. A newer claim
// overrules an older one under these rules:
//
//	part        must be
//	statement   one sentence or "label: value"; no question, condition, task, code, table or quote
//	subject     the same words but for articles; with the relation at least two content words
//	relation    one of the table below, which have one value at a time; the same in both
//	value       another one of the same kind (number with its unit, time, address, name); any one
//	            where the relation allows it, or a class stands before both ("the city of")
//	            neither only adds words to the other, and neither names a deployment (staging)
//	label       a setting's name (port, owner), and the section is no form: no second label recurs
//	place       a subject without a name: the same headings and the same kind of file
//	newer       the later day in heading or file name; in one section the later line; an undated
//	            file that was last changed before the day
//	no sign     that both hold: also, too, both, another
type claim struct {
	// subject are the words of the subject or of the label. value are the words of the value.
	subject, value []term
	of             *relation
	label          bool
	// now reports whether the statement says that its value is new.
	now bool
	// named reports whether the subject holds a name. alone reports whether the passage states
	// nothing else. nested reports whether the passage belongs to an item above it.
	named, alone, nested bool
	// key is the subject. pairs are its pairs, as in passages.
	key   string
	pairs pairMask
}

// term is a word of a claim: as it is written, and in small letters.
type term struct{ raw, low string }

// relation is a verb or a copula that gives its subject one value.
type relation struct {
	// group names relations that say the same.
	group string
	wants wants
	// change names the groups whose statements end when this one is made.
	change []string
}

// wants is how two values of a relation must be alike if one replaces the other.
type wants byte

const (
	anyValue wants = iota
	// alike values are of one kind.
	alike
	// exactly alike values are numbers, times or addresses.
	exactly
	// classed values are alike after a common class: "the sport of".
	classed
	// copula is alike, and the subject must be a role: "the port of the ferry", "Anna's manager".
	copula
)

// relations are the relations by their words. Verbs that may have several values at once (likes,
// imports, supports) are none of them.
var relations, longestRelation = func() (map[string]*relation, int) {
	out, longest := map[string]*relation{}, 0
	add := func(group string, w wants, change []string, phrases ...string) {
		for _, p := range phrases {
			g := group
			if g == "" {
				g = p
			}
			out[p] = &relation{g, w, change}
			longest = max(longest, strings.Count(p, " ")+1)
		}
	}
	add("place", anyValue, nil, "lives in", "lives at", "resides in", "is based in", "is based at", "is located in", "is located at", "is situated in", "is headquartered in",
		"is hosted on", "is hosted at", "is hosted by", "is hosted in", "wohnt in", "lebt in", "liegt in", "vive en", "habite à", "vit à")
	add("work", anyValue, nil, "works at", "works for", "is employed by", "is employed at", "arbeitet bei", "arbeitet für", "trabaja en", "trabaja para", "travaille chez", "travaille pour")
	add("", anyValue, nil, "was born in", "was born on", "died in", "died on", "is married to", "is engaged to", "is a citizen of", "nació en", "murió en", "est né à", "est née à")
	add("", alike, nil, "was founded by", "was founded in", "was created by", "was created in", "was developed by", "was performed by", "was written by", "was written in", "was directed by",
		"was produced by", "was invented by", "was designed by", "was composed by", "was educated at", "is famous for", "is owned by", "is led by", "is headed by", "is managed by", "is chaired by",
		"is maintained by", "is assigned to", "reports to", "belongs to", "is scheduled for", "is due on", "is due by", "is due in", "is planned for", "is set to", "is pinned to", "defaults to",
		"points to", "expires on", "expires in", "starts at", "starts on", "starts in", "begins at", "begins on", "ends at", "ends on", "opens at", "closes at", "takes place on", "takes place in", "is called", "is named",
		"plays for", "studies at", "worked in", "worked at", "worked for", "beginnt um", "endet um", "empieza a", "commence à", "heißt", "gehört")
	add("", classed, nil, "is affiliated with", "is associated with", "speaks", "plays", "works in")
	add("", exactly, nil, "costs", "weighs", "listens on", "runs on", "runs at", "has", "kostet", "cuesta", "coûte", "läuft auf")
	add("use", alike, nil, "uses")
	add("my place", anyValue, nil, "live in", "live at")
	add("my work", anyValue, nil, "work at", "work for")
	add("", copula, nil, "is", "ist", "es", "est", "是", "为")
	add("place", anyValue, []string{"place", "runs on"}, "moved to", "relocated to", "migrated to")
	add("use", alike, []string{"use", "runs on"}, "switched to")
	return out, longest
}()

func wordSet(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// Words that decide the kind of a statement.
var (
	articles = wordSet("the a an der die das den dem el la los las le les l'")
	// empty are words that don't name a subject.
	empty = wordSet("the a an of in on at to for by with from and or as is was are were it its this that these those he she they there here what which who i we you my our your his her their " +
		"der die das des den dem von im am zu und es er sie wir el la los las de del en y que un una le les du des et 的")
	newWords    = wordSet("now currently nowadays jetzt nun inzwischen ahora actualmente maintenant désormais 现在 目前")
	bothHold    = wordSet("also too both either another additionally plus auch außerdem sowie también además aussi 也 还")
	conditions  = wordSet("if when unless while until whenever because since once after before wenn falls weil si cuando quand lorsque 如果")
	deployments = wordSet("staging production prod dev development test testing local locally preview beta alpha live default defaults")
	// settings are the nouns of labels that have one value.
	settings = wordSet("port host url address email phone version model region branch theme editor timezone domain provider owner manager plan price rent deadline headquarters leader director ceo cto " +
		"boss location city language currency birthday endpoint username hostname ip registry runtime hafen adresse puerto dirección 端口 地址")
	// single are words of a subject that has one value of any kind.
	single = wordSet("default primary preferred favorite favourite current main official type kind status color colour")
	// events are subjects that come again, each time with another number or time.
	events    = wordSet("meeting call appointment lunch dinner breakfast session run build commit issue task episode chapter step day week month today's score reunión cita termin treffen besprechung")
	timeNames = wordSet("monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december noon midnight " +
		"montag dienstag mittwoch donnerstag freitag samstag sonntag lunes martes miércoles jueves viernes sábado domingo")
)

// Sizes of claims, in words, our choice. A longer value is a description.
const (
	longestValue   = 9
	longestSubject = 14
	longestClaim   = 320 // bytes
)

// unstyled takes off the marks of Markdown within a line.
var unstyled = strings.NewReplacer("*", "", "`", "")

// claimLead is the marks before an item's text, a time there, tags, and words that lead over to the
// statement.
var claimLead = textutil.LazyRegexp(`^\s*(?:(?:[-*+]|\d{1,9}[.)])\s+)?(?:\[?\d{1,2}:\d{2}(?::\d{2})?\]?\s+)?(?:\[[a-z]+\]\s+)*(?i:(?:by the way|btw|fyi|actually|no|ok|okay|also|so|and)[,:]?\s+)*`)

// claimOf returns the claim with which a passage begins, or nil.
func claimOf(text string) *claim {
	if strings.Contains(text, "<!--") {
		text = comments.ReplaceAllString(text, "")
	}
	if len(text) > 4*longestClaim || strings.ContainsAny(text, "?|~？>") || strings.Contains(text, "```") {
		return nil
	}
	lead := len(claimLead.FindString(text))
	line := strings.Join(strings.Fields(unstyled.Replace(text[lead:])), " ")
	first, rest := firstSentence(line)
	if first == "" || len(first) > longestClaim || first[0] == '[' || first[0] == '#' || strings.Contains(text, "\n- ") || strings.Contains(text, "\n* ") {
		return nil
	}
	c := &claim{alone: rest == "", nested: text[0] == ' ' || text[0] == '\t'}
	if at := strings.IndexAny(first, ":："); at > 0 && (first[at] != ':' || at+1 < len(first) && first[at+1] == ' ') {
		_, size := utf8.DecodeRuneInString(first[at:])
		c.label, c.of = true, &relation{group: ":", wants: alike}
		c.subject, c.value = c.terms(first[:at]), c.terms(first[at+size:])
		if len(c.subject) > 5 || !slices.ContainsFunc(c.subject, func(t term) bool { return settings[t.low] }) {
			return nil
		}
	} else if !c.relate(c.terms(first)) {
		return nil
	}
	return c.finished()
}

// firstSentence cuts a line after its first sentence.
func firstSentence(line string) (first, rest string) {
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '.', '!':
			if i+2 >= len(line) || line[i+1] != ' ' {
				continue
			}
			next, _ := utf8.DecodeRuneInString(line[i+2:])
			if word := line[strings.LastIndexAny(line[:i], " .")+1 : i]; unicode.IsLower(next) || utf8.RuneCountInString(word) < 2 || abbreviations[strings.ToLower(word)] {
				continue
			}
			return line[:i], line[i+2:]
		case ';':
			return line[:i], line[i+1:]
		}
		for _, stop := range [...]string{"。", " (", "（", " – ", " — ", " - ", " because ", " since ", " until ", ", but ", ", which "} {
			if strings.HasPrefix(line[i:], stop) {
				return line[:i], strings.TrimSpace(line[i+len(stop):])
			}
		}
	}
	return line, ""
}

var abbreviations = wordSet("dr mr mrs ms st jr sr inc corp co ltd vs no prof bzw ca nr")

// terms takes a text apart. It notes and leaves out words that only say that something is new.
func (c *claim) terms(text string) (out []term) {
	add := func(raw string) {
		raw = strings.TrimFunc(raw, func(r rune) bool { return strings.ContainsRune(`.,;:!"'“”„«»()[]。，`, r) })
		low := strings.ToLower(raw)
		if newWords[low] {
			c.now = true
		} else if raw != "" {
			out = append(out, term{raw, low})
		}
	}
	for w := range strings.FieldsSeq(text) {
		start := 0
		for i, r := range w {
			if unicode.Is(unicode.Han, r) {
				add(w[start:i])
				add(string(r))
				start = i + utf8.RuneLen(r)
			}
		}
		add(w[start:])
	}
	return out
}

// relate divides a sentence at its first relation.
func (c *claim) relate(words []term) bool {
	if len(words) > longestSubject+longestValue || len(words) == 0 || conditions[words[0].low] {
		return false
	}
	for i := 1; i < len(words)-1; i++ {
		phrase, best := "", 0
		for n := 1; n <= min(longestRelation, len(words)-i-1); n++ {
			if w := words[i+n-1]; w.raw != w.low {
				break
			} else if n > 1 {
				phrase += " "
			}
			phrase += words[i+n-1].low
			if relations[phrase] != nil {
				c.of, best = relations[phrase], n
			}
		}
		if best > 0 {
			c.subject, c.value = words[:i], words[i+best:]
			return true
		}
	}
	return false
}

// finished checks a claim, and returns nil if it is none.
func (c *claim) finished() *claim {
	content, capitals := 0, 0
	subject := make([]term, 0, len(c.subject))
	for i, t := range c.subject {
		if bothHold[t.low] || conditions[t.raw] {
			return nil
		}
		if !empty[t.low] {
			content++
		}
		first, size := utf8.DecodeRuneInString(t.raw)
		next, _ := utf8.DecodeRuneInString(t.raw[size:])
		if unicode.IsUpper(first) && !articles[t.low] && !empty[t.low] {
			if capitals++; i > 0 && unicode.IsLower(next) {
				capitals++
			}
		}
		if !articles[t.low] {
			subject = append(subject, t)
			c.key += t.low + " "
			c.pairs.add(t.low)
		}
	}
	c.named = capitals > 1 || capitals == 1 && len(c.subject) == 1
	if len(c.value) == 0 || len(c.value) > longestValue || len(c.subject) > longestSubject || slices.ContainsFunc(c.value, func(t term) bool { return bothHold[t.low] }) {
		return nil
	}
	if mine := len(subject) == 1 && (subject[0].low == "i" || subject[0].low == "we"); mine != strings.HasPrefix(c.of.group, "my ") || content == 0 && !mine {
		return nil
	}
	if c.of.wants == copula && content < 2 && c.of.group != ":" {
		return nil
	}
	return c
}

// valueKind is the kind of a value.
type valueKind byte

const (
	wordKind valueKind = iota
	numberKind
	timeKind
	addressKind
	nameKind
)

// kindOf returns the kind of the part in which two values differ.
func kindOf(value []term) valueKind {
	w := value[0]
	for articles[w.low] && len(value) > 1 {
		value = value[1:]
		w = value[0]
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(w.raw, "$€£v#~+-"))
	switch {
	case unicode.IsDigit(first):
		return numberKind
	case timeNames[w.low]:
		return timeKind
	case strings.ContainsAny(strings.Trim(w.raw, "-:"), "/@_:\\-") || strings.Contains(strings.Trim(w.raw, "."), ".") && w.raw == w.low:
		return addressKind
	}
	if first, _ = utf8.DecodeRuneInString(w.raw); unicode.IsUpper(first) || unicode.Is(unicode.Han, first) {
		return nameKind
	}
	return wordKind
}

// onSubject reports whether two claims are on one subject and relation, whatever their values.
func (c *claim) onSubject(older *claim) bool {
	return c.label == older.label && c.key == older.key &&
		(c.of.group == older.of.group && (c.of.group != "use" || c.of.change != nil || c.now) || slices.Contains(c.of.change, older.of.group))
}

// differs reports whether two claims on one subject have different values, of which only one can
// hold.
func (c *claim) differs(older *claim) bool {
	a, b := c.value, older.value
	begin := 0
	for begin < min(len(a), len(b)) && a[begin].low == b[begin].low {
		begin++
	}
	class := classIn(a[:begin])
	a, b = a[begin:], b[begin:]
	for len(a) > 0 && len(b) > 0 && a[len(a)-1].low == b[len(b)-1].low {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 || within(a, older.value) || within(b, c.value) || scoped(a) || scoped(b) {
		return false
	}
	k := kindOf(a)
	if same := k == kindOf(b) && k != wordKind; !same || k == numberKind && !slices.EqualFunc(a[1:], b[1:], func(x, y term) bool { return x.low == y.low }) {
		same = class || c.of.wants == anyValue || older.of.wants == anyValue && c.of.change != nil || len(a) <= 3 && len(b) <= 3 && slices.ContainsFunc(c.subject, func(t term) bool { return single[t.low] })
		return same && c.of.wants != exactly
	}
	precise := k == numberKind || k == timeKind || k == addressKind
	if precise && !c.now && c.of.change == nil && slices.ContainsFunc(c.subject, func(t term) bool { return events[t.low] }) {
		return false
	}
	switch c.of.wants {
	case exactly:
		return precise
	case classed:
		return class
	case copula:
		return precise || c.role()
	}
	return true
}

// classIn reports whether words are a class of values: "the city of".
func classIn(words []term) bool {
	return len(words) > 2 && words[0].low == "the" && slices.ContainsFunc(words[2:], func(t term) bool { return t.low == "of" })
}

// role reports whether the subject is something that one thing is at a time.
func (c *claim) role() bool {
	return articles[c.subject[0].low] || slices.ContainsFunc(c.subject, func(t term) bool {
		return t.low == "of" || t.low == "的" || t.low == "our" || t.low == "my" || strings.HasSuffix(t.low, "'s") || strings.HasSuffix(t.low, "’s") || strings.HasSuffix(t.low, "s'")
	})
}

// within reports whether all words are among others.
func within(words, others []term) bool {
	return !slices.ContainsFunc(words, func(t term) bool {
		return !slices.ContainsFunc(others, func(o term) bool { return o.low == t.low })
	})
}

func scoped(words []term) bool {
	return slices.ContainsFunc(words, func(t term) bool { return deployments[t.low] })
}
