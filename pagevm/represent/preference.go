package represent

import (
	"strings"

	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// Preference makes the representations of a remembered preference. source is the provenance (file
// and lines), which every level shows.
func Preference(id, source, text, resolver string) []pagevm.Rep {
	text = strings.ToValidUTF8(text, "\uFFFD")
	reps := repChain{left: len(text)}
	head := "[from " + lex.OrUnknown(source) + "]\n"
	s := scanText(text, kindProse, false)
	defer s.free()
	p := s.pick(roomFor(len(text), len(head)))
	if len(text) >= minBytes {
		reps.add(pagevm.Compressed, head+s.excerpt(p.chosen))
	}
	keep := p.head(4, min(quoteBytes/3, len(text)/3))
	reps.add(pagevm.Structured, wholeMark(appendQuotes([]byte(head), s.quotes(keep, 0, len(keep)), false), resolver, id))
	reps.add(pagevm.Pointer, "[preference "+lex.OrUnknown(id)+" from "+lex.OrUnknown(source)+"; "+howToRead(resolver, id)+"]")
	return reps.reps
}
