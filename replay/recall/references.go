package recall

import (
	"cmp"
	"slices"

	"github.com/memkernel/memkernel"
)

// Places returns the places of every reference of m, an assistant's message that is not yet in the
// history, whether its prompt showed the reference or not. Each reference has the places of its
// text, newest first. References are in the order of their newest places.
func (t *Tracker) Places(m memkernel.Message) [][]Place {
	c := call{Tracker: t, recent: t.recent()}
	var out [][]Place
	for _, tok := range distinct(useOf(m)) {
		var at []Place
		c.occurrences(tok.text, tok.quoted, func(pos int) bool {
			if len(at) == 0 && pos+len(tok.text) > c.recent {
				return false
			}
			if place := t.place(pos); len(at) == 0 || at[len(at)-1] != place {
				at = append(at, place)
			}
			return true
		})
		if len(at) > 0 {
			out = append(out, at)
		}
	}
	slices.SortStableFunc(out, func(a, b []Place) int {
		return -slices.CompareFunc(a, b, func(x, y Place) int {
			return cmp.Or(cmp.Compare(x.Message, y.Message), cmp.Compare(x.CallID, y.CallID))
		})
	})
	return out
}
