package main

import (
	"encoding/binary"
	"unicode/utf8"
)

// charTable maps the characters of two and three bytes to their tokens, in two stages. index has
// a block number for every 64 code points below 0x10000. blocks has 64 ids for each block. noID
// marks characters without a token.
func charTable(ranks map[string]int) (index []byte, blocks []uint32) {
	const noID = 1<<32 - 1
	addBlock := func() {
		for range 64 {
			blocks = append(blocks, noID)
		}
	}
	addBlock()
	var at [1024]int
	for r := rune(0x80); r < 0x10000; r++ {
		rank, ok := ranks[string(r)]
		if !ok || !utf8.ValidRune(r) {
			continue
		}
		if at[r>>6] == 0 {
			at[r>>6] = len(blocks) / 64
			addBlock()
		}
		blocks[at[r>>6]*64+int(r&63)] = uint32(rank)
	}
	for _, n := range at {
		index = binary.LittleEndian.AppendUint16(index, uint16(n))
	}
	return index, blocks
}

// seamTable returns a set of byte pairs, with a bit for each pair. A pair is the last byte of a
// character and the first byte of the next. The set has a pair if some token contains it without
// containing both characters entirely. At all other pairs, every merge takes whole characters.
func seamTable(tokens []string) []byte {
	table := make([]byte, 256*256/8)
	set := func(a, b byte) {
		at := int(a)<<8 | int(b)
		table[at>>3] |= 1 << (at & 7)
	}
	for _, tok := range tokens {
		// The token ends within a character.
		for i := len(tok) - 1; i > 0 && i >= len(tok)-3; i-- {
			if utf8.RuneStart(tok[i]) {
				if tok[i] >= utf8.RuneSelf && !utf8.FullRuneInString(tok[i:]) {
					set(tok[i-1], tok[i])
				}
				break
			}
		}
		// The token starts within a character.
		i := 0
		for i < len(tok) && !utf8.RuneStart(tok[i]) {
			i++
		}
		if i > 0 && i < len(tok) {
			set(tok[i-1], tok[i])
		}
	}
	return table
}
