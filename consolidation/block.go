package consolidation

import (
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
)

// A file that is pruned is cut into pieces that tile it, so that the remaining text is byte for
// byte as it was:
//
//	# Memory             head, kept
//	## Ports             heading: goes with the last block below it, if it may
//	- Postgres: 5432     block: an item with all that is nested in it,
//	  - since March      a paragraph, a table, a block of code
//	<!-- mk:ID -->       marker: goes with the last block that it names
type piece struct {
	kind pieceKind
	text string
	// entry is the first entry of a block, nil if the block is code.
	entry *Entry
	// level is the level of a heading.
	level int
	// label is the text of a heading or a marker.
	label string
	// bullet reports whether the piece is an item of a list without order, with only nested
	// blocks in it.
	bullet bool
	// sections are the headings above the piece, outermost first. marker is nil if it has none.
	sections []*piece
	marker   *piece
	line     int
	// origin is the author who wrote a block in its place.
	origin Origin
	// was is the text of a block before it got the sources of another one, "" if it got none.
	was string
	// may reports whether the piece may leave. gone reports whether it leaves. why is a reason for
	// a block to leave other than lack of room.
	may, gone bool
	why       why
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
func pieces(f *file) []*piece {
	byLine := map[int]*Entry{}
	for i := range f.Entries {
		byLine[f.Entries[i].StartLine] = f.Entries[i]
	}
	units, begins := markdownstore.Units(f.Doc), starts(f.Doc)
	var out, open []*piece
	if len(units) > 0 && units[0].Start > 0 {
		out = append(out, &piece{kind: pieceHead, text: f.Doc.Raw[:units[0].Start]})
	}
	from := len(out) // where the blocks of the next marker begin
	for i, u := range units {
		text := f.Doc.Raw[u.Start:u.End]
		p := &piece{text: text, line: u.StartLine, label: u.Label, sections: slices.Clone(open)}
		kind, apart := begins[u.StartLine+blankBefore(text)]
		if u.Kind == markdownstore.UnitHeading && kind != ast.KindHeading || u.Kind == markdownstore.UnitRule && kind != ast.KindThematicBreak {
			u.Kind = markdownstore.UnitParagraph
		}
		named := u.Kind == markdownstore.UnitHeading || u.Kind == markdownstore.UnitMarker || u.Kind == markdownstore.UnitRule
		if last := len(out) - 1; last >= 0 && out[last].kind == pieceBlock && (!apart || !named && (u.Kind == markdownstore.UnitCode || indented(text))) {
			out[last].text += text // it belongs to the block before it
			out[last].bullet = out[last].bullet && indented(text)
			continue
		}
		switch u.Kind {
		case markdownstore.UnitHeading:
			p.kind, p.level = pieceHeading, u.Level
			for len(open) > 0 && open[len(open)-1].level >= u.Level {
				open = open[:len(open)-1]
			}
			p.sections = slices.Clone(open)
			if i == 0 && u.Level == 1 {
				p.kind = pieceHead
			} else {
				open = append(open, p)
			}
			from = len(out) + 1
		case markdownstore.UnitMarker:
			p.kind = pieceMarker
			for _, named := range out[from:] {
				named.marker = p
			}
			from = len(out) + 1
		case markdownstore.UnitRule:
			p.kind = pieceRule
		default:
			p.entry = byLine[u.StartLine+blankBefore(text)]
			p.bullet = bulleted.MatchString(text)
		}
		out = append(out, p)
	}
	has := map[*piece]bool{} // whether a block follows under a heading
	for _, p := range out {
		for _, s := range p.sections {
			has[s] = has[s] || p.kind == pieceBlock
		}
	}
	for _, p := range out { // a paragraph with a rule below it is a heading only with a block under it
		if p.kind == pieceHeading && !has[p] && !strings.HasPrefix(strings.TrimSpace(p.text), "#") {
			p.kind = pieceBlock
		}
	}
	return out
}

// bulleted matches an item of an unordered list at the margin.
var bulleted = textutil.LazyRegexp(`^[\r\n]*[-*+][ \t]`)

func indented(text string) bool {
	text = strings.TrimLeft(text, "\r\n")
	return strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")
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

// trail returns the headings above a block, as they are written.
func (p *piece) trail() (out []string) {
	for _, h := range p.sections {
		text, _ := CutTags(h.label)
		out = append(out, oneLine(text))
	}
	return out
}

// settle removes headings and markers below which nothing is left. It keeps those that it may not
// remove, and headings that never had anything below them.
func settle(ps []*piece) {
	names, named := map[*piece]bool{}, map[*piece]bool{}
	for _, p := range ps {
		if p.kind == pieceBlock {
			for _, n := range append(slices.Clone(p.sections), p.marker) {
				names[n] = names[n] || !p.gone
				named[n] = true
			}
		}
	}
	for _, p := range ps {
		if p.kind == pieceHeading || p.kind == pieceMarker {
			p.gone = named[p] && !names[p] && (p.may || p.kind == pieceMarker)
		}
	}
}

// remains returns the text that stays. Where a piece left, at least one blank line separates its
// neighbours, except between two items, so that separate blocks are not joined.
func remains(ps []*piece, eol string) string {
	var b strings.Builder
	var last *piece
	gap, left := "", false
	for _, p := range ps {
		body, blanks := cutBlanks(p.text)
		if p.gone {
			left = true
			continue
		}
		if last != nil {
			if left && gap == "" && !(last.bullet && p.bullet) {
				gap = eol
			}
			b.WriteString(gap)
		}
		b.WriteString(body)
		last, gap, left = p, blanks, false
	}
	if !left {
		b.WriteString(gap)
	}
	return b.String()
}

// cutBlanks splits a piece into its lines and the blank lines after them.
func cutBlanks(text string) (body, blanks string) {
	n := len(strings.TrimRight(text, " \t\r\n"))
	if at := strings.IndexByte(text[n:], '\n'); at >= 0 {
		return text[:n+at+1], text[n+at+1:]
	}
	return text, ""
}

// eolOf returns the line end of a text: CR LF only if every line has it.
func eolOf(text string) string {
	if n := strings.Count(text, "\n"); n > 0 && strings.Count(text, "\r\n") == n {
		return "\r\n"
	}
	return "\n"
}
