package represent

// Name stands for a path, file name, identifier or hash that a text shows: what a
// later turn may refer to. Two names that collide in 64 bits count as one.
type Name uint64

// Names lists the names in a text, each once, in the order in which they first end,
// so that a path follows its elements. Plain words and numbers are none.
func Names(text string) []Name {
	size := 64
	for size < len(text)/8 {
		size <<= 1
	}
	s := scan{text: text, table: make([]int32, size)}
	s.tokens(0, len(text))
	var out []Name
	for i := range s.known {
		if k := &s.known[i]; k.worth >= worthIdent || k.worth == worthHex {
			out = append(out, Name(k.hash))
		}
	}
	return out
}
