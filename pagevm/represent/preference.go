package represent

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
)

// Preference makes the representations of a remembered preference. source is the provenance (file
// and lines), which every level shows.
func Preference(id, source, text, resolver string) []pagevm.Rep {
	text = strings.ToValidUTF8(text, "\uFFFD")
	reps := repChain{left: len(text)}
	head := "[from " + cmp.Or(source, "unknown") + "]\n"
	s := scanText(text, kindProse, false)
	defer s.free()
	p := s.pick(roomFor(len(text), len(head)))
	if len(text) >= minBytes {
		reps.add(pagevm.Compressed, head+s.excerpt(p.chosen))
	}
	keep := p.head(4, min(quoteBytes/3, len(text)/3))
	reps.add(pagevm.Structured, wholeMark(appendQuotes([]byte(head), s.quotes(keep, 0, len(keep)), false), resolver, id))
	reps.add(pagevm.Pointer, "[preference "+cmp.Or(id, "unknown")+" from "+cmp.Or(source, "unknown")+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}
