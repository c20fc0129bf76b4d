package budget

import (
	_ "embed"
	"unicode/utf8"
)

// classTable is a two-stage table over all code points: 0x1100 block numbers,
// then the distinct blocks of 256 class bytes.
//
//go:embed tables/classes.bin
var classTable string

const classBlocks = (utf8.MaxRune + 1) / 256

// Character classes, as bits. A letter that is neither upper nor lower case has both run bits.
// White space that ends a line has both space bits. Punctuation, symbols and unassigned
// characters have no bit.
const (
	classUpper   = 1 << iota // may be in the upper run of a word: Lu Lt Lm Lo M
	classLower               // may be in the lower run of a word: Ll Lm Lo M
	classMark                // M, which is in both runs but is not a letter
	classNumber              // N
	classSpace               // white space
	classNewline             // \r and \n
)

// classHigh marks, in asciiClass only, a byte of a longer character.
const classHigh = 0x80

// asciiClass is the class of each byte below 0x80, and classHigh for the rest.
var asciiClass = func() (t [256]byte) {
	for i := range t {
		t[i] = classHigh
	}
	copy(t[:utf8.RuneSelf], classTable[classBlocks:])
	return t
}()

// classAt returns the class of the character at s[i] and the character's length in bytes. An
// invalid byte counts as one character without a class, as U+FFFD does.
func classAt(s string, i int) (class byte, width int) {
	if b := s[i]; b < utf8.RuneSelf {
		return asciiClass[b], 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return classTable[classBlocks+int(classTable[r>>8])<<8+int(r&0xff)], n
}

// isLetter reports whether class is in \p{L}.
func isLetter(class byte) bool {
	return class&(classUpper|classLower) != 0 && class&classMark == 0
}

// isSymbol reports whether class is in [^\s\p{L}\p{N}]: punctuation, symbols,
// marks, unassigned.
func isSymbol(class byte) bool { return class == 0 || class&classMark != 0 }

// isLead reports whether class is in [^\r\n\p{L}\p{N}]. Such a character may precede a word in
// its piece.
func isLead(class byte) bool { return class&^classSpace == 0 || class&classMark != 0 }
