package choice

import (
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// class is a set of meanings that a word can have, as bits. A word of one language may have
// another meaning in another.
type class uint32

const (
	isOption class = 1 << iota // in the order of newLexicon
	isPick
	isFill
	isKill
	isYes
	isNeg
	isAnd
	isOr
	isBut
	isHedge
	isPoint
	isWhich

	isChat
	isFurther
)

// lexicon holds the phrases of all languages: those of scripts with spaces by their words,
// the others by their characters.
type lexicon struct {
	spaced  map[string]class
	longest map[string]int // the most words of a phrase that begins with one
	wide    map[string]class
	reach   int // the length of the longest phrase in wide, in characters
}

// lexical returns the words of answers and statements, chatting the same with the words of
// chat, some of which begin or end as an answer does.
var (
	lexical  = sync.OnceValue(newLexicon)
	chatting = sync.OnceValue(func() *lexicon {
		lx := newLexicon()
		for _, words := range chatter {
			lx.add(words, isChat)
		}
		lx.add(further, isFurther)
		return lx
	})
)

func newLexicon() *lexicon {
	lx := &lexicon{spaced: map[string]class{}, longest: map[string]int{}, wide: map[string]class{}}
	for _, t := range tongues {
		for i, phrases := range [...]string{t.option, t.pick, t.fill, t.kill, t.yes, t.neg, t.and, t.or, t.but, t.hedge, t.points, t.which} {
			lx.add(phrases, 1<<i)
		}
	}
	return lx
}

func (lx *lexicon) add(phrases string, c class) {
	for _, p := range phrasesOf(phrases) {
		if r, _ := utf8.DecodeRuneInString(p); wide(r) {
			lx.wide[p] |= c
			lx.reach = max(lx.reach, utf8.RuneCountInString(p))
			continue
		}
		for _, form := range slices.Compact([]string{p, folded(p)}) {
			words := strings.FieldsFunc(form, func(r rune) bool { return !isWordRune(r) && r != '\'' })
			key := strings.Join(words, " ")
			if form != p && lx.spaced[key] != 0 {
				continue // it means something else without its accents
			}
			lx.spaced[key] |= c
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
	other
)

// token is a piece of a text.
type token struct {
	kind  tokenKind
	class class
	// text is in small letters, without marks.
	text string
	// at is the offset of its first byte in the text, end that of the byte after it.
	at, end int
}

func (t token) is(c class) bool { return t.kind == word && t.class&c != 0 }

// wide reports whether r is of a script that puts no spaces between words, or of Korean,
// whose particles are joined to its words.
func wide(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) || r == 'ー' || r == 'ㅇ'
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// scan takes a text apart.
func scan(text string) []token { return lexical().scan(text) }

func (lx *lexicon) scan(text string) []token {
	out := make([]token, 0, 1+len(text)/6)
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		t := token{at: i, end: i + n}
		switch {
		case figure(r):
			for t.kind = number; t.end < len(text); t.end += n {
				if r, n = utf8.DecodeRuneInString(text[t.end:]); !figure(r) {
					break
				}
			}
			t.text = normal(text[i:t.end])
		case wide(r):
			t = lx.scanWide(text, i)
			if l := len(out) - 1; t.class == 0 && l >= 0 && out[l].kind == word && out[l].class == 0 && out[l].end == i {
				out[l].text, out[l].end, i = out[l].text+t.text, t.end, t.end
				continue
			}
		case isWordRune(r):
			t = lx.scanWord(text, i)
		default:
			var ok bool
			if t.kind, ok = markOf(r, text[i+n:]); !ok {
				i += n
				continue
			}
			t.text = text[i : i+n]
		}
		out, i = append(out, t), t.end
	}
	return out
}

// figure reports whether r is a digit of any script, also within a circle.
func figure(r rune) bool { return unicode.IsDigit(r) || r >= '①' && r <= '⑨' }

// markOf returns what a mark means, if anything.
func markOf(r rune, rest string) (tokenKind, bool) {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case '.', '!', '·':
		return stop, rest == "" || unicode.IsSpace(next) || strings.ContainsRune(`"')*_`, next)
	case '\n', '。', '！', ';', '；', '…', '।', '؛', '?', '？', '؟', '\u037e', '՞':
		return stop, true
	case ',', '，', '،', '、', ':', '：', '(', '（', '—', '-', '–', '&', '+', '＋', '＆', '/':
		return comma, true
	case '#', '№', '＃', '=', '<', '>', '%', '$', '€', '@', '\\', '{', '}', '|', '^', '°':
		return other, true
	}
	return 0, false
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
		if c, ok := lx.wide[normal(text[at:end])]; ok {
			return token{class: c, text: normal(text[at:end]), at: at, end: end}
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
	t := token{text: first, at: at, end: end}
	phrase, n, stop := first, 1, end
	for {
		if c, ok := lx.find(phrase); ok {
			t.class, t.text, t.end = c, phrase, stop
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
func (lx *lexicon) find(phrase string) (class, bool) {
	c, ok := lx.spaced[phrase]
	if !ok && !ascii(phrase) {
		c, ok = lx.spaced[folded(phrase)]
	}
	return c, ok
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
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !(unicode.IsDigit(r) && end > at) || wide(r) {
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
