package markdownstore

import "strings"

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

// AllUnits takes a document apart, its front matter and its body.
func AllUnits(d Document) []Unit {
	if d.Binary || d.FrontMatter == "" {
		return Units(d)
	}
	return append(properties(d), Units(d)...)
}

// Units takes the body of a document apart.
func Units(d Document) []Unit {
	if d.Binary || d.Body == "" {
		return nil
	}
	lines := strings.Count(d.Body, "\n")
	sc := scanner{text: d.Raw, units: make([]Unit, 0, 1+lines*3/4)}
	sc.scan(d.BodyOffset, d.BodyLine)
	return sc.units
}
