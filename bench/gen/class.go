package main

import "unicode"

// Character classes as bits, as in budget/class.go.
const (
	classUpper   = 1 << iota // may be in the upper run of a word: Lu Lt Lm Lo M
	classLower               // may be in the lower run of a word: Ll Lm Lo M
	classMark                // M, which is in both runs but is not a letter
	classNumber              // N
	classSpace               // white space
	classNewline             // \r and \n, which are white space too
)

// classTable returns a two-stage table over all code points: 0x1100 block numbers,
// then the distinct blocks of 256 classes each.
func classTable() []byte {
	const blocks = (unicode.MaxRune + 1) / 256
	index := make([]byte, blocks)
	var data []byte
	seen := map[[256]byte]byte{}
	for b := rune(0); b < blocks; b++ {
		var block [256]byte
		for i := range block {
			block[i] = classOf(b*256 + rune(i))
		}
		n, ok := seen[block]
		if !ok {
			n = byte(len(seen)) // about 90 distinct blocks
			seen[block] = n
			data = append(data, block[:]...)
		}
		index[b] = n
	}
	return append(index, data...)
}

// classOf classifies a code point with Go's unicode package, as the reference's regular
// expressions do.
func classOf(r rune) byte {
	switch {
	case r == '\r' || r == '\n':
		return classSpace | classNewline
	case unicode.IsSpace(r):
		return classSpace
	case unicode.Is(unicode.N, r):
		return classNumber
	case unicode.Is(unicode.M, r):
		return classUpper | classLower | classMark
	case unicode.Is(unicode.Lu, r), unicode.Is(unicode.Lt, r):
		return classUpper
	case unicode.Is(unicode.Ll, r):
		return classLower
	case unicode.Is(unicode.L, r):
		return classUpper | classLower
	}
	return 0
}
