package recall

import "github.com/memkernel/memkernel"

// Occurrence is one earlier place of a token, with the line that must be shown for the occurrence
// to count as shown.
type Occurrence struct {
	Place
	Line string
}

// References calls f for every reference of m, an assistant's message that is not yet in the
// history. f gets the token and its occurrences, newest first. The slice is only valid during the
// call of f. References come in the order in which m names them.
func (t *Tracker) References(m memkernel.Message, f func(token string, at []Occurrence)) {
	c := call{Tracker: t, recent: t.recent()}
	var at []Occurrence
	for _, tok := range distinct(useOf(m)) {
		at = at[:0]
		c.occurrences(tok.text, tok.quoted, func(pos int) bool {
			if len(at) == 0 && pos+len(tok.text) > c.recent {
				return false
			}
			at = append(at, Occurrence{t.place(pos), c.window(pos, len(tok.text))})
			return true
		})
		if len(at) > 0 {
			f(tok.text, at)
		}
	}
}
