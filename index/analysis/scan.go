package analysis

import (
	"unicode"
	"unicode/utf8"
)

const (
	maxTerm    = 128 // bytes of one word; longer ones are cut
	maxWhole   = 64  // bytes of an identifier that is also kept whole
	maxParts   = 8   // parts of an identifier that is also kept whole
	maxHumps   = 16  // case changes in one word; above, it is encoded data
	tatweel    = 'ـ' // stretches an Arabic word, means nothing
	shortBreve = 0x0306
)

// item is a word of a scanned text, or a run of characters of a script without spaces.
type item struct {
	word *word
	// from and to bound the run's characters in Analyzer.runes.
	from, to int
	class    class
	// at is the offset of the item in the text, in bytes.
	at int
}

// scan cuts a text into items, left to right, into a.items.
func (a *Analyzer) scan(text string) {
	a.items, a.runes = a.items[:0], a.runes[:0]
	for i := 0; i < len(text); {
		r, n := decode(text, i)
		begin, first := i, len(a.items)
		switch c := classOf(r); c {
		case letter, digit:
			if end := simple(text, i); end > 0 {
				a.buf = append(a.buf[:0], text[i:end]...)
				a.buf[0] |= 0x20
				a.items = append(a.items, item{word: a.lookup(a.buf), class: letter, at: i})
				i = end
				continue
			}
			i = a.compound(text, i)
		case dense, tight:
			i = a.run(text, i, c)
		case emoji:
			a.items = append(a.items, item{from: len(a.runes), to: len(a.runes) + 1, class: emoji})
			a.runes = append(a.runes, r)
			i += n
		default:
			i += n
		}
		for j := first; j < len(a.items); j++ {
			a.items[j].at = begin
		}
	}
}

// decode returns the character at i, as canon maps it, and its size in bytes.
func decode(text string, i int) (rune, int) {
	if c := text[i]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(text[i:])
	return canon(r), n
}

// run reads neighbouring characters of one class into an item.
func (a *Analyzer) run(text string, i int, c class) int {
	from := len(a.runes)
	for i < len(text) {
		r, n := decode(text, i)
		if k := classOf(r); k == c {
			a.runes = append(a.runes, r)
		} else if k != void && k != mark {
			break
		}
		i += n
	}
	a.widen(from)
	a.items = append(a.items, item{from: from, to: len(a.runes), class: c})
	return i
}

// simple returns the end of the word at i if it is a word of the most frequent form, else 0. Such
// a word has ASCII letters, of which only the first may be a capital, and no character after it
// that could belong to it.
func simple(text string, i int) int {
	j := i + 1
	if c := text[i] | 0x20; c < 'a' || c > 'z' {
		return 0
	}
	for j < len(text) && text[j] >= 'a' && text[j] <= 'z' {
		j++
	}
	switch {
	case j-i > maxTerm:
		return 0
	case j == len(text) || endsWord[text[j]]:
		return j
	case text[j] == '.' && (j+1 == len(text) || endsWord[text[j+1]]):
		return j
	}
	return 0
}

// endsWord holds the characters after which a word certainly ends. Characters that may join two parts
// of a name, or that belong to names such as C++, are not among them.
var endsWord = func() (t [256]bool) {
	for _, c := range " \n\r\t,;:!?()[]{}\"*`/\\|<>=" {
		t[c] = true
	}
	return t
}()

// compound reads a word with all parts that hyphens, dots, underscores and case changes connect.
// It adds the parts and, if there are several, the whole.
func (a *Analyzer) compound(text string, i int) int {
	a.buf, a.cuts = a.buf[:0], append(a.cuts[:0], 0)
	h := humps{}
	for i < len(text) {
		r, n := decode(text, i)
		switch c := classOf(r); {
		case c == letter || c == digit:
			if at, ok := h.cut(r, len(a.buf), text[i+n:]); ok {
				a.cuts = append(a.cuts, at)
			}
			a.buf = utf8.AppendRune(a.buf, lower(r))
		case c == mark:
			a.mark(r)
		case c == void || r == tatweel:
		case r == '\'' && wordFollows(text, i+n):
			a.buf = append(a.buf, '\'')
			h = humps{count: h.count}
		case connects(text, i, r) && wordFollows(text, i+n):
			a.cuts = append(a.cuts, len(a.buf))
			h = humps{count: h.count}
		default:
			return a.finish(text, i, h)
		}
		i += n
	}
	return a.finish(text, i, h)
}

// mark adds a combining mark to the word, or leaves it out. It combines the Cyrillic и and a breve into
// the letter й.
func (a *Analyzer) mark(r rune) {
	if n := len(a.buf); r == shortBreve && n >= 2 && string(a.buf[n-2:]) == "и" {
		a.buf = append(a.buf[:n-2], "й"...)
		return
	}
	if !dropped(r) {
		a.buf = utf8.AppendRune(a.buf, r)
	}
}

// connects reports whether the character at i may join two parts of one name.
// A comma does only between digits.
func connects(text string, i int, r rune) bool {
	switch r {
	case '_', '-', '.':
		return true
	case ',':
		return i > 0 && i+1 < len(text) && isDigit(text[i-1]) && isDigit(text[i+1])
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// wordFollows reports whether a letter or digit is at i.
func wordFollows(text string, i int) bool {
	if i >= len(text) {
		return false
	}
	r, _ := decode(text, i)
	c := classOf(r)
	return c == letter || c == digit
}

// finish adds the items of the compound in a.buf that ended at i, and returns
// where the scan continues.
func (a *Analyzer) finish(text string, i int, h humps) int {
	if h.count > maxHumps {
		a.cuts = a.cuts[:1]
	}
	if len(a.cuts) == 1 {
		a.add(a.buf)
		return a.sharp(text, i)
	}
	for k, at := range a.cuts {
		end := len(a.buf)
		if k+1 < len(a.cuts) {
			end = a.cuts[k+1]
		}
		if part := a.buf[at:end]; len(part) > 1 || len(part) == 1 && isDigit(part[0]) {
			a.add(part)
		}
	}
	if len(a.cuts) <= maxParts && len(a.buf) <= maxWhole {
		a.add(a.buf)
	}
	return i
}

// sharp adds a second term for names of a letter and a sign, such as C++, C# and F#.
func (a *Analyzer) sharp(text string, i int) int {
	if len(a.buf) != 1 || i >= len(text) {
		return i
	}
	switch {
	case text[i] == '#' && !wordFollows(text, i+1):
		a.add(append(a.buf, "sharp"...))
		return i + 1
	case i+1 < len(text) && text[i:i+2] == "++" && !wordFollows(text, i+2):
		a.add(append(a.buf, "plusplus"...))
		return i + 2
	}
	return i
}

func (a *Analyzer) add(w []byte) {
	if len(w) > maxTerm {
		n := maxTerm
		for n > 0 && !utf8.RuneStart(w[n]) {
			n--
		}
		w = w[:n]
	}
	if len(w) > 0 {
		a.items = append(a.items, item{word: a.lookup(w), class: letter})
	}
}

// humps finds the case changes inside a word.
type humps struct {
	uppers int  // length of the run of capitals so far
	lower  bool // the last character was a small letter
	last   int  // the place of the last capital
	count  int
}

// cut takes the next letter, its offset, and the text after it. It returns the offset of a new part if
// one begins: at a capital after a small letter, and at the last of several capitals that a small
// letter follows, except a plural s as in "APIs".
func (h *humps) cut(r rune, at int, rest string) (int, bool) {
	if unicode.IsUpper(r) {
		begins := h.lower
		h.uppers, h.lower, h.last = h.uppers+1, false, at
		if begins {
			h.uppers = 1
			h.count++
		}
		return at, begins
	}
	many := h.uppers > 1
	h.uppers = 0
	h.lower = r < 0x80 && asciiClass[r] == letter || r >= 0x80 && unicode.IsLower(r)
	if many && h.lower && (r != 's' || wordFollows(rest, 0)) {
		h.count++
		return h.last, true
	}
	return 0, false
}
