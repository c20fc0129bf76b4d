package static

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"

	"github.com/rivo/uniseg"
)

// charsmap is SentencePiece's table of character replacements: a double-array trie (Yata,
// darts-clone) over the bytes of characters. Its values are offsets in texts, where each text ends with
// a zero byte.
//
//	4 bytes  length of the trie in bytes, little-endian
//	trie     units of 4 bytes
//	texts
type charsmap struct {
	trie  []uint32
	texts []byte
}

func parseCharsmap(table []byte) (normalizer, error) {
	if len(table) == 0 {
		return plain(func(s string) string { return s }), nil
	}
	if len(table) < 4 {
		return nil, errors.New("precompiled_charsmap is too short")
	}
	n := uint64(binary.LittleEndian.Uint32(table))
	if n%4 != 0 || n > uint64(len(table)-4) || n == 0 {
		return nil, errors.New("precompiled_charsmap is not whole")
	}
	m := charsmap{trie: make([]uint32, n/4), texts: table[4+n:]}
	for i := range m.trie {
		m.trie[i] = binary.LittleEndian.Uint32(table[4+4*i:])
	}
	return m.normalize, nil
}

// A cluster of maxCluster bytes or more is not looked up as a whole, as in Hugging Face's tokenizers.
const maxCluster = 6

func (m charsmap) normalize(s string) (string, error) {
	var b strings.Builder
	state, limit := -1, maxGrowth*(len(s)+64)
	for len(s) > 0 {
		var cluster string
		cluster, s, _, state = uniseg.FirstGraphemeClusterInString(s, state)
		if to, ok := m.become(cluster); ok && len(cluster) < maxCluster {
			b.Write(to)
		} else {
			m.each(&b, cluster)
		}
		if b.Len() > limit {
			return "", errGrowth
		}
	}
	return b.String(), nil
}

func (m charsmap) each(b *strings.Builder, cluster string) {
	for _, r := range cluster {
		if to, ok := m.become(string(r)); ok {
			b.Write(to)
		} else {
			b.WriteRune(r)
		}
	}
}

// become returns the replacement of the shortest prefix of s that the table has. It returns
// false if it has none.
func (m charsmap) become(s string) ([]byte, bool) {
	unit := m.trie[0]
	at := uint64(offset(unit))
	for i := range len(s) {
		at ^= uint64(s[i])
		if at >= uint64(len(m.trie)) {
			return nil, false
		}
		if unit = m.trie[at]; unit&(1<<31|0xff) != uint32(s[i]) {
			return nil, false
		}
		at ^= uint64(offset(unit))
		if unit>>8&1 == 0 {
			continue
		}
		if at >= uint64(len(m.trie)) {
			return nil, false
		}
		return m.text(m.trie[at] & (1<<31 - 1))
	}
	return nil, false
}

func (m charsmap) text(at uint32) ([]byte, bool) {
	if uint64(at) > uint64(len(m.texts)) {
		return nil, false
	}
	end := bytes.IndexByte(m.texts[at:], 0)
	if end < 0 {
		end = len(m.texts[at:])
	}
	return m.texts[at:][:end], true
}

// offset returns the offset of a unit's children relative to the unit.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
