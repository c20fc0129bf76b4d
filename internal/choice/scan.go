package choice

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is what a word can mean in a reply, as bits: words of one language are those of
// another with another meaning.
type class uint32

const (
	isOption class = 1 << iota
	isPick
	isFill
	isKill
	isYes
	isNeg
	isAnd
	isOr
	isBut
	isHedge
	isOrdinal
	isNumber
	isLast
	isBoth
	isNone
	isNeither
	isAll
	isFormer
	isLatter
	isMany
	isWhich
	isLead
	isFirstTwo
	isChat
	isFurther

	// selects are the words that point at options.
	selects = isOrdinal | isNumber | isLast | isBoth | isNone | isNeither | isAll | isFormer | isLatter | isFirstTwo
)

// meaning is what a phrase can mean, with the number that it stands for.
type meaning struct {
	class class
	// ordinal and number are from one on, 0 for none.
	ordinal, number int
}

func (m meaning) with(o meaning) meaning {
	return meaning{m.class | o.class, max(m.ordinal, o.ordinal), max(m.number, o.number)}
}

// lexicon are the phrases of all languages: those of scripts with spaces by their words,
// the others by their first character, the longest first.
type lexicon struct {
	spaced  map[string]meaning
	longest map[string]int // the most words of a phrase that begins with one
	wide    map[string]meaning
	reach   int // the longest of them, in characters
}

// lexical are the words of choices; chatting are these with those of chat, which may begin
// or end as a choice does.
var (
	lexical  = sync.OnceValue(newLexicon)
	chatting = sync.OnceValue(func() *lexicon {
		lx := newLexicon()
		for _, words := range chatter {
			lx.add(words, meaning{class: isChat})
		}
		lx.add(further, meaning{class: isFurther})
		return lx
	})
)

func newLexicon() *lexicon {
	lx := &lexicon{spaced: map[string]meaning{}, longest: map[string]int{}, wide: map[string]meaning{}}
	for _, t := range tongues {
		for _, f := range []struct {
			phrases string
			class   class
		}{{t.option, isOption}, {t.pick, isPick}, {t.fill, isFill}, {t.kill, isKill}, {t.yes, isYes}, {t.neg, isNeg}, {t.and, isAnd}, {t.or, isOr}, {t.but, isBut}, {t.hedge, isHedge}, {t.last, isLast},
			{t.both, isBoth}, {t.none, isNone}, {t.neither, isNeither}, {t.all, isAll}, {t.former, isFormer}, {t.latter, isLatter}, {t.many, isMany}, {t.which, isWhich}, {t.lead, isLead}, {t.firstTwo, isFirstTwo}} {
			lx.add(f.phrases, meaning{class: f.class})
		}
		for i, p := range strings.Split(t.ordinals, ";") {
			lx.add(p, meaning{class: isOrdinal, ordinal: i + 1})
		}
		for i, p := range strings.Split(t.numbers, ";") {
			lx.add(p, meaning{class: isNumber, number: i + 1})
		}
	}
	return lx
}

func (lx *lexicon) add(phrases string, m meaning) {
	for p := range strings.SplitSeq(phrases, "|") {
		if p == "" {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(p); wide(r) {
			p = normal(p)
			lx.wide[p] = lx.wide[p].with(m)
			lx.reach = max(lx.reach, utf8.RuneCountInString(p))
			continue
		}
		for _, form := range slices.Compact([]string{normal(p), folded(normal(p))}) {
			words := strings.FieldsFunc(form, func(r rune) bool { return !isWordRune(r) && r != '\'' })
			key := strings.Join(words, " ")
			if form != normal(p) && lx.spaced[key].class != 0 {
				continue // it means something else without its accents
			}
			lx.spaced[key] = lx.spaced[key].with(m)
			lx.longest[words[0]] = max(lx.longest[words[0]], len(words))
		}
	}
}

// tokenKind distinguishes the marks from the words.
type tokenKind uint8

const (
	word tokenKind = iota
	number
	comma
	stop // the end of a sentence or a line
	asks // a question mark
	dash
	hash
	other // a decimal, a mark that means something
)

// token is a piece of a text.
type token struct {
	kind tokenKind
	meaning
	// text is the word in small letters, without marks; value what a number is.
	text  string
	value int
	upper bool
	// at is where it begins in the text, in bytes, end where it ends.
	at, end int
}

func (t token) is(c class) bool { return t.kind == word && t.class&c != 0 }

// letter returns the place that a single letter stands for, from one on, 0 if t is none.
func (t token) letter() int {
	if t.kind != word || utf8.RuneCountInString(t.text) != 1 {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(t.text)
	return letterPlace(r)
}

const (
	cyrillic = "абвгдежз"
	stems    = "甲乙丙丁戊"
	hangul   = "가나다라마바"
)

func letterPlace(r rune) int {
	r = unicode.ToLower(r)
	if r >= 'a' && r <= 'l' {
		return int(r-'a') + 1
	}
	for _, alphabet := range [...]string{cyrillic, stems, hangul} {
		if i := slices.Index([]rune(alphabet), r); i >= 0 {
			return i + 1
		}
	}
	return 0
}

// wide reports whether r is of a script that puts no spaces between words, or of Korean,
// whose particles are joined to its words.
func wide(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ㅇ'
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// suffixes are what people hang at a figure.
var suffixes = map[string]bool{"st": true, "nd": true, "rd": true, "th": true, "e": true, "er": true, "ère": true, "ème": true, "eme": true, "de": true, "ste": true, "te": true, "es": true, "est": true, "as": true, "at": true, "ös": true,
	"yi": true, "yı": true, "i": true, "ı": true, "u": true, "ü": true, "й": true, "я": true, "е": true, "ой": true, "го": true, "му": true, "ю": true, "ª": true, "º": true, "ο": true, "η": true, "inci": true, "nci": true, "incisi": true}

// scan takes a text apart. Figures of all scripts are the same, and so are letters of
// full and half width.
func scan(text string) []token { return lexical().scan(text) }

func (lx *lexicon) scan(text string) []token {
	r := reader{text: text, lx: lx, out: make([]token, 0, 1+len(text)/6)}
	for r.more() {
	}
	return r.out
}

// reader takes a text apart as far as it is read.
type reader struct {
	text string
	lx   *lexicon
	out  []token
	i    int // where it goes on
}

// has reports whether the text has more than n tokens, and reads as far as it takes to know
// the token n.
func (t *reader) has(n int) bool {
	for len(t.out) < n+2 && t.more() { // the last one may yet grow
	}
	return len(t.out) > n
}

// more reads on, false at the text's end.
func (t *reader) more() bool {
	if t.i == len(t.text) {
		return false
	}
	i, out := t.i, t.out
	r, n := utf8.DecodeRuneInString(t.text[i:])
	switch {
	case r == '\n':
		out = append(out, token{kind: stop, text: "\n", at: i, end: i + n})
		i += n
	case digit(r) >= 0:
		t := scanNumber(t.text, i)
		out, i = append(out, t), t.end
	case wide(r):
		t := t.lx.scanWide(t.text, i)
		if l := len(out) - 1; t.class == 0 && l >= 0 && out[l].kind == word && out[l].class == 0 && out[l].end == i && t.letter() == 0 {
			out[l].text, out[l].end = out[l].text+t.text, t.end
		} else {
			out = append(out, t)
		}
		i = t.end
	case isWordRune(r):
		t := t.lx.scanWord(t.text, i)
		out, i = append(out, t), t.end
	default:
		if k, ok := markOf(r, t.text[i+n:]); ok {
			out = append(out, token{kind: k, text: t.text[i : i+n], at: i, end: i + n})
		}
		i += n
	}
	t.i, t.out = i, out
	return true
}

// markOf returns what a mark means, if anything.
func markOf(r rune, rest string) (tokenKind, bool) {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case '.', '!', '·':
		if rest == "" || unicode.IsSpace(next) || strings.ContainsRune(`"')*_`, next) {
			return stop, true
		}
		return 0, false
	case '。', '！', ';', '；', '…', '।', '؛':
		return stop, true
	case '?', '？', '؟', '\u037e', '՞':
		return asks, true
	case ',', '，', '،', '、', ':', '：', '(', '（', '—':
		return comma, true
	case '&', '+', '＋', '＆':
		return comma, true
	case '/':
		return comma, digit(next) >= 0 || unicode.IsSpace(next)
	case '-', '–', '~', '〜', '～':
		if next == ' ' {
			return comma, true
		}
		return dash, true
	case '#', '№', '＃':
		return hash, true
	case '=', '<', '>', '%', '$', '€', '@', '\\', '{', '}', '|', '^', '°':
		return other, true
	}
	return 0, false
}

// digit returns the value of a figure of any script, -1 for other characters.
func digit(r rune) int {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0')
	case r < 0x80:
		return -1
	case r >= '①' && r <= '⑨':
		return int(r-'①') + 1
	case r >= '０' && r <= '９':
		return int(r - '０')
	case r >= '٠' && r <= '٩':
		return int(r - '٠')
	case r >= '۰' && r <= '۹':
		return int(r - '۰')
	case r >= '०' && r <= '९':
		return int(r - '०')
	case r >= '๐' && r <= '๙':
		return int(r - '๐')
	}
	return -1
}

// scanNumber reads a figure with what hangs at it. One with a point in it, or with a
// unit, is no label.
func scanNumber(text string, at int) token {
	t := token{kind: number, at: at}
	i, digits := at, 0
	for i < len(text) {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == 0xFE0F || r == 0x20E3 {
			i += n
			continue
		}
		d := digit(r)
		if d < 0 {
			break
		}
		if digits++; digits <= 4 {
			t.value = 10*t.value + d
		}
		i += n
	}
	t.end, t.text = i, normal(text[at:i])
	if digits > 2 {
		t.kind = other
	}
	rest := text[i:]
	if len(rest) > 1 && strings.ContainsRune(".,:", rune(rest[0])) && digit(rune(rest[1])) >= 0 && rest[0] != ',' {
		t.kind = other
	}
	if len(rest) > 0 && (rest[0] == '%' || rest[0] == '$') {
		t.kind = other
	}
	skip := 0
	for _, mark := range [...]string{"-", "'", "’", ":"} {
		if strings.HasPrefix(rest, mark) {
			skip = len(mark)
		}
	}
	end := skip
	for end < len(rest) {
		r, n := utf8.DecodeRuneInString(rest[end:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) || wide(r) {
			break
		}
		end += n
	}
	if tail := normal(rest[skip:end]); tail != "" {
		switch {
		case suffixes[tail]:
			t.end = i + end
		case skip == 0 && !unicode.In([]rune(tail)[0], unicode.Arabic, unicode.Cyrillic):
			t.kind, t.end = other, i+end // a unit: 2s, 3x
		case strings.HasPrefix(rest, "-"):
			t.kind, t.end = other, i+end // 2-way
		}
	}
	return t
}

// scanWide reads the longest phrase of a script without spaces, or one character.
func (lx *lexicon) scanWide(text string, at int) token {
	ends := make([]int, 0, lx.reach)
	for i := at; i < len(text) && len(ends) < lx.reach; {
		_, n := utf8.DecodeRuneInString(text[i:])
		i += n
		ends = append(ends, i)
	}
	for _, end := range slices.Backward(ends) {
		if m, ok := lx.wide[normal(text[at:end])]; ok {
			return token{meaning: m, text: normal(text[at:end]), at: at, end: end}
		}
	}
	return token{text: normal(text[at:ends[0]]), at: at, end: ends[0]}
}

// scanWord reads the longest phrase of words, or one word. A short word before an
// apostrophe is one of its own.
func (lx *lexicon) scanWord(text string, at int) token {
	end, apostrophe := wordEnd(text, at)
	first := normal(text[at:end])
	most := max(lx.longest[first], lx.longest[folded(first)])
	if apostrophe > 0 && most == 0 {
		end = apostrophe
		first = normal(text[at:end])
		most = max(lx.longest[first], lx.longest[folded(first)])
	}
	up, _ := utf8.DecodeRuneInString(text[at:])
	t := token{text: first, at: at, end: end, upper: unicode.IsUpper(up)}
	phrase, n, stop := first, 1, end
	for {
		if m, ok := lx.find(phrase); ok {
			t.meaning, t.text, t.end = m, phrase, stop
		}
		if n++; n > most {
			break
		}
		next := stop
		for next < len(text) && strings.ContainsRune(" \t-\u00a0\u200c*_", rune(text[next])) && text[next] < 0x80 || strings.HasPrefix(text[next:], "\u00a0") || strings.HasPrefix(text[next:], "\u200c") {
			_, w := utf8.DecodeRuneInString(text[next:])
			next += w
		}
		e, _ := wordEnd(text, next)
		if e == next {
			break
		}
		phrase, stop = phrase+" "+normal(text[next:e]), e
	}
	return t
}

// find returns what a phrase means, without its accents if nothing with them.
func (lx *lexicon) find(phrase string) (meaning, bool) {
	m, ok := lx.spaced[phrase]
	if !ok && !ascii(phrase) {
		m, ok = lx.spaced[folded(phrase)]
	}
	return m, ok
}

// wordEnd returns where the word that begins at a place ends, and where the part of it before
// an apostrophe does, 0 if it has none.
func wordEnd(text string, at int) (end, apostrophe int) {
	for end = at; end < len(text); {
		r, n := utf8.DecodeRuneInString(text[end:])
		mark := r == '\'' || r == '’'
		if mark && end > at {
			if next, _ := utf8.DecodeRuneInString(text[end+n:]); unicode.IsLetter(next) {
				if apostrophe == 0 {
					apostrophe = end
				}
				end += n
				continue
			}
		}
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !(unicode.IsDigit(r) && end > at) || wide(r) || digit(r) >= 0 && end == at {
			break
		}
		end += n
	}
	return end, apostrophe
}

// normal returns a text in small letters and one spelling: straight apostrophes, letters of
// half width, Arabic without its marks.
func normal(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	s = strings.ReplaceAll(s, "İ", "i")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '’' || r == '‘':
			return '\''
		case r >= '！' && r <= '～':
			return unicode.ToLower(r - '！' + '!')
		case r == 'أ' || r == 'إ' || r == 'آ':
			return 'ا'
		case r == 'ى' || r == 'ی':
			return 'ي'
		case r == 'ک':
			return 'ك'
		case r == 'ۀ' || r == 'ة':
			return 'ه'
		case r == 'ё':
			return 'е'
		case r >= 0x064B && r <= 0x0652 || r == 0x0640 || r == 0x200d || r == 0x200e || r == 0x200f:
			return -1
		case r == 0x200c || r == 0xa0:
			return ' '
		}
		return unicode.ToLower(r)
	}, s)
}

// plainLetters are letters and what people type for them.
var plainLetters = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ä", "a", "ã", "a", "å", "a", "ă", "a", "ą", "a", "ç", "c", "č", "c", "ć", "c", "ď", "d", "đ", "d", "é", "e", "è", "e", "ê", "e", "ë", "e", "ě", "e", "ę", "e",
	"ğ", "g", "í", "i", "ì", "i", "î", "i", "ï", "i", "ı", "i", "ł", "l", "ñ", "n", "ň", "n", "ń", "n", "ó", "o", "ò", "o", "ô", "o", "ö", "o", "õ", "o", "ő", "o", "ø", "o", "ř", "r", "š", "s", "ś", "s", "ş", "s", "ș", "s",
	"ß", "ss", "ť", "t", "ț", "t", "ú", "u", "ù", "u", "û", "u", "ü", "u", "ů", "u", "ű", "u", "ý", "y", "ž", "z", "ź", "z", "ż", "z", "ά", "α", "έ", "ε", "ή", "η", "ί", "ι", "ό", "ο", "ύ", "υ", "ώ", "ω")

// folded returns a normal text without its accents.
func folded(s string) string {
	if ascii(s) {
		return s
	}
	return plainLetters.Replace(s)
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// itoa returns the label of a place.
func itoa(n int) string { return strconv.Itoa(n) }
