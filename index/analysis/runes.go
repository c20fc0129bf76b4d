package analysis

import "unicode"

// class says how a character takes part in words.
type class uint8

const (
	space  class = iota // separates
	letter              // part of a word
	digit               // part of a word
	mark                // belongs to the letter before it
	void                // as if it were not there: soft hyphen, joiners
	dense               // Han, kana, Hangul: no spaces, dense meaning
	tight               // Thai and its neighbours: no spaces, long words
	emoji               // a sign that is a term by itself
)

// asciiClass holds the classes of the first 128 characters.
var asciiClass = func() (t [128]class) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = digit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			t[c] = letter
		}
	}
	return t
}()

// span is a range of characters of one class.
type span struct {
	lo, hi rune
	class  class
}

// spans lists, in order, the ranges whose class is not the one that Unicode's
// general category gives.
var spans = []span{
	{0x00AD, 0x00AD, void},
	{0x0E00, 0x0E3E, tight}, {0x0E40, 0x0E4E, tight}, // Thai
	{0x0E80, 0x0ECF, tight}, // Lao
	{0x1000, 0x109F, tight}, // Burmese
	{0x1100, 0x11FF, dense}, // Hangul jamo
	{0x1780, 0x17D3, tight}, // Khmer
	{0x200B, 0x200D, void}, {0x2060, 0x2060, void},
	{0x2600, 0x27BF, emoji}, {0x2B00, 0x2BFF, emoji},
	{0x2E80, 0x2FDF, dense}, {0x3005, 0x3007, dense}, {0x3021, 0x3029, dense},
	{0x3041, 0x3096, dense}, {0x309D, 0x309F, dense}, // hiragana
	{0x30A1, 0x30FA, dense}, {0x30FC, 0x30FF, dense}, // katakana
	{0x3131, 0x318E, dense}, {0x31F0, 0x31FF, dense},
	{0x3400, 0x4DBF, dense}, {0x4E00, 0x9FFF, dense}, // Han
	{0xA960, 0xA97F, dense}, {0xAC00, 0xD7FF, dense}, // Hangul
	{0xF900, 0xFAFF, dense}, {0xFE00, 0xFE0F, void},
	{0xFEFF, 0xFEFF, void}, {0xFF66, 0xFF9F, dense},
	{0x1F000, 0x1FAFF, emoji}, {0x20000, 0x3FFFF, dense},
}

func classOf(r rune) class {
	if r < 0x80 {
		return asciiClass[r]
	}
	if r >= 0x4E00 && r <= 0x9FFF {
		return dense
	}
	for i := range spans {
		if s := &spans[i]; r <= s.hi {
			if r >= s.lo {
				return s.class
			}
			break
		}
	}
	switch {
	case unicode.IsLetter(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	case unicode.IsMark(r):
		return mark
	}
	return space
}

// canon replaces variants of a character by the plain one: full-width forms, typographic apostrophes
// and hyphens.
func canon(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0xFF01 && r <= 0xFF5E:
		return r - 0xFEE0
	case r == '’' || r == 'ʼ' || r == '‘':
		return '\''
	case r == '‐' || r == '‑':
		return '-'
	}
	return r
}

// lower returns the lower case of a letter. It also replaces letters that writers exchange for each
// other by one: final sigma, ё, the carriers of Arabic hamza, and kaf and yeh of Persian keyboards.
func lower(r rune) rune {
	switch r {
	case 'ς':
		return 'σ'
	case 'ё', 'Ё':
		return 'е'
	case 'أ', 'إ', 'آ', 'ٱ':
		return 'ا'
	case 'ى', 'ی':
		return 'ي'
	case 'ک':
		return 'ك'
	case 'ة':
		return 'ه'
	}
	return unicode.ToLower(r)
}

// dropped reports whether terms leave out a combining mark: an accent, or an Arabic or Hebrew vowel
// point.
func dropped(r rune) bool {
	return r >= 0x0300 && r <= 0x036F || r >= 0x0591 && r <= 0x05C7 ||
		r >= 0x064B && r <= 0x0652 || r == 0x0670
}

// bareGreek returns a small Greek letter without its accent, because the lists of function words have
// no accents.
func bareGreek(r rune) rune {
	switch r {
	case 'ά':
		return 'α'
	case 'έ':
		return 'ε'
	case 'ή':
		return 'η'
	case 'ί', 'ϊ', 'ΐ':
		return 'ι'
	case 'ό':
		return 'ο'
	case 'ύ', 'ϋ', 'ΰ':
		return 'υ'
	case 'ώ':
		return 'ω'
	}
	return r
}
