package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sort"
	"unicode/utf8"
)

const (
	magic   = "MKBPE\x00\x00\x02"
	hashMul = 0x9E3779B97F4A7C15 // 2^64 over the golden ratio, as in budget/table.go
	idBits  = 18
	// slotsPer100 is the number of slots for 100 entries of the open-addressing tables. With so many
	// slots, most lookups of missing keys end within one cache line.
	slotsPer100 = 160
	noRank      = math.MaxInt
)

// vocabularyTable lays out ranks in the form that budget/table.go reads.
func vocabularyTable(ranks map[string]int) ([]byte, error) {
	tokens := make([]string, 0, len(ranks))
	for tok, rank := range ranks {
		if rank >= 1<<idBits {
			return nil, fmt.Errorf("rank %d does not fit %d bits", rank, idBits)
		}
		tokens = append(tokens, tok)
	}
	sort.Slice(tokens, func(i, j int) bool { return ranks[tokens[i]] < ranks[tokens[j]] })

	var bytesTable [256]uint32
	for b := range 256 {
		rank, ok := ranks[string([]byte{byte(b)})]
		if !ok {
			return nil, fmt.Errorf("byte %#x has no token", b)
		}
		bytesTable[b] = uint32(rank)
	}
	pairs, err := pairTable(tokens, ranks)
	if err != nil {
		return nil, err
	}
	short, mid, long, text := pieceTables(tokens)
	charIndex, chars := charTable(ranks)

	out := []byte(magic)
	for _, n := range []int{len(pairs), len(short), len(mid) / 2, len(long), len(chars)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	for _, v := range bytesTable {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	out = append(out, seamTable(tokens)...)
	out = append(out, charIndex...)
	for _, v := range chars {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	for _, section := range [][]uint64{pairs, short, mid} {
		for _, v := range section {
			out = binary.LittleEndian.AppendUint64(out, v)
		}
	}
	for _, v := range long {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return append(out, text...), nil
}

// pairTable maps each token's last merge (left, right) to the token. One pair per token is enough:
// if the bytes of two neighbours spell a token, these bytes were merged as the token alone is
// merged, so the two neighbours are the pair of its last merge.
func pairTable(tokens []string, ranks map[string]int) ([]uint64, error) {
	slots := make([]uint64, len(tokens)*slotsPer100/100)
	for i := range slots {
		slots[i] = math.MaxUint64
	}
	for _, tok := range tokens {
		if len(tok) == 1 {
			continue
		}
		left, right, ok := lastMerge(tok, ranks)
		if !ok {
			return nil, fmt.Errorf("token %q cannot be reached by merging", tok)
		}
		if ranks[left] >= ranks[tok] || ranks[right] >= ranks[tok] {
			return nil, fmt.Errorf("token %q has a lower rank than its parts", tok)
		}
		key := uint64(ranks[left])<<idBits | uint64(ranks[right])
		at := slotOf(key, len(slots))
		for slots[at] != math.MaxUint64 {
			at = (at + 1) % len(slots)
		}
		slots[at] = key<<idBits | uint64(ranks[tok])
	}
	return slots, nil
}

// lastMerge merges tok's bytes in rank order, the lowest rank first and the leftmost pair among
// equal ranks. It returns the two parts that would be merged last.
func lastMerge(tok string, ranks map[string]int) (left, right string, ok bool) {
	parts := make([]string, len(tok))
	for i := range len(tok) {
		parts[i] = tok[i : i+1]
	}
	for len(parts) > 2 {
		best, at := noRank, -1
		for i := 0; i+1 < len(parts); i++ {
			if rank, ok := ranks[parts[i]+parts[i+1]]; ok && rank < best {
				best, at = rank, i
			}
		}
		if at < 0 {
			return "", "", false
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	return parts[0], parts[1], true
}

// pieceTables returns the tokens that can be a whole piece of text, by length. Tokens of up to 7
// bytes take one word, and tokens of 8 to 15 bytes take two words. Longer tokens are offsets into
// text. A token that is not valid UTF-8 is never a piece.
func pieceTables(tokens []string) (short, mid []uint64, long []uint32, text []byte) {
	var byLen [3][]string
	for _, tok := range tokens {
		if utf8.ValidString(tok) {
			byLen[min(len(tok)/8, 2)] = append(byLen[min(len(tok)/8, 2)], tok)
		}
	}
	short = make([]uint64, len(byLen[0])*slotsPer100/100)
	for _, tok := range byLen[0] {
		key := word(tok)
		at := slotOf(key, len(short))
		for short[at] != 0 {
			at = (at + 1) % len(short)
		}
		short[at] = key
	}
	n := len(byLen[1]) * slotsPer100 / 100
	mid = make([]uint64, 2*n)
	for _, tok := range byLen[1] {
		lo, hi := binary.LittleEndian.Uint64([]byte(tok)), word(tok[8:])
		at := slotOf(mix(lo, hi), n)
		for mid[2*at+1] != 0 {
			at = (at + 1) % n
		}
		mid[2*at], mid[2*at+1] = lo, hi
	}
	long = make([]uint32, max(len(byLen[2])*slotsPer100/100, 1))
	for _, tok := range byLen[2] {
		first := binary.LittleEndian.Uint64([]byte(tok))
		last := binary.LittleEndian.Uint64([]byte(tok[len(tok)-8:]))
		at := slotOf(mix(first, last+uint64(len(tok))), len(long))
		for long[at] != 0 {
			at = (at + 1) % len(long)
		}
		text = append(text, byte(len(tok)))
		long[at] = uint32(len(text))
		text = append(text, tok...)
	}
	return short, mid, long, text
}

// word packs up to 7 bytes into a word. The first byte is the lowest, and the top byte is the number
// of bytes. The number distinguishes tokens with trailing zero bytes, and makes every used word
// different from 0. For an empty text the number is 8.
func word(tok string) uint64 {
	w := uint64(len(tok)|8) << 56
	for i := range len(tok) {
		w |= uint64(tok[i]) << (8 * i)
	}
	return w
}

// mix joins two words into one hash key.
func mix(a, b uint64) uint64 { return a ^ bits.RotateLeft64(b*hashMul, 29) }

// slotOf returns the home slot of key in a table of n slots.
func slotOf(key uint64, n int) int {
	return int((key * hashMul) >> 32 * uint64(n) >> 32)
}
