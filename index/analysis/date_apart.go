package analysis

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// dateWord is a run of letters and digits in a line.
type dateWord struct {
	low      string
	from, to int
	upper    bool
	// number is the value of a word that consists of digits, or of digits and the ending of an
	// ordinal. plain reports whether it has no ending.
	number int
	plain  bool
}

// action is the meaning of a pattern.
type action byte

const (
	isDay action = iota
	isLast
	isNext
	isAgo
	isAhead
	isDate
	isMonth
	isWeek
	isFeast
	isThis
)

// symbol is one element of a pattern. It matches a word of a class, or one of the listed words.
type symbol struct {
	class byte
	// words holds the words as the table has them, by their form in small letters.
	words    map[string]string
	optional bool
}

// rule is a pattern of a language.
type rule struct {
	*dateLexicon
	symbols []symbol
	do      action
	// days is the distance from the present day that a name of a day means: -1 for "yesterday".
	days   int
	about  value
	feast  feast
	unsure bool
}

// value is the meaning of a word in a class: for a month 1 to 12, for example.
type value struct {
	word string // as in the table, for its capital
	kind byte   // of T: U, W, M, H
	n    int
}

// dateLexicon holds the words of a language by class, and the words that change a rule's meaning.
type dateLexicon struct {
	classes                     map[byte]map[string]value
	not, told, nor, vague, sure map[string]bool
}

// grammar holds the rules of all languages: by the first word that they match, and in digits the
// rules that may begin with a number.
type grammar struct {
	by     map[string][]*rule
	digits []*rule
}

// apart finds mentions of dates in languages that put spaces between words.
func (f *finder) apart(line string, day time.Time) {
	g := compiled()
	buf := buffers.Get().(*[]dateWord)
	defer buffers.Put(buf)
	*buf = split((*buf)[:0], line)
	f.words = *buf
	for i := 0; i < len(f.words); {
		rules := g.by[f.words[i].low]
		if f.words[i].number > 0 {
			rules = g.digits
		}
		best, m := i, match{}
		for _, r := range rules {
			t := match{finder: f, line: line, rule: r, start: i, target: r.about}
			if end := t.from(i, 0); end > best {
				best, m = end, t
			}
		}
		if best == i {
			i++
			continue
		}
		if s, ok := m.span(i, best, day); ok {
			f.add(line, f.words[i].from, f.words[best-1].to, s, m.year != 0 && m.do != isWeek)
		}
		i = best
	}
}

// buffers is a pool of slices for the words of a line.
var buffers = sync.Pool{New: func() any { return &[]dateWord{} }}

// match is an attempt to match a rule at a word, with the values of the words matched so far.
type match struct {
	*finder
	*rule
	line  string
	start int
	// These are the values of the matched words of the classes N, D, Y, O, U, M and T.
	n, day, year, ord, unit, month int
	target                         value
}

// from matches the symbols from index k against the words from index i. It returns the index after
// the last matched word, or -1 if they don't match.
func (m *match) from(i, k int) int {
	if k == len(m.symbols) {
		return i
	}
	s := m.symbols[k]
	if i < len(m.words) && (i == m.start || m.joined(i)) && m.is(s, &m.words[i]) {
		if end := m.from(i+1, k+1); end >= 0 {
			return end
		}
	}
	if s.optional {
		if s.class == 'Y' {
			m.year = 0
		}
		return m.from(i, k+1)
	}
	return -1
}

// joined reports whether only spaces, hyphens or apostrophes separate word i from the previous word.
func (m *match) joined(i int) bool {
	before := m.words[i-1]
	gap := m.line[before.to:m.words[i].from]
	if before.number > 0 || m.month > 0 {
		gap = strings.TrimLeft(gap, ".,")
	}
	return len(gap) <= 4 && strings.Trim(gap, " \u00a0'’-") == ""
}

func (m *match) is(s symbol, w *dateWord) bool {
	switch s.class {
	case 0:
		as, ok := s.words[w.low]
		return ok && m.fits(as, w)
	case 'D':
		m.day = w.number
		return w.number >= 1 && w.number <= 31
	case 'Y':
		m.year = w.number
		return w.plain && w.number >= 1900 && w.number < 2200
	case 'N':
		if w.plain && w.number > 0 {
			m.n = w.number
			return true
		}
	}
	v, ok := m.classes[s.class][w.low]
	if !ok || !m.fits(v.word, w) {
		return false
	}
	switch s.class {
	case 'N':
		m.n = v.n
	case 'U':
		m.unit = v.n
	case '1':
		m.unit, m.n = v.n, 1
	case 'M':
		m.month = v.n
	case 'O':
		m.ord = v.n
	case 'T':
		m.target = v
	}
	return true
}

// fits reports whether a word has the capital, or the small letter, that the table requires.
func (f *finder) fits(table string, w *dateWord) bool {
	switch r, _ := utf8.DecodeRuneInString(table); {
	case unicode.IsUpper(r):
		return w.upper || f.asked
	case r == '\'':
		return !w.upper
	}
	return true
}

// span returns the time that the words from i to end name. ok is false if the words around them give
// them another meaning.
func (m *match) span(i, end int, day time.Time) (Span, bool) {
	near := func(at int, words map[string]bool) bool {
		return len(words) > 0 && at >= 0 && at < len(m.words) && words[m.words[at].low]
	}
	front := [...]map[string]bool{isThis: nil, isDay: m.not, isLast: m.told, isNext: m.told, isAgo: m.vague}
	past := m.do == isLast || m.do == isAgo || m.do == isDay && m.days < 0
	if !(m.asked && past) && (near(i-1, front[m.do]) || m.do <= isNext && near(end, m.nor)) {
		return Span{}, false
	}
	switch m.do {
	case isDay:
		if m.unsure && !slices.ContainsFunc(m.words, func(w dateWord) bool { return m.sure[w.low] }) || m.days == 0 && !m.asked {
			return Span{}, false
		}
		return oneDay(day, m.days), true
	case isLast, isNext, isThis:
		return m.beside(day)
	case isAgo:
		if m.symbols[0].class == 'N' && i > 1 && len(m.words[i-1].low) <= 3 && m.classes['U'][m.words[i-2].low].n > 0 {
			return Span{}, false // two years and three months ago
		}
		return away(day, m.unit, -m.n)
	case isAhead:
		return away(day, m.unit, m.n)
	case isDate:
		if end < len(m.words) && m.year == 0 && m.follows(end) {
			return Span{}, false
		}
		return dayOf(day, m.year, m.month, m.day)
	case isMonth:
		return month(time.Date(m.year, time.Month(m.month), 1, 0, 0, 0, 0, time.UTC), 0), true
	case isWeek:
		return weekOf(day, m.ord, m.month, m.year)
	}
	if m.asked {
		return feastFrom(day.AddDate(0, 0, 1), m.feast, -1)
	}
	return feastNear(day, m.feast)
}

// follows reports whether a day's number continues, as in "May 7:30" or "March 5,000".
func (m *match) follows(end int) bool {
	gap := m.line[m.words[end-1].to:m.words[end].from]
	return len(gap) == 1 && strings.ContainsAny(gap, ":.,/%") && m.words[end].number > 0
}

// beside returns the last, this or the next unit, weekday, month or feast, as the rule says.
func (m *match) beside(day time.Time) (Span, bool) {
	way := 1
	switch m.do {
	case isLast:
		way = -1
	case isThis:
		// On Monday "this weekend" may be the last or the next one. "This Friday" and "this May" are
		// ambiguous in the same way.
		if way = 0; m.target.kind != 'U' || m.target.n == unitWeekend {
			return Span{}, false
		}
	}
	switch v := m.target; v.kind {
	case 'U':
		return unit(day, v.n, way)
	case 'W':
		if way < 0 {
			return lastDay(day, v.n-1)
		}
		return nextDay(day, v.n-1)
	case 'M':
		if way < 0 {
			return lastMonth(day, v.n)
		}
		return nextMonth(day, v.n)
	}
	return feastFrom(day, m.feast, way)
}

// fold maps each byte of a word to itself, and capitals of ASCII to small letters. It maps bytes
// between words to 0. Characters of two bytes count as letters from U+00C0 on.
var fold = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case 'A' <= c && c <= 'Z':
			t[c] = byte(c | 0x20)
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', 0x80 <= c && c < 0xC2, 0xC3 <= c && c < 0xE2:
			t[c] = byte(c)
		}
	}
	return t
}()

// width returns the number of bytes of a character by its first byte.
func width(c byte) int {
	switch {
	case c >= 0xF0:
		return 4
	case c >= 0xE2:
		return 3
	case c >= 0xC2:
		return 2
	}
	return 1
}

// split finds the words of a line.
func split(out []dateWord, line string) []dateWord {
	for i := 0; i < len(line); {
		if fold[line[i]] == 0 {
			i += width(line[i])
			continue
		}
		w := dateWord{from: i}
		plain := true
		for ; i < len(line) && fold[line[i]] != 0; i++ {
			plain = plain && fold[line[i]] == line[i] && line[i] < utf8.RuneSelf
		}
		w.to = i
		if w.low = line[w.from:i]; !plain {
			r, _ := utf8.DecodeRuneInString(w.low)
			w.low, w.upper = strings.ToLower(w.low), unicode.IsUpper(r)
		}
		if c := w.low[0]; '0' <= c && c <= '9' {
			w.number, w.plain = numberOf(w.low)
		}
		out = append(out, w)
	}
	return out
}

// numberOf reads up to four digits, and the ending of an ordinal after them.
func numberOf(s string) (int, bool) {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	if n == 0 || n > 4 {
		return 0, false
	}
	v, _ := strconv.Atoi(s[:n])
	switch s[n:] {
	case "":
		return v, true
	case "st", "nd", "rd", "th", "er", "º", "ª":
		return v, false
	}
	return 0, false
}

// compiled returns the grammar, which is made of the tables on first use.
var compiled = sync.OnceValue(func() *grammar {
	g := &grammar{by: map[string][]*rule{}}
	for i := range dateLanguages {
		g.language(&dateLanguages[i])
	}
	return g
})

func (g *grammar) language(l *language) {
	x := &dateLexicon{classes: map[byte]map[string]value{}, not: set(l.not), told: set(l.told), nor: set(l.nor), vague: set(l.vague), sure: set(l.sure)}
	// long holds the units, weekdays and months whose names have several words. Each gets its own
	// rules.
	long := map[string]value{}
	put := func(c byte, forms string, v value) {
		if x.classes[c] == nil {
			x.classes[c] = map[string]value{}
		}
		for _, w := range strings.Split(forms, "|") {
			switch v.word = w; {
			case w == "":
			case !strings.Contains(w, " "):
				x.classes[c][small(w)] = v
			case c == 'T':
				long[w] = v
			}
		}
	}
	class := func(c byte, table string, kind byte) {
		for i, forms := range entries(table) {
			put(c, forms, value{kind: kind, n: i + 1})
		}
	}
	class('N', l.numbers, 0)
	class('O', l.ordinals, 0)
	class('M', l.months, 0)
	class('T', l.months, 'M')
	class('T', l.weekdays, 'W')
	for i := range l.one {
		v := value{kind: 'U', n: i + 1}
		put('U', l.one[i], v)
		put('U', l.many[i], v)
		put('1', l.one[i], v)
		if v.n != unitDay {
			put('T', l.one[i], v)
		}
	}
	rules := func(table string, r rule) {
		for _, p := range entries(table) {
			r.dateLexicon = x
			g.rule(p, r)
		}
	}
	for n, names := range l.days {
		rules(names, rule{do: isDay, days: n})
	}
	for f, names := range l.feasts {
		rules(names, rule{do: isFeast, feast: f})
		for _, name := range entries(names) {
			v := value{kind: 'H'}
			rules(strings.ReplaceAll(l.last, "T", name), rule{do: isLast, feast: f, about: v})
			rules(strings.ReplaceAll(l.next, "T", name), rule{do: isNext, feast: f, about: v})
		}
	}
	for name, v := range long {
		rules(strings.ReplaceAll(l.last, "T", name), rule{do: isLast, about: v})
		rules(strings.ReplaceAll(l.next, "T", name), rule{do: isNext, about: v})
	}
	for do, table := range map[action]string{isThis: l.this, isLast: l.last, isNext: l.next, isAgo: l.ago, isAhead: l.ahead, isDate: l.dayOf, isMonth: l.monthOf, isWeek: l.weekOf} {
		rules(table, rule{do: do})
	}
}

// rule adds a pattern.
func (g *grammar) rule(pattern string, r rule) {
	if p, ok := strings.CutSuffix(pattern, "~"); ok {
		pattern, r.unsure = p, true
	}
	for _, f := range strings.Fields(pattern) {
		var s symbol
		f, s.optional = strings.CutSuffix(f, "?")
		switch {
		case f == "U1":
			s.class = '1'
		case len(f) == 1 && strings.Contains("NUTDYOM", f):
			s.class = f[0]
		default:
			s.words = map[string]string{}
			for _, w := range strings.Split(f, "|") {
				s.words[small(w)] = w
			}
		}
		r.symbols = append(r.symbols, s)
	}
	for _, s := range r.symbols {
		g.begin(s, &r)
		if !s.optional {
			return
		}
	}
}

// begin adds a rule to g.by under each word that matches the symbol s, and to g.digits if a number
// matches it.
func (g *grammar) begin(s symbol, r *rule) {
	digits := s.class == 'N' || s.class == 'D'
	add := func(w string) {
		if _, ok := numberOf(w); ok || w[0] >= '0' && w[0] <= '9' {
			digits = true
		} else {
			g.by[w] = append(g.by[w], r)
		}
	}
	for w := range s.words {
		add(w)
	}
	for w := range r.classes[s.class] {
		add(w)
	}
	if digits {
		g.digits = append(g.digits, r)
	}
}

// small returns a word of a table in small letters, without the ' before it.
func small(w string) string { return strings.ToLower(strings.TrimPrefix(w, "'")) }

// entries returns the entries of a table, which semicolons separate.
func entries(table string) (out []string) {
	for _, e := range strings.Split(table, ";") {
		if e = strings.TrimSpace(e); e != "" {
			out = append(out, e)
		}
	}
	return out
}

func set(table string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(table) {
		out[w] = true
	}
	return out
}
