package recall

import (
	"bytes"
	"encoding/binary"
)

// gramBits sizes the table of a corpus: 2^gramBits buckets.
const gramBits = 18

// corpus is a text that mostly grows, with an index for exact search.
//
//	text   piece "\n" piece "\n" …
//	heads  bucket of a 4-byte gram -> 1 + its newest position
//	next   position -> 1 + the next older position in the same bucket
//	count  bucket -> positions in it
//
// Positions enter buckets in order, so the newest can be removed again: the corpus truncates as
// cheaply as it grows.
type corpus struct {
	text  []byte
	heads []int32
	count []int32
	next  []int32
}

const gram = 4

// append adds a piece and returns where it starts.
func (c *corpus) append(piece string) (start int) {
	if c.heads == nil {
		c.heads = make([]int32, 1<<gramBits)
		c.count = make([]int32, 1<<gramBits)
	}
	start = len(c.text)
	c.text = append(c.text, piece...)
	c.text = append(c.text, '\n')
	for p := len(c.next); p+gram <= len(c.text); p++ {
		b := bucket(c.text[p:])
		c.next = append(c.next, c.heads[b])
		c.heads[b] = int32(p + 1)
		c.count[b]++
	}
	return start
}

// truncate drops everything from position n on.
func (c *corpus) truncate(n int) {
	for p := len(c.next) - 1; p >= 0 && p+gram > n; p-- {
		b := bucket(c.text[p:])
		c.heads[b] = c.next[p]
		c.count[b]--
		c.next = c.next[:p]
	}
	c.text = c.text[:n]
}

func bucket(b []byte) uint32 {
	return binary.LittleEndian.Uint32(b) * 2654435761 >> (32 - gramBits)
}

// each calls f with the positions of s, newest first, until f returns false. The empty string has
// no positions.
func (c *corpus) each(s string, f func(pos int) bool) {
	if s == "" {
		return
	}
	if len(s) < gram {
		for end := len(c.text); ; {
			p := bytes.LastIndex(c.text[:end], []byte(s))
			if p < 0 || !f(p) {
				return
			}
			end = p + len(s) - 1
		}
	}
	if c.heads == nil {
		return
	}
	at, p := c.rarest(s)
	for ; p > 0; p = c.next[p-1] {
		start := int(p) - 1 - at
		if start >= 0 && start+len(s) <= len(c.text) && string(c.text[start:start+len(s)]) == s && !f(start) {
			return
		}
	}
}

// contains reports whether s is in the corpus.
func (c *corpus) contains(s string) bool {
	found := false
	c.each(s, func(int) bool { found = true; return false })
	return found
}

// rarest finds the gram of s with the fewest positions. It returns its offset in s and the head
// of its chain, 0 if s cannot be in the text.
func (c *corpus) rarest(s string) (at int, chain int32) {
	least := int32(-1)
	for i := 0; i+gram <= len(s); i++ {
		b := (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16 | uint32(s[i+3])<<24) * 2654435761 >> (32 - gramBits)
		if n := c.count[b]; least < 0 || n < least {
			least, at, chain = n, i, c.heads[b]
			if n == 0 {
				break
			}
		}
	}
	return at, chain
}
