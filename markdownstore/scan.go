package markdownstore

import "strings"

// scanner divides a body into blocks, line by line, in one pass. It knows the parts of CommonMark
// that decide where a section begins: headings of both forms, and the blocks in which a # is not a
// heading (fences, indented code, lists, comments, raw HTML). It builds no tree.
type scanner struct {
	text  string
	units []Unit

	ln    line
	blank bool // the line before was blank, or there was none
	fence fence
	// htmlEnd is the end mark of the open HTML block, or "".
	htmlEnd string
	// lists holds, for each open list item, the column at which its content begins.
	lists []int
}

// line is the current line.
type line struct {
	start, end int // with its line feed
	number     int
	body       string // without indent and line end
	indent     int    // columns of white space in front, tabs to the next 4
}

// fence is the open code fence. char is 0 if none is open.
type fence struct {
	char   byte
	length int
	// column is the column at which the content of the list item around the fence begins.
	column int
}

func (sc *scanner) scan(from, number int) {
	sc.blank = true
	at, first := from, number
	for line := range strings.Lines(sc.text[from:]) {
		sc.setLine(at, at+len(line), number)
		sc.take()
		at, number = at+len(line), number+1
	}
	if n := len(sc.units); n > 0 {
		sc.units[0].Start, sc.units[0].StartLine = from, first
		sc.units[n-1].End, sc.units[n-1].EndLine = len(sc.text), number-1
	}
}

func (sc *scanner) setLine(start, end, number int) {
	i, col := start, 0
loop:
	for ; i < end; i++ {
		switch sc.text[i] {
		case ' ':
			col++
		case '\t':
			col += 4 - col%4
		default:
			break loop
		}
	}
	last := end
	for last > i && isSpace(sc.text[last-1]) {
		last--
	}
	sc.ln = line{start: start, end: end, number: number, body: sc.text[i:last], indent: col}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }

// take adds the current line to the open unit, or opens a new unit.
func (sc *scanner) take() {
	switch {
	case sc.fence.char != 0:
		if sc.inFence() {
			return
		}
	case sc.htmlEnd != "":
		if containsFold(sc.ln.body, sc.htmlEnd) {
			sc.htmlEnd = ""
		}
		sc.blank = false
		return
	}
	if sc.ln.body == "" {
		sc.blank = true
		return
	}
	sc.leaveLists()
	if !sc.special() {
		sc.prose()
	}
	sc.blank = false
}

// start ends the open unit and opens a new unit at the current line.
func (sc *scanner) start(kind UnitKind) *Unit {
	if n := len(sc.units); n > 0 {
		sc.units[n-1].End, sc.units[n-1].EndLine = sc.ln.start, sc.ln.number-1
	}
	sc.units = append(sc.units, Unit{Kind: kind, Start: sc.ln.start, StartLine: sc.ln.number})
	return &sc.units[len(sc.units)-1]
}

// last returns the kind of the open unit, or "" if there is none.
func (sc *scanner) last() UnitKind {
	if len(sc.units) == 0 {
		return ""
	}
	return sc.units[len(sc.units)-1].Kind
}

// inFence reports whether the line belongs to the open fence. It closes the fence at its closing line,
// and at the end of the list item that contains it.
func (sc *scanner) inFence() bool {
	f := sc.fence
	if f.column > 0 && sc.ln.body != "" && sc.ln.indent < f.column {
		sc.fence = fence{}
		return false
	}
	if n := runOf(sc.ln.body, f.char); n >= f.length && n == len(sc.ln.body) && sc.ln.indent < f.column+4 {
		sc.fence = fence{}
	}
	sc.blank = sc.ln.body == "" && sc.fence.char != 0
	return true
}

// leaveLists closes the list items whose content is indented more than the line. It stops at the
// first item whose paragraph the line may continue.
func (sc *scanner) leaveLists() {
	for n := len(sc.lists); n > 0 && sc.ln.indent < sc.lists[n-1]; n-- {
		if !sc.blank && !sc.opens() {
			return
		}
		sc.lists = sc.lists[:n-1]
	}
}

// opens reports whether the line begins a new block. Otherwise it may continue a paragraph.
func (sc *scanner) opens() bool {
	b := sc.ln.body
	switch b[0] {
	case '#':
		return headingLevel(b) > 0
	case '>', '|':
		return true
	case '`', '~':
		return fenceOf(b) > 0
	case '<':
		return htmlOpener(b) != ""
	}
	return isRule(b) || markerWidth(b) > 0
}

// column returns the column at which the content of the innermost open item begins, or 0 outside of
// items.
func (sc *scanner) column() int {
	if n := len(sc.lists); n > 0 {
		return sc.lists[n-1]
	}
	return 0
}

// special handles a line that is more than text. It returns false for a line of text.
func (sc *scanner) special() bool {
	b, col := sc.ln.body, sc.column()
	if sc.ln.indent >= col+4 {
		return sc.indented()
	}
	switch b[0] {
	case '#':
		return sc.heading(b, col)
	case '`', '~':
		if n := fenceOf(b); n > 0 {
			sc.start(UnitCode)
			sc.fence = fence{char: b[0], length: n, column: col}
			return true
		}
		return false
	case '|':
		return sc.runOn(UnitTable)
	case '>':
		return sc.runOn(UnitQuote)
	case '<':
		return sc.html(b)
	case '=', '-', '*', '_':
		if sc.underline(b) {
			return true
		}
		if isRule(b) {
			if col == 0 {
				sc.start(UnitRule)
			}
			return true
		}
	}
	return sc.item(b)
}

// indented handles a line that is indented like code. Within a paragraph such a line is text.
func (sc *scanner) indented() bool {
	if sc.column() > 0 {
		// A list marker is an item even if it is indented too much.
		return sc.item(sc.ln.body)
	}
	if !sc.blank && sc.last() != UnitCode && sc.last() != UnitHeading && sc.last() != UnitRule {
		return false
	}
	if sc.last() != UnitCode {
		sc.start(UnitCode)
	}
	return true
}

// heading handles an ATX heading. A heading inside a list item opens no section.
func (sc *scanner) heading(b string, col int) bool {
	n := headingLevel(b)
	if n == 0 || col > 0 {
		return false
	}
	u := sc.start(UnitHeading)
	u.Level, u.Label = n, headingText(b[n:])
	return true
}

// underline turns the paragraph above the line into a setext heading if the line underlines it.
func (sc *scanner) underline(b string) bool {
	if sc.blank || len(sc.lists) > 0 || (b[0] != '=' && b[0] != '-') || runOf(b, b[0]) != len(b) {
		return false
	}
	if k := sc.last(); k != UnitParagraph && k != UnitTurn {
		return false
	}
	u := &sc.units[len(sc.units)-1]
	u.Kind, u.Level = UnitHeading, 1
	if b[0] == '-' {
		u.Level = 2
	}
	u.Label = setextText(sc.text[u.Start:sc.ln.start])
	return true
}

// runOn continues the open unit if it is of this kind, else it opens one.
func (sc *scanner) runOn(kind UnitKind) bool {
	if sc.column() > 0 {
		return false
	}
	if sc.blank || sc.last() != kind {
		sc.start(kind)
	}
	return true
}

// html handles comments, raw blocks and the markers of entries.
func (sc *scanner) html(b string) bool {
	if id := markerID(b); id != "" && sc.ln.indent == 0 {
		sc.start(UnitMarker).Label = id
		sc.lists = sc.lists[:0]
		return true
	}
	end := htmlOpener(b)
	if end == "" {
		return false
	}
	if sc.column() == 0 {
		sc.start(UnitHTML)
	}
	if !containsFold(b[1:], end) {
		sc.htmlEnd = end
	}
	return true
}

// item handles a line with a list marker. Each item is a unit, even if it is nested.
func (sc *scanner) item(b string) bool {
	w := markerWidth(b)
	if w == 0 {
		return false
	}
	if k := sc.last(); !sc.blank && len(sc.lists) == 0 && (k == UnitParagraph || k == UnitTurn) && !interrupts(b, w) {
		return false
	}
	rest := strings.TrimLeft(b[w:], " \t")
	pad := len(b) - w - len(rest)
	if rest == "" || pad > 4 {
		pad = 1
	}
	u := sc.start(UnitItem)
	if u.Label = labelOf(rest); u.Label != "" {
		u.Kind = UnitTurn
	}
	sc.lists = append(sc.lists, sc.ln.indent+w+pad)
	return true
}

// prose handles a line of text. It continues the open unit, or opens a paragraph or a turn.
func (sc *scanner) prose() {
	if len(sc.lists) > 0 {
		if k := sc.last(); k == UnitCode || k == UnitHTML {
			sc.start(UnitParagraph)
		}
		return
	}
	label := ""
	switch k := sc.last(); {
	case sc.blank, k == UnitHeading, k == UnitRule, k == UnitCode, k == UnitHTML, k == UnitMarker, k == UnitTable, k == "":
		label = labelOf(sc.ln.body)
	case k == UnitTurn:
		if label = labelOf(sc.ln.body); label == "" {
			return
		}
	default:
		return
	}
	u := sc.start(UnitParagraph)
	if u.Label = label; label != "" {
		u.Kind = UnitTurn
	}
}

// UnitKind is the kind of a unit.
type UnitKind string

const (
	UnitHeading   UnitKind = "heading"
	UnitParagraph UnitKind = "paragraph"
	UnitItem      UnitKind = "item"
	// UnitTurn is an item or paragraph that begins with a short label and a
	// colon, as a speaker's turn in a dialogue does.
	UnitTurn   UnitKind = "turn"
	UnitCode   UnitKind = "code" // fenced or indented
	UnitTable  UnitKind = "table"
	UnitQuote  UnitKind = "quote"
	UnitHTML   UnitKind = "html"
	UnitRule   UnitKind = "rule"
	UnitMarker UnitKind = "marker" // the marker of an appended entry
	// UnitProperty is a property of the front matter. Its label is the property's key. Only chunks
	// have such units.
	UnitProperty UnitKind = "property"
)

// Unit is the smallest piece of a body. Units tile the body. Blank lines belong to the unit
// before them. Blank lines at the beginning of the body belong to the first unit.
type Unit struct {
	Kind UnitKind `json:"kind"`
	// Level is 1 to 6 for headings, else 0.
	Level int `json:"level,omitempty"`
	// Label is the text of a heading, the label of a turn, the id of a marker, or the key of a
	// property.
	Label string `json:"label,omitempty"`
	// StartLine and EndLine are 1-based and inclusive, in the file.
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
	// Start and End are byte offsets in the file, End exclusive.
	Start int `json:"start"`
	End   int `json:"end"`
}

// AllUnits returns the units of a document's front matter and body.
func AllUnits(d Document) []Unit {
	if d.Binary || d.FrontMatter == "" {
		return Units(d)
	}
	return append(properties(d), Units(d)...)
}

// Units returns the units of a document's body.
func Units(d Document) []Unit {
	if d.Binary || d.Body == "" {
		return nil
	}
	lines := strings.Count(d.Body, "\n")
	sc := scanner{text: d.Raw, units: make([]Unit, 0, 1+lines*3/4)}
	sc.scan(d.BodyOffset, d.BodyLine)
	return sc.units
}
