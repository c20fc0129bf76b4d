package mask

import (
	"cmp"
	_ "embed" // the rules
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// The rules of gitleaks (https://github.com/gitleaks/gitleaks, MIT licence; see
// data/LICENSE) are data: "make mask-rules" makes the file, and bench/maskgen
// lists which of them were left out or changed, and why.
//
//	text ──► three bytes of a keyword? ──► the keyword itself? ──► the rule's
//	         (one look per byte)           (few texts)             expression, round
//	                                                               the keyword only
//
//go:embed data/gitleaks.json
var gitleaksJSON []byte

// maskRule is one rule of the data. The secret is the text of the group, of the first group that
// matched if Group is 0, or else the whole match.
type maskRule struct {
	ID, Regex string
	Keywords  []string // in lower case
	Entropy   float64  // bits per byte that the secret must have more than
	Group     int
	// Reach is the largest length of a match in bytes, 0 if nothing bounds it.
	Reach int
	// Named is set if the secret is known by the name before it, not by its own shape.
	Named       bool
	Allow, Stop []string

	re, allow func() []*regexp.Regexp // compiled when first wanted
	named     bool                    // the expression had nameBefore
	own       *ownRule                // the row that it was made of, nil for gitleaks'
	also      []string                // the row's
}

// maskSet holds the rules and the index of their keywords.
type maskSet struct {
	Rules []maskRule
	Allow []string
	Stop  []string

	allow  func() []*regexp.Regexp
	starts startSet
	at     [1 << 15]uint16 // place in words by startKey, 0 for none
	words  [][]maskWord
}

type maskWord struct {
	word  string
	rules []int
}

// allRules are gitleaks' rules as embedded, and those of this package's table.
var allRules = sync.OnceValue(func() *maskSet {
	set := &maskSet{words: make([][]maskWord, 1)}
	if err := json.Unmarshal(gitleaksJSON, set); err != nil {
		panic("mask: data/gitleaks.json: " + err.Error()) // which every test would meet
	}
	set.allow = compiled(set.Allow)
	for _, rows := range [][]ownRule{ownRules, statedRules(), toldRules()} {
		for i := range rows {
			set.Rules = append(set.Rules, rows[i].rule())
		}
	}
	for i := range set.Rules {
		r := &set.Rules[i]
		r.Regex, r.named = strings.ReplaceAll(r.Regex, nameBefore, ""), strings.Contains(r.Regex, nameBefore)
		exprs := []string{r.Regex}
		if r.own != nil && r.own.within != "" {
			exprs = append(exprs, r.own.within)
		}
		r.re, r.allow = compiled(exprs), compiled(r.Allow)
		for _, w := range r.Keywords {
			set.starts.add(w)
			set.addWord(w, i)
		}
	}
	return set
})

// rule returns a row in the form of the rules that are data.
func (o *ownRule) rule() maskRule {
	return maskRule{ID: o.id, Regex: spelling.Replace(o.expr), Keywords: spaced(o.words), Reach: cmp.Or(o.reach, 500), own: o, also: spaced(o.also)}
}

// spaced returns the words of a row.
func spaced(list string) []string {
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' })
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "·", " ")
	}
	return words
}

func (set *maskSet) addWord(w string, rule int) {
	k := startKey(w)
	if set.at[k] == 0 {
		set.at[k] = uint16(len(set.words))
		set.words = append(set.words, nil)
	}
	at := &set.words[set.at[k]]
	i := slices.IndexFunc(*at, func(known maskWord) bool { return known.word == w })
	if i < 0 {
		i = len(*at)
		*at = append(*at, maskWord{word: w})
	}
	(*at)[i].rules = append((*at)[i].rules, rule)
}

func compiled(exprs []string) func() []*regexp.Regexp {
	return sync.OnceValue(func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(exprs))
		for i, e := range exprs {
			out[i] = regexp.MustCompile(e)
		}
		return out
	})
}

// nameBefore begins gitleaks' expressions for a name that contains a keyword. It is removed from
// the expressions, since it makes a search start at every byte. find reads the name instead.
const nameBefore = `[\w.-]{0,50}?`

// maxReach is the largest distance from a keyword to the end of a match if the rule has no bound.
// maxLead is the largest distance from the beginning of a match to the keyword.
const maxReach, maxLead = 2048, 256

// window is a stretch of text in which a rule may match.
type window struct{ rule, from, to int }

// windows finds the stretches round the keywords in s. The windows of one rule are in order and
// do not overlap, so that no rule looks at a byte twice.
func (set *maskSet) windows(s string) []window {
	var out []window
	var last map[int]int // rule to its last window
	for i := set.starts.next(s, 0); i < len(s); i = set.starts.next(s, i+1) {
		words := set.words[set.at[startKey(s[i:])]]
		for k := range words {
			w := words[k].word
			if len(s)-i < len(w) || (s[i+len(w)-1]^w[len(w)-1])&31 != 0 || !equalFold(s[i:i+len(w)], w) {
				continue
			}
			for _, rule := range words[k].rules {
				reach := cmp.Or(set.Rules[rule].Reach, maxReach)
				lead := min(reach, maxLead)
				switch own := set.Rules[rule].own; {
				case own != nil:
					lead = cmp.Or(own.lead, 40)
				case set.Rules[rule].named:
					lead = 64
				}
				from, to := max(0, i-lead-1), min(len(s), i+reach+1)
				if last == nil {
					last = map[int]int{}
				}
				if at, ok := last[rule]; ok && from <= out[at].to {
					out[at].to = to
					continue
				}
				last[rule] = len(out)
				out = append(out, window{rule, from, to})
			}
		}
	}
	return out
}

// equalFold compares s with a word in lower case, ASCII only.
func equalFold(s, word string) bool {
	for i := range len(word) {
		c := s[i]
		if lex.ByteClass[c]&lex.CUpper != 0 && c < 0x80 {
			c |= 0x20
		}
		if c != word[i] {
			return false
		}
	}
	return true
}

// maskRules is one pass of the rules that are data.
func (m *Masker) maskRules(s string, found *Secrets) string {
	set := allRules()
	var hits []match
	for _, w := range set.windows(s) {
		if r := &set.Rules[w.rule]; m == nil || !m.disabled[r.ID] {
			hits = r.find(s, w, hits)
		}
	}
	slices.SortStableFunc(hits, func(a, b match) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	e := edit{s: s}
	for _, h := range hits {
		if h.start >= e.pos && !m.spares(h.kind, s, h.start, h.end) {
			m.mask(&e, h, found)
		}
	}
	return e.text()
}

// find adds the rule's findings in a window. A match that touches an edge of the window, but not
// of the text, was cut off and does not count.
func (r *maskRule) find(s string, w window, hits []match) []match {
	if r.own != nil {
		return r.findOwn(s, w, hits)
	}
	for _, at := range r.re()[0].FindAllStringSubmatchIndex(s[w.from:w.to], -1) {
		if at[0] == 0 && w.from > 0 || w.from+at[1] == w.to && w.to < len(s) {
			continue
		}
		from, to := r.group(at)
		from, to = unquote(s, w.from+from, w.from+to)
		name := w.from + at[0]
		for r.named && name > 0 && nameByte(s[name-1]) {
			name--
		}
		if !inBase64(s, from) && r.secret(s[name:from], s[from:to]) {
			hits = append(hits, match{from, to, r.ID})
		}
	}
	return hits
}

// findOwn is find for a row of this package's table.
func (r *maskRule) findOwn(s string, w window, hits []match) []match {
	add := func(start, from, to int) {
		if r.own.run {
			for to < len(s) && base64Byte(s[to]) {
				to++
			}
		}
		if from < to && r.own.judge(s[start:from], s[from:to]) {
			hits = append(hits, match{from, to, r.ID})
		}
	}
	if len(r.also) > 0 && !slices.ContainsFunc(r.also, func(a string) bool { return strings.Contains(s[w.from:w.to], a) }) {
		return hits
	}
	if r.own.regions != nil {
		for _, at := range r.own.regions(s[w.from:w.to]) {
			add(w.from+at[0], w.from+at[0], w.from+at[1])
		}
		return hits
	}
	in := [][]int{{0, w.to - w.from}}
	if r.own.within != "" {
		in = r.re()[1].FindAllStringSubmatchIndex(s[w.from:w.to], -1)
	}
	for _, place := range in {
		from, to := r.group(place)
		from, to = w.from+from, w.from+to
		for _, at := range r.re()[0].FindAllStringSubmatchIndex(s[from:to], -1) {
			if at[0] == 0 && from > 0 && from == w.from || from+at[1] == w.to && w.to < len(s) && !r.own.run {
				continue
			}
			g, e := r.group(at)
			add(from+at[0], from+g, from+e)
		}
	}
	return hits
}

// inBase64 reports whether the text at i continues base64, in which any short word occurs by
// chance. Expressions take a +, a / or a line break for a boundary, but in base64 these are not
// boundaries. A separate line after base64 counts only if it has the same length.
func inBase64(s string, i int) bool {
	if i < payloadLine || strings.IndexByte("+/\n", s[i-1]) < 0 {
		return false
	}
	from := i
	for from > 0 && base64Byte(s[from-1]) {
		from--
	}
	if i-from >= payloadLine {
		return true
	}
	if from == 0 || s[from-1] != '\n' {
		return false
	}
	above := from - 1
	for above > 0 && base64Byte(s[above-1]) {
		above--
	}
	width, end := from-1-above, lineEnd(s, i)
	return width >= payloadLine && end-from == width && (above == 0 || s[above-1] == '\n')
}

// group returns the place of the secret of a match.
func (r *maskRule) group(at []int) (from, to int) {
	if r.Group > 0 {
		return at[2*r.Group], at[2*r.Group+1]
	}
	for g := 2; g < len(at); g += 2 {
		if at[g] >= 0 && at[g+1] > at[g] {
			return at[g], at[g+1]
		}
	}
	return at[0], at[1]
}

func unquote(s string, from, to int) (int, int) {
	for from < to && strings.IndexByte(`"'`+"`", s[from]) >= 0 {
		from++
	}
	for from < to && strings.IndexByte(`"'`+"`", s[to-1]) >= 0 {
		to--
	}
	return from, to
}

// secret reports whether a value that a rule found after a name is a secret. It applies the
// rule's entropy and exceptions, and rules of our own: a placeholder is never a secret, a value
// without a shape of its own must look random, and a hash or a UUID counts only after the name of
// a secret.
func (r *maskRule) secret(name, v string) bool {
	if len(v) < 8 || placeholder(v) || !varied(v) || strings.Contains(v, "[masked:") || entropy(v) <= r.Entropy {
		return false
	}
	if r.Named && (!random(v) || plainID(v) && !isSecretName(name)) {
		return false
	}
	set := allRules()
	matches := func(re *regexp.Regexp) bool { return re.MatchString(v) }
	stops := func(w string) bool { return strings.Contains(strings.ToLower(v), w) }
	return !slices.ContainsFunc(r.allow(), matches) && !slices.ContainsFunc(set.allow(), matches) &&
		!slices.ContainsFunc(r.Stop, stops) && !slices.ContainsFunc(set.Stop, stops)
}

// plainID reports whether v is nothing but hexadecimal digits and dashes, as hashes
// and UUIDs are.
func plainID(v string) bool { return strings.Trim(v, "0123456789abcdefABCDEF-") == "" }

// isSecretName reports whether a name is the name of a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "pass", "pwd", "auth", "cred"}, func(w string) bool { return strings.Contains(name, w) })
}
