package represent

import "strings"

// Name is the hash of a path, a file name, an identifier or a hash in a text, to which a later turn
// may refer. Two names that collide in 64 bits count as one.
type Name uint64

// Names lists the names in a text, each once, in the order in which they first end, so that a
// path follows its elements. Plain words and numbers are not names.
func Names(text string) []Name {
	s := newScan(text)
	defer s.free()
	a := 0
	for line := range strings.SplitSeq(text, "\n") {
		s.toks = s.toks[:0]
		s.tokens(a, a+len(line))
		a += len(line) + 1
	}
	names := 0
	for i := range s.known {
		if s.known[i].named() {
			names++
		}
	}
	out := make([]Name, 0, names)
	for i := range s.known {
		if s.known[i].named() {
			out = append(out, Name(s.known[i].hash))
		}
	}
	return out
}

// named reports whether a token is a name.
func (t *token) named() bool { return t.worth >= worthIdent || t.worth == worthHex }
