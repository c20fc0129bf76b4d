package mask

import (
	"cmp"
	_ "embed" // the rules
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/internal/textutil"
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

// maskRule is a rule of the data, or a row of this package's table, which has a judge. The secret is
// the text of the group, of the first group that matched if Group is 0, or else the whole match.
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

	ownRule
	re, inside *textutil.Regexp
	allow      []*textutil.Regexp
	named      bool     // the expression had nameBefore
	near       []string // the words of the row's also
}

// maskSet holds the rules and the index of their keywords.
type maskSet struct {
	Rules []maskRule
	Allow []string
	Stop  []string

	wordIndex
	allow []*textutil.Regexp
}

// allRules are gitleaks' rules as embedded, and those of this package's table.
var allRules = sync.OnceValue(func() *maskSet {
	set := &maskSet{}
	if err := json.Unmarshal(gitleaksJSON, set); err != nil {
		panic("mask: data/gitleaks.json: " + err.Error()) // which every test would meet
	}
	set.allow = lazily(set.Allow)
	for _, rows := range [][]ownRule{ownRules, statedRules(), toldRules()} {
		for _, o := range rows {
			if o.judge == nil {
				o.judge = given
			}
			set.Rules = append(set.Rules, maskRule{ID: o.id, Regex: spelling.Replace(o.expr), Keywords: spaced(o.words),
				Reach: cmp.Or(o.reach, 500), ownRule: o, near: spaced(o.also)})
		}
	}
	for i := range set.Rules {
		r := &set.Rules[i]
		r.Regex, r.named = strings.ReplaceAll(r.Regex, nameBefore, ""), strings.Contains(r.Regex, nameBefore)
		r.re, r.inside, r.allow = textutil.LazyRegexp(r.Regex), textutil.LazyRegexp(r.within), lazily(r.Allow)
		for _, w := range r.Keywords {
			set.add(w, i)
		}
	}
	return set
})

func lazily(exprs []string) (out []*textutil.Regexp) {
	for _, e := range exprs {
		out = append(out, textutil.LazyRegexp(e))
	}
	return out
}

// spaced returns the words of a row.
func spaced(list string) []string {
	words := strings.FieldsFunc(list, func(r rune) bool { return r == ' ' })
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "·", " ")
	}
	return words
}

// wordIndex finds words in text by their first three bytes.
type wordIndex struct {
	starts startSet
	words  map[uint16][]indexedWord // by startKey
}

// indexedWord is a word and the rules that look for it.
type indexedWord struct {
	word  string
	rules []int
}

// add adds a word and the rule that looks for it.
func (x *wordIndex) add(w string, rule int) {
	x.starts.add(w)
	if x.words == nil {
		x.words = map[uint16][]indexedWord{}
	}
	k := startKey(w)
	i := slices.IndexFunc(x.words[k], func(known indexedWord) bool { return known.word == w })
	if i < 0 {
		i = len(x.words[k])
		x.words[k] = append(x.words[k], indexedWord{word: w})
	}
	x.words[k][i].rules = append(x.words[k][i].rules, rule)
}

// indexWords returns an index of words without rules.
func indexWords(list string) *wordIndex {
	x := &wordIndex{}
	for _, w := range spaced(list) {
		x.add(w, 0)
	}
	return x
}

// find calls found with every place of a word in s.
func (x *wordIndex) find(s string, found func(from, to int, rules []int)) {
	for i := x.starts.next(s, 0); i < len(s); i = x.starts.next(s, i+1) {
		for _, w := range x.words[startKey(s[i:])] {
			if to := i + len(w.word); to <= len(s) && (s[to-1]^w.word[len(w.word)-1])&31 == 0 && equalFold(s[i:to], w.word) {
				found(i, to, w.rules)
			}
		}
	}
}

// nameBefore begins gitleaks' expressions for a name that contains a keyword. It is removed from
// the expressions, since with it a search would start at every byte. The method find reads the name
// instead.
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
	last := map[int]int{} // rule to its last window
	set.find(s, func(i, _ int, rules []int) {
		for _, rule := range rules {
			r := &set.Rules[rule]
			reach := cmp.Or(r.Reach, maxReach)
			lead := min(reach, maxLead)
			switch {
			case r.judge != nil:
				lead = cmp.Or(r.lead, 40)
			case r.named:
				lead = 64
			}
			from, to := max(0, i-lead-1), min(len(s), i+reach+1)
			if at, ok := last[rule]; ok && from <= out[at].to {
				out[at].to = to
				continue
			}
			last[rule] = len(out)
			out = append(out, window{rule, from, to})
		}
	})
	return out
}

// equalFold compares s with a word in lower case, ASCII only.
func equalFold(s, word string) bool {
	for i := range len(word) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
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
	add := func(start, from, to int) {
		for r.run && to < len(s) && base64Byte(s[to]) {
			to++
		}
		if from < to && r.judge(s[start:from], s[from:to]) {
			hits = append(hits, match{from, to, r.ID})
		}
	}
	text := s[w.from:w.to]
	places := [][]int{{0, len(text)}}
	switch {
	case len(r.near) > 0 && !slices.ContainsFunc(r.near, func(a string) bool { return strings.Contains(text, a) }):
		return hits
	case r.regions != nil:
		for _, at := range r.regions(text) {
			add(w.from+at[0], w.from+at[0], w.from+at[1])
		}
		return hits
	case r.within != "":
		places = r.inside.FindAllStringSubmatchIndex(text, -1)
		for i, at := range places {
			from, to := r.group(at)
			places[i] = []int{from, to}
		}
	}
	for _, place := range places {
		from, to := w.from+place[0], w.from+place[1]
		for _, at := range r.re.FindAllStringSubmatchIndex(s[from:to], -1) {
			if at[0] == 0 && from > 0 && from == w.from || from+at[1] == w.to && w.to < len(s) && !r.run {
				continue
			}
			name := from + at[0]
			g, e := r.group(at)
			g, e = from+g, from+e
			if r.judge != nil {
				add(name, g, e)
				continue
			}
			g, e = unquote(s, g, e)
			for r.named && name > 0 && nameByte(s[name-1]) {
				name--
			}
			if !inBase64(s, g) && r.secret(s[name:g], s[g:e]) {
				hits = append(hits, match{g, e, r.ID})
			}
		}
	}
	return hits
}

// inBase64 reports whether the text at i continues base64, in which any short word occurs by
// chance. The rules' expressions treat +, / and line breaks as boundaries of words, but in base64
// they are not. A separate line after base64 counts only if it has the same length.
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

// unquote returns the bounds of s[from:to] without the quotes around it.
func unquote(s string, from, to int) (int, int) {
	const quotes = "\"'`"
	from = to - len(strings.TrimLeft(s[from:to], quotes))
	return from, from + len(strings.TrimRight(s[from:to], quotes))
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
	matches := func(re *textutil.Regexp) bool { return re.MatchString(v) }
	stops := func(w string) bool { return strings.Contains(strings.ToLower(v), w) }
	return !slices.ContainsFunc(r.allow, matches) && !slices.ContainsFunc(set.allow, matches) &&
		!slices.ContainsFunc(r.Stop, stops) && !slices.ContainsFunc(set.Stop, stops)
}

// plainID reports whether v is nothing but hexadecimal digits and dashes, as hashes
// and UUIDs are.
func plainID(v string) bool { return strings.Trim(v, hexDigits+"-") == "" }

// isSecretName reports whether a name is the name of a secret.
func isSecretName(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"key", "token", "secret", "pass", "pwd", "auth", "cred"}, func(w string) bool { return strings.Contains(name, w) })
}
