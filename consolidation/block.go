package consolidation

import (
	"strings"

	"github.com/memkernel/memkernel/markdownstore"
)

// A file that is pruned is cut into pieces that tile it, so that what stays stands
// byte for byte as it stood:
//
//	# Memory             head, kept
//	## Ports             heading: goes with the last block below it
//	- Postgres: 5432     block: an item with all that is nested in it,
//	  - since March      a paragraph, a table, a block of code
//	<!-- mk:ID -->       marker: goes with the last block that it names
type piece struct {
	kind  pieceKind
	text  string
	lines int
	// entry is a block's first, nil if it is code.
	entry *Entry
	// level and label are a heading's.
	level int
	label string
	// sections are the pieces of the headings above a block, outermost first; marker
	// is the piece of its marker, -1 if it has none.
	sections []int
	marker   int
	line     int
	gone     bool
}

type pieceKind int

const (
	pieceBlock pieceKind = iota
	pieceHead
	pieceHeading
	pieceMarker
	pieceRule
)

// pieces cuts a file.
func pieces(f *File) []piece {
	byLine := map[int]*Entry{}
	for i := range f.Entries {
		byLine[f.Entries[i].StartLine] = &f.Entries[i]
	}
	units := markdownstore.Units(f.Doc)
	var out []piece
	if len(units) > 0 && units[0].Start > 0 {
		out = append(out, piece{kind: pieceHead, text: f.Doc.Raw[:units[0].Start]})
	}
	var open []int
	from := len(out) // where the blocks of the next marker begin
	for i, u := range units {
		text := f.Doc.Raw[u.Start:u.End]
		p := piece{text: text, line: u.StartLine, marker: -1, sections: append([]int(nil), open...)}
		switch u.Kind {
		case markdownstore.UnitHeading:
			p.kind, p.level, p.label, p.sections = pieceHeading, u.Level, u.Label, nil
			for len(open) > 0 && out[open[len(open)-1]].level >= u.Level {
				open = open[:len(open)-1]
			}
			if i == 0 && u.Level == 1 {
				p.kind = pieceHead
			} else {
				open = append(open, len(out))
			}
			from = len(out) + 1
		case markdownstore.UnitMarker:
			p.kind = pieceMarker
			for n := from; n < len(out); n++ {
				out[n].marker = len(out)
			}
			from = len(out) + 1
		case markdownstore.UnitRule:
			p.kind = pieceRule
		default:
			if last := len(out) - 1; last >= 0 && out[last].kind == pieceBlock && nested(f.Doc, u) {
				out[last].text += text
				continue
			}
			p.entry = byLine[u.StartLine+blankBefore(text)]
		}
		out = append(out, p)
	}
	underlined(out)
	for i := range out {
		out[i].lines = lineCount(out[i].text)
	}
	return out
}

// underlined makes blocks of paragraphs that only a rule below them makes headings of
// nothing.
func underlined(ps []piece) {
	has := map[int]bool{}
	for i := range ps {
		for _, s := range ps[i].sections {
			has[s] = has[s] || ps[i].kind == pieceBlock
		}
	}
	for i := range ps {
		if p := &ps[i]; p.kind == pieceHeading && !has[i] && !strings.HasPrefix(strings.TrimSpace(p.text), "#") {
			p.kind = pieceBlock
		}
	}
}

// nested tells a unit that belongs to the block before it: what is indented, and
// code.
func nested(d markdownstore.Document, u markdownstore.Unit) bool {
	text := strings.TrimLeft(d.Raw[u.Start:u.End], "\r\n")
	return u.Kind == markdownstore.UnitCode || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")
}

// blankBefore counts the blank lines that a unit begins with.
func blankBefore(text string) int {
	lead := text[:len(text)-len(strings.TrimLeft(text, " \t\r\n"))]
	return strings.Count(lead, "\n")
}

func lineCount(s string) int {
	n := strings.Count(s, "\n")
	if s != "" && !strings.HasSuffix(s, "\n") {
		n++
	}
	return n
}

// trailOf are the headings above a block, as they stand.
func trailOf(ps []piece, p *piece) []string {
	var out []string
	for _, i := range p.sections {
		text, _ := CutTags(ps[i].label)
		out = append(out, oneLine(text))
	}
	return out
}

// settle takes away the headings and markers that name nothing any more.
func settle(ps []piece) {
	names := map[int]bool{}
	for i := range ps {
		p := &ps[i]
		if p.kind != pieceBlock || p.gone {
			continue
		}
		for _, s := range p.sections {
			names[s] = true
		}
		if p.marker >= 0 {
			names[p.marker] = true
		}
	}
	for i := range ps {
		switch p := &ps[i]; p.kind {
		case pieceHeading, pieceMarker:
			p.gone = !names[i]
		case pieceRule:
			p.gone = true
		}
	}
}

// joinPieces puts together what stays.
func joinPieces(ps []piece) (text string, lines int) {
	var b strings.Builder
	for i := range ps {
		if !ps[i].gone {
			b.WriteString(ps[i].text)
		}
	}
	text = strings.TrimRight(b.String(), " \t\r\n")
	if text != "" {
		text += "\n"
	}
	return text, lineCount(text)
}
