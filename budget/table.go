package budget

import (
	_ "embed"
	"math/bits"
	"unicode/utf8"
)

//go:generate go run -C ../bench ./gen ../budget/tables

// The tables are read in place: making a counter parses and copies nothing. Words are assembled
// byte by byte, so that neither the alignment nor the byte order of the machine matters. Compilers
// turn this into one load.
var (
	//go:embed tables/o200k.bin
	o200kTable string
	//go:embed tables/cl100k.bin
	cl100kTable string
)

const (
	tableMagic = "MKBPE\x00\x00\x02"
	headerSize = len(tableMagic) + 5*4
	hashMul    = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio
	idBits     = 18                 // a token id fits in so many bits
	noID       = 1<<32 - 1          // no token
	maxToken   = 128                // the longest token of any vocabulary, in bytes
)

// vocabulary is a view of one table file. All numbers are little-endian.
//
//	┌────────┬──────────────────────────────────────────────────────────┐
//	│ 8      │ magic, its last byte the format version                  │
//	│ 5 × 4  │ slots of pairs, short, mid, long; entries of chars       │
//	│ 256×4  │ bytes: the token of each single byte                     │
//	│ 8192   │ seams: a bit for each pair of bytes                      │
//	│ 1024×2 │ charIndex: the block of each 64 code points              │
//	│ n × 4  │ chars: token of each character, in blocks of 64; none ~0 │
//	│ n × 8  │ pairs: left id, right id, merged id of 18 bits; free = ~0│
//	│ n × 8  │ short: up to 7 bytes, number of bytes | 8 on top; free = 0│
//	│ n × 16 │ mid: 8 bytes, then as short; free = second word 0        │
//	│ n × 4  │ long: offset into text; free = 0                         │
//	│ n      │ text: length byte and bytes of each long token           │
//	└────────┴──────────────────────────────────────────────────────────┘
//
// pairs, short, mid and long are open-addressing hash tables with linear probing. Short, mid and
// long hold the tokens that can be a whole piece. Pairs holds each token's last merge, which is
// the only merge that can occur. Seams marks the byte pairs at which some token crosses from one
// character into another without containing both characters completely.
type vocabulary struct {
	bytes, seams, charIndex, chars string
	pairs, short, mid, long, text  string
	// slots of the four hash tables
	pairSlots, shortSlots, midSlots, longSlots int
}

// openVocabulary splits a table into its sections.
func openVocabulary(t string) *vocabulary {
	n := func(i int) int { return int(load32(t, len(tableMagic)+4*i)) }
	v := &vocabulary{pairSlots: n(0), shortSlots: n(1), midSlots: n(2), longSlots: n(3)}
	chars := n(4)
	t = t[headerSize:]
	for _, s := range []struct {
		part *string
		size int
	}{
		{&v.bytes, 4 * 256}, {&v.seams, 256 * 256 / 8}, {&v.charIndex, 2 * 1024}, {&v.chars, 4 * chars},
		{&v.pairs, 8 * v.pairSlots}, {&v.short, 8 * v.shortSlots},
		{&v.mid, 16 * v.midSlots}, {&v.long, 4 * v.longSlots},
	} {
		*s.part, t = t[:s.size], t[s.size:]
	}
	v.text = t
	return v
}

// part returns the first part to merge at piece[i] and its size in bytes. The part is a character
// of two or three bytes if that character is a token, and a byte otherwise.
//
// Starting from characters does not change the result. No token crosses the seam at either end of
// the character without containing the whole character, so its bytes merge with each other before
// they merge with other bytes. A token's id is higher than the ids of its parts, so merging these
// bytes early cannot overtake another merge.
func (v *vocabulary) part(piece string, i int) (id uint32, size int) {
	b := piece[i]
	if b >= 0xc2 && b < 0xf0 {
		r, n := utf8.DecodeRuneInString(piece[i:])
		if n > 1 && !(i > 0 && v.seam(piece[i-1], b)) && !(i+n < len(piece) && v.seam(piece[i+n-1], piece[i+n])) {
			block := int(v.charIndex[2*(r>>6)]) | int(v.charIndex[2*(r>>6)+1])<<8
			if id := load32(v.chars, 4*(block<<6|int(r&63))); id != noID {
				return id, n
			}
		}
	}
	return load32(v.bytes, 4*int(b)), 1
}

// seam reports whether some token crosses from byte a to byte b between two characters that it
// doesn't both contain completely.
func (v *vocabulary) seam(a, b byte) bool {
	at := int(a)<<8 | int(b)
	return v.seams[at>>3]>>(at&7)&1 != 0
}

// pair returns the token that left and right merge into, or noID.
func (v *vocabulary) pair(left, right uint32) uint32 {
	key := uint64(left)<<idBits | uint64(right)
	for at := slotOf(key, v.pairSlots); ; at = after(at, v.pairSlots) {
		switch w := load64(v.pairs, at*8); {
		case w>>idBits == key:
			return uint32(w & (1<<idBits - 1))
		case w == ^uint64(0):
			return noID
		}
	}
}

// hasShort reports whether the piece packed in key (see pack) is a token.
func (v *vocabulary) hasShort(key uint64) bool {
	for at := slotOf(key, v.shortSlots); ; at = after(at, v.shortSlots) {
		if w := load64(v.short, at*8); w == key || w == 0 {
			return w == key
		}
	}
}

// hasMid is hasShort for a piece of 8 to 15 bytes. lo has the first 8 bytes, and hi the rest,
// packed.
func (v *vocabulary) hasMid(lo, hi uint64) bool {
	for at := slotOf(mix(lo, hi), v.midSlots); ; at = after(at, v.midSlots) {
		w := load64(v.mid, at*16+8)
		if found := w == hi && load64(v.mid, at*16) == lo; found || w == 0 {
			return found
		}
	}
}

// hasLong is hasShort for pieces of 16 bytes and more.
func (v *vocabulary) hasLong(piece string) bool {
	n := len(piece)
	if n > maxToken {
		return false
	}
	key := mix(load64(piece, 0), load64(piece, n-8)+uint64(n))
	for at := slotOf(key, v.longSlots); ; at = after(at, v.longSlots) {
		off := int(load32(v.long, at*4))
		if found := off > 0 && int(v.text[off-1]) == n && v.text[off:off+n] == piece; found || off == 0 {
			return found
		}
	}
}

// whole reports whether text[i:j], which is not empty, is one token.
func (v *vocabulary) whole(text string, i, j int) bool {
	switch n := j - i; {
	case n < 8:
		return v.hasShort(pack(text, i, n))
	case n < 16:
		return v.hasMid(load64(text, i), pack(text, i+8, n-8))
	default:
		return v.hasLong(text[i:j])
	}
}

// pack puts n < 8 bytes of s from i into one word, below n | 8 in the top byte.
func pack(s string, i, n int) uint64 {
	if i+8 <= len(s) {
		return load64(s, i)&(1<<(8*n)-1) | uint64(n|8)<<56
	}
	w := uint64(n|8) << 56
	for k := range n {
		w |= uint64(s[i+k]) << (8 * k)
	}
	return w
}

// slotOf returns the home slot of key in a table of n slots.
func slotOf(key uint64, n int) int { return int((key * hashMul) >> 32 * uint64(n) >> 32) }

// after returns the slot that is probed after slot at, in a table of n slots.
func after(at, n int) int {
	if at++; at == n {
		return 0
	}
	return at
}

// mix joins two words into one hash key.
func mix(a, b uint64) uint64 { return a ^ bits.RotateLeft64(b*hashMul, 29) }

func load32(s string, i int) uint32 {
	b := s[i : i+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}
