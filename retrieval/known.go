package retrieval

import "math/bits"

// known maps keys to the terms that their words leave, as bits. It is looked up
// for most words of an archive, and is several times as fast as a map.
type known struct {
	slots []knownSlot // a power of two of them, at most half of them used
	used  int
}

type knownSlot struct {
	key  key // 0: empty; no word has that key
	held uint64
}

func newKnown() known { return known{slots: make([]knownSlot, 512)} }

// slot returns the slot of a key, or the free one where it belongs.
func (t *known) slot(k key) *knownSlot {
	mask := len(t.slots) - 1
	i := int(uint64(k) * 0x9E3779B97F4A7C15 >> (64 - bits.Len(uint(mask))))
	for t.slots[i].key != k && t.slots[i].key != 0 {
		i = (i + 1) & mask
	}
	return &t.slots[i]
}

// put sets what a key holds.
func (t *known) put(k key, held uint64) {
	if 2*t.used >= len(t.slots) {
		old := t.slots
		t.slots = make([]knownSlot, 2*len(old))
		for _, s := range old {
			if s.key != 0 {
				*t.slot(s.key) = s
			}
		}
	}
	s := t.slot(k)
	if s.key == 0 {
		t.used++
	}
	*s = knownSlot{k, held}
}
