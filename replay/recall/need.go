package recall

import (
	"cmp"
	"slices"

	"github.com/memkernel/memkernel"
)

// Need is a text that a message refers to and that its prompt neither shows nor
// names.
type Need struct {
	// Place is the newest occurrence of the text that a pointer leads to. If no pointer leads to
	// the text, it is the newest occurrence of all.
	Place Place
	// Behind reports whether the prompt has a pointer to Place.
	Behind bool
}

// need looks through the occurrences that each yields, newest first.
func (c *call) need(each func(f func(pos int) bool)) Need {
	n, first := Need{}, true
	each(func(pos int) bool {
		at := c.place(pos)
		n.Behind = c.behind != nil && c.behind(at)
		if first || n.Behind {
			n.Place, first = at, false
		}
		return !n.Behind
	})
	return n
}

// distinctNeeds sorts needs by place and names each place once.
func distinctNeeds(needs []Need) []Need {
	slices.SortFunc(needs, func(a, b Need) int { return comparePlaces(a.Place, b.Place) })
	return slices.CompactFunc(needs, func(a, b Need) bool { return a.Place == b.Place })
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.CallID, b.CallID))
}

// Places returns the places of every reference of m, whether its prompt showed the reference or
// not. Each reference has the places of its text, newest first, each place once. References are
// in the order of their newest places. Callers must call Places before they append m.
func (t *Tracker) Places(m memkernel.Message) [][]Place {
	var out [][]Place
	t.References(m, func(_ string, at []Occurrence) {
		var places []Place
		for _, o := range at {
			if len(places) == 0 || places[len(places)-1] != o.Place {
				places = append(places, o.Place)
			}
		}
		out = append(out, places)
	})
	slices.SortStableFunc(out, func(a, b []Place) int { return -slices.CompareFunc(a, b, comparePlaces) })
	return out
}
