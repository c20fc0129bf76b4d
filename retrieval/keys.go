package retrieval

import (
	"unicode"
	"unicode/utf8"
)

// key is a word, or the beginning of a long word, in keySymbols symbols. The first symbol is in
// the highest bits. After the end of a shorter word the symbols are 0. Above the symbols is a
// remainder that distinguishes numbers. The remainder is 0 for a word of letters alone.
type key uint64

const (
	keySymbols = 12
	symbolBits = 5
	symbolMask = 1<<symbolBits - 1
	// firstDigit is the symbol of 0 and 5. The symbols below it are the letters.
	firstDigit = 27
	// remainders is a prime, so that numbers whose digits share their symbols
	// differ in it.
	remainders  = 13
	numberShift = keySymbols * symbolBits
)

// kind is the effect of a byte on a word. Values up to symbolMask are symbols.
type kind uint8

const (
	small kind = 1 << (symbolBits + iota)
	capital
	number
	alnum = small | capital | number
	// joint joins two words to one name. The joints are _ - . ' and, between digits, a comma.
	joint kind = 1
)

// kinds holds each byte's effect and symbol. A letter has one symbol for both cases. The digits
// share the symbols that letters do not use.
var kinds = func() (t [256]kind) {
	for c := kind(0); c < 26; c++ {
		t['a'+c], t['A'+c] = small|(c+1), capital|(c+1)
	}
	for c := kind(0); c < 10; c++ {
		t['0'+c] = number | (firstDigit + c%5)
	}
	for _, c := range "_-.'," {
		t[c] = joint
	}
	return t
}()

// appendKeys appends the keys of a text's words: the same words as package analysis makes, each
// part of an identifier and, if there are several, the whole. At a letter beyond ASCII, for which
// there are no keys, it gives up and returns false.
func appendKeys(dst []key, text string) (keys []key, ascii bool) {
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case kinds[c]&alnum != 0:
			dst, i = appendWord(dst, text, i)
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRuneInString(text[i:])
			if i += n; emoji(r) {
				dst = append(dst, emojiKey(r))
			} else if wordly(r) {
				return nil, false
			}
		}
	}
	return dst, true
}

// emoji reports whether a sign is a term.
func emoji(r rune) bool {
	return r >= 0x2600 && r <= 0x27bf || r >= 0x2b00 && r <= 0x2bff || r >= 0x1f000 && r <= 0x1faff
}

// emojiKey has a remainder that no number has.
func emojiKey(r rune) key { return (remainders+1)<<numberShift | key(r) }

// wordly reports whether a character may be part of a word. It first excludes punctuation, arrows
// and box-drawing lines, which are frequent in the output of tools.
func wordly(r rune) bool {
	switch {
	case r >= 0x2010 && r < 0x2070, r >= 0x2190 && r < 0x2460, r >= 0x2500 && r < 0x2600, r >= 0xfe00 && r <= 0xfe0f, r == utf8.RuneError:
		return false
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

// appendWord appends the keys of the word at i, and returns the end of the word. Most words are
// small letters alone.
func appendWord(dst []key, text string, i int) ([]key, int) {
	b, j := beginning{}, i
	for ; j < len(text) && kinds[text[j]]&small != 0; j++ {
		b.add(text[j])
	}
	if j == len(text) || kinds[text[j]] == 0 || kinds[text[j]] == joint && !follows(text, j+1) {
		return append(dst, b.key()), j
	}
	w := compound{dst: dst, begin: len(dst)}
	j = w.read(text, i)
	return w.end(j - i), j
}

// beginning is a key in the making.
type beginning struct {
	symbols key
	n       uint
	// number is the value of the word's digits after a leading 1, or 0 if the word has no digits.
	number uint64
}

func (b *beginning) add(c byte) {
	k := kinds[c]
	if b.n < keySymbols {
		b.symbols = b.symbols<<symbolBits | key(k&symbolMask)
		b.n++
	}
	if k&number != 0 {
		b.number = 10*max(b.number, 1) + uint64(c-'0')
	}
}

func (b beginning) key() key {
	k := b.symbols << ((keySymbols - b.n) * symbolBits)
	if b.number != 0 {
		k |= key(1+b.number%remainders) << numberShift
	}
	return k
}

// compound is a word with all its parts, which joints or changes of case separate. It must be cut
// at the same places as in package analysis.
type compound struct {
	dst          []key
	begin        int // of its keys
	parts        int
	part, whole  beginning
	beforeLast   beginning // the part without its last capital
	capitals     int       // at the end of the part
	small, digit bool      // the class of the last character
}

func (w *compound) read(text string, i int) int {
	for ; i < len(text); i++ {
		switch k := kinds[text[i]]; {
		case k&small != 0:
			w.lower(text, i)
		case k&capital != 0:
			w.upper(text[i])
		case k&number != 0:
			w.capitals, w.small, w.digit = 0, false, true
			w.add(text[i])
		case k == joint && follows(text, i+1) && (text[i] != ',' || w.digit && kinds[text[i+1]]&number != 0):
			w.cut(w.part)
			w.part = beginning{}
			w.capitals, w.small, w.digit = 0, false, false
		default:
			return i
		}
	}
	return i
}

func (w *compound) add(c byte) {
	w.part.add(c)
	w.whole.add(c)
}

// lower takes a small letter. The last of several capitals before it begins a part, except a
// plural's s as in APIs.
func (w *compound) lower(text string, i int) {
	if w.capitals > 1 && (text[i] != 's' || follows(text, i+1)) {
		w.cut(w.beforeLast)
		w.part = beginning{}
		w.part.add(text[i-1])
	}
	w.capitals, w.small, w.digit = 0, true, false
	w.add(text[i])
}

func (w *compound) upper(c byte) {
	if w.small {
		w.cut(w.part)
		w.part, w.capitals = beginning{}, 0
	}
	w.beforeLast = w.part
	w.capitals++
	w.small, w.digit = false, false
	w.add(c)
}

// cut ends a part. A single letter is not a part.
func (w *compound) cut(part beginning) {
	w.parts++
	if part.n > 1 || part.number != 0 {
		w.dst = append(w.dst, part.key())
	}
}

// The bounds that package analysis sets: the most parts and bytes of an identifier
// that is kept whole, and the parts from which on a word is encoded data.
const (
	maxWholeParts = 8
	maxWholeBytes = 64
	maxParts      = 16
)

// end appends the keys of the finished word.
func (w *compound) end(size int) []key {
	if w.parts == 0 || w.parts > maxParts {
		return append(w.dst[:w.begin], w.whole.key())
	}
	if w.cut(w.part); w.parts <= maxWholeParts && size <= maxWholeBytes {
		w.dst = append(w.dst, w.whole.key())
	}
	return w.dst
}

// follows reports whether an ASCII letter or digit is at i.
func follows(text string, i int) bool { return i < len(text) && kinds[text[i]]&alnum != 0 }
