package budget

import (
	"strings"
	"unicode/utf8"
)

// features are counts of the elements of a text. The estimator of a tokenizer has weights that
// turn them into tokens.
type features [elements]int

// The elements of a text.
const (
	wordPieces = iota // runs of ASCII letters, cut where camelCase cuts
	letters           // of a word piece after its longWord-th
	numerals
	newlines // runs of line ends
	spaces   // runs of two or more blanks
	blanks   // blanks and line ends beyond the longRun-th of such a run
	cjk      // Han, Kana, Hangul and full-width characters
	others   // bytes of other characters above ASCII
	punct
	repeats     // punctuation that repeats the same byte beyond the shortRun-th
	entropy     // bytes of base64, UUIDs, keys and the like
	hexadecimal // bytes of long hexadecimal runs
	elements
)

const (
	longWord = 6  // letters; German compounds are the case in point
	longRun  = 16 // blanks; vocabularies hold longer runs, but not all of them
	shortRun = 4
	// An alphanumeric run is treated as random if it has at least minEntropy bytes and changes
	// between lower case, upper case and digits at least once every entropyStep bytes.
	// Identifiers change less often. A change from lower case to upper case is counted, and the
	// change back is not.
	minEntropy  = 8
	minHex      = 16
	entropyStep = 4
)

// Byte kinds of the estimators.
const (
	kindPunct = iota // also control characters
	kindBlank
	kindNewline
	kindLower
	kindUpper
	kindDigit
	kindHigh
)

// byteKind is the kind of each byte.
var byteKind = func() (t [256]byte) {
	for i := range t {
		switch b := byte(i); {
		case b >= utf8.RuneSelf:
			t[i] = kindHigh
		case b == ' ' || b == '\t':
			t[i] = kindBlank
		case b == '\n' || b == '\r':
			t[i] = kindNewline
		case 'a' <= b && b <= 'z':
			t[i] = kindLower
		case 'A' <= b && b <= 'Z':
			t[i] = kindUpper
		case '0' <= b && b <= '9':
			t[i] = kindDigit
		}
	}
	return t
}()

// featuresOf counts the features of text in one pass. Text may be any bytes.
func featuresOf(text string) (f features) {
	random := false // the run before looks random, and one joiner followed it
	for i := 0; i < len(text); {
		if random && strings.IndexByte("-+/_=", text[i]) >= 0 { // as in UUIDs and base64
			f[punct]++
			i++
			continue
		}
		kind := byteKind[text[i]]
		j := i + 1 // the end of the bytes of one kind, or of equal bytes of punctuation
		for kind != kindHigh && j < len(text) && byteKind[text[j]] == kind && (kind != kindPunct || text[j] == text[i]) {
			j++
		}
		n := j - i
		switch kind {
		case kindLower, kindUpper, kindDigit:
			n, random = f.run(text, i, random)
			i += n
			continue
		case kindBlank:
			if n > 1 {
				f[spaces]++
				f[blanks] += max(n-longRun, 0)
			}
		case kindNewline:
			f[newlines]++
			f[blanks] += max(n-longRun, 0)
		case kindPunct:
			f[punct] += min(n, shortRun)
			f[repeats] += max(n-shortRun, 0)
		case kindHigh:
			var r rune
			if r, n = utf8.DecodeRuneInString(text[i:]); isCJK(r) {
				f[cjk]++
			} else {
				f[others] += n
			}
		}
		i += n
		random = false
	}
	return f
}

// run counts the run of ASCII letters and digits at text[i] and returns its length and whether it
// looks random. After a random run and a joiner a shorter run counts as random, too.
func (f *features) run(text string, i int, after bool) (n int, random bool) {
	var pieces, rest, digits, changes, word int
	j, before := i, byte(kindPunct)
	for ; j < len(text); j++ {
		k := byteKind[text[j]]
		if k == kindDigit {
			digits++
			word = 0
		} else if k == kindLower || k == kindUpper {
			if word == 0 || k == kindUpper && before == kindLower {
				pieces++
				word = 0
			}
			if word++; word > longWord {
				rest++
			}
		} else {
			break
		}
		if k != before && before != kindUpper || k == kindDigit && before == kindUpper {
			changes++
		}
		before = k
	}
	n = j - i
	changes-- // the first byte is not a change
	least := minEntropy
	if after {
		least = 2
	}
	if n >= least && changes*entropyStep >= n {
		if n >= minHex && strings.Trim(text[i:j], "0123456789abcdef") == "" {
			f[hexadecimal] += n
		} else {
			f[entropy] += n
		}
		return n, true
	}
	f[wordPieces] += pieces
	f[letters] += rest
	f[numerals] += digits
	return n, false
}

// isCJK reports whether r is of a script that tokenizers cut into about one
// token per character.
func isCJK(r rune) bool {
	return r >= 0x2e80 && (r <= 0x9fff || r >= 0xac00 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff)
}
