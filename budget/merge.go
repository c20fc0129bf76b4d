package budget

import "math/bits"

// Byte-pair merging, for pieces that are no token: neighbours that spell a
// token merge, lowest token id first and leftmost among equals, until none do.
// Both functions below keep one key per living part, the id of what it and the
// part behind it merge into with the part's position below, so that the
// smallest key is the next merge.

const (
	smallParts = 64 // parts that mergeSmall can take: one bit each in a word
	smallBits  = 6
	noKey      = 1<<32 - 1
)

// merge counts the tokens of a piece of valid UTF-8, which is not empty.
func (v *vocabulary) merge(piece string) int {
	if len(piece) <= 4*smallParts {
		if n, ok := v.mergeSmall(piece); ok {
			return n
		}
	}
	return v.mergeLong(piece)
}

// mergeSmall counts the tokens of a piece of up to smallParts parts, and fails
// if it has more.
func (v *vocabulary) mergeSmall(piece string) (tokens int, ok bool) {
	var id, key [smallParts]uint32
	n := 0
	for i := 0; i < len(piece); n++ {
		if n == smallParts {
			return 0, false
		}
		part, size := v.part(piece, i)
		id[n] = part
		i += size
	}
	for i := range n - 1 {
		key[i] = smallKey(v.pair(id[i], id[i+1]), i)
	}
	lanes := (n + 3) / 4 * 4
	for i := n - 1; i < lanes; i++ {
		key[i] = noKey
	}
	alive := ^uint64(0) >> (64 - n)
	for {
		best := smallest(key[:lanes])
		if best == noKey {
			return bits.OnesCount64(alive), true
		}
		i := int(best % smallParts)
		id[i] = best >> smallBits
		key[i] = noKey
		gone := bits.TrailingZeros64(alive & (^uint64(1) << i))
		alive &^= 1 << gone
		key[gone] = noKey
		if rest := alive & (^uint64(1) << i); rest != 0 {
			key[i] = smallKey(v.pair(id[i], id[bits.TrailingZeros64(rest)]), i)
		}
		if before := alive & (1<<i - 1); before != 0 {
			p := 63 - bits.LeadingZeros64(before)
			key[p] = smallKey(v.pair(id[p], id[i]), p)
		}
	}
}

// smallest returns the smallest of key, whose length is a multiple of four.
func smallest(key []uint32) uint32 {
	a, b, c, d := uint32(noKey), uint32(noKey), uint32(noKey), uint32(noKey)
	for len(key) >= 4 {
		a, b, c, d = min(a, key[0]), min(b, key[1]), min(c, key[2]), min(d, key[3])
		key = key[4:]
	}
	return min(min(a, b), min(c, d))
}

func smallKey(id uint32, i int) uint32 {
	if id == noID {
		return noKey
	}
	return id<<smallBits | uint32(i)
}
