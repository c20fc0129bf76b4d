package reuse

import (
	"fmt"

	"github.com/memkernel/memkernel/pagevm/toolcall"
)

// bounds of the buckets: ages in calls, sizes in tokens, uses in pages.
var (
	ages  = []int{10, 20, 40, 80, 160}
	sizes = []int{100, 400, 1600, 6400}
	works = []int{5, 15, 40, 100}
	uses  = []int{1, 2, 3, 5, 9}
)

// bucket names the range of bounds that n falls into.
func bucket(n int, bounds []int) string {
	from := 0
	for _, b := range bounds {
		if n < b {
			if b == from+1 {
				return fmt.Sprint(from)
			}
			return fmt.Sprintf("%d-%d", from, b-1)
		}
		from = b
	}
	return fmt.Sprintf("%d+", from)
}

// cells returns those that a page falls into at call n.
func (p *page) cells(n int) []Cell {
	age := bucket(n-p.born, ages)
	out := []Cell{{tablePage, p.act.String(), age}, {tableSize, p.act.String(), bucket(p.tokens, sizes)}}
	if p.act.Dialogue() {
		return out
	}
	return append(out, Cell{tableState, p.state(), age})
}

// state returns what has become of a result since.
func (p *page) state() string {
	switch {
	case p.failed && !p.solved:
		return "error, not resolved"
	case p.failed:
		return "error, resolved"
	case p.act != toolcall.ActRead:
		return "other result"
	case p.stale:
		return "read, path touched since"
	case p.again > 0:
		return "read, path read before"
	}
	return "read, once"
}

// editCell groups pages by what they are and how many calls ago their file was edited.
func (b *book) editCell(p *page, n int) Cell {
	row := p.act.String()
	switch last, edited := b.edited[p.works]; {
	case p.works == "":
		row += ", no file"
	case edited:
		row += ", edited " + bucket(n-last, works)
	default:
		row += ", not edited"
	}
	return Cell{tableEdit, row, bucket(n-p.born, ages)}
}

func (p *page) readCell(n int) Cell {
	row := p.act.String()
	if p.act == toolcall.ActRead && p.again > 0 {
		row = "read before"
	}
	return Cell{tableRead, row, bucket(n-p.born, ages)}
}

func (u *use) cell(n int) Cell {
	return Cell{tableName, "said " + bucket(u.said, uses), bucket(n-u.last, ages)}
}
