package represent

import "strings"

// Name stands for a path, file name, identifier or hash that a text shows: something that a later
// turn may refer to. Two names that collide in 64 bits count as one.
type Name uint64

// Names lists the names in a text, each once, in the order in which they first end, so that a
// path follows its elements. Plain words and numbers are not names.
func Names(text string) []Name {
	size := 64
	for size < len(text)/8 {
		size <<= 1
	}
	s := scan{text: text, table: make([]int32, size), toks: make([]int32, 0, 32), known: make([]token, 0, len(text)/24+8)}
	for a := 0; a < len(text); {
		n := strings.IndexByte(text[a:], '\n')
		if n < 0 {
			n = len(text) - a
		}
		s.toks = s.toks[:0]
		s.tokens(a, a+n)
		a += n + 1
	}
	out := make([]Name, 0, len(s.known)/2)
	for i := range s.known {
		if k := &s.known[i]; k.worth >= worthIdent || k.worth == worthHex {
			out = append(out, Name(k.hash))
		}
	}
	return out
}
