package markdownstore

import (
	"strings"
	"unicode/utf8"
)

// bom is the UTF-8 byte-order mark.
const bom = "\xef\xbb\xbf"

// noteCode names an oddity of a document.
type noteCode string

const (
	// noteBinary: the file is not text and has no body that could be searched.
	noteBinary noteCode = "binary"
	// noteFrontMatter: a text looks like front matter but is not. The text is in the body.
	noteFrontMatter noteCode = "front_matter"
	// noteInvalidUTF8: the file has bytes that are not UTF-8. These bytes are kept.
	noteInvalidUTF8 noteCode = "invalid_utf8"
)

// note describes an oddity of a document. No oddity makes Parse lose a byte.
type note struct {
	Code noteCode `json:"code"`
	// Line is the line of the oddity, or 0 if it is not about a line.
	Line int    `json:"line,omitempty"`
	Text string `json:"text"`
}

// Hint says how to mend the oddity.
func (n note) Hint() string {
	switch n.Code {
	case noteBinary:
		return "save it as UTF-8 text; until then it is not searched"
	case noteFrontMatter:
		return "mend it; until then it is read as text"
	}
	return "save it as UTF-8"
}

// Document is a parsed file. The file is BOM, FrontMatter and Body joined together.
type Document struct {
	Path string
	// Class is the class of the path. It is zero if the path has no class.
	Class Class
	Raw   string
	// BOM is the byte-order mark, or "".
	BOM string
	// FrontMatter is the block of front matter with its delimiters and the blank lines before it,
	// or "".
	FrontMatter string
	// Meta is the content of the front matter. Its values can be written as JSON.
	Meta map[string]any
	// Body is the rest of the file. The body of a binary file has no chunks.
	Body string
	// BodyOffset is the byte offset at which Body begins. BodyLine is the line on which Body
	// begins.
	BodyOffset, BodyLine int
	Binary               bool
	Notes                []note
}

// Parse divides a file into its parts. It returns no errors: every oddity becomes a note, and
// every byte is in one of the parts.
func Parse(path, data string) Document {
	d := Document{Path: path, Raw: data, Body: data, BodyLine: 1}
	d.Class, _ = Classify(path)
	if why := binaryWhy(data); why != "" {
		d.Binary = true
		d.note(noteBinary, 0, why)
		return d
	}
	if strings.HasPrefix(data, bom) {
		d.BOM, d.Body = bom, data[len(bom):]
	}
	if fm, meta, err := frontMatter(d.Body); err != nil {
		d.note(noteFrontMatter, 1, strings.Join(strings.Fields(err.Error()), " "))
	} else if fm > 0 {
		d.FrontMatter, d.Meta, d.Body = d.Body[:fm], meta, d.Body[fm:]
	}
	d.BodyOffset = len(d.Raw) - len(d.Body)
	d.BodyLine = 1 + strings.Count(d.FrontMatter, "\n")
	if at := invalidUTF8(data); at >= 0 {
		d.note(noteInvalidUTF8, 1+strings.Count(data[:at], "\n"), "bytes that are no UTF-8 are kept as they are")
	}
	return d
}

func (d *Document) note(code noteCode, line int, text string) {
	d.Notes = append(d.Notes, note{Code: code, Line: line, Text: text})
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(s string) int {
	if !utf8.ValidString(s) {
		for i, r := range s {
			if _, n := utf8.DecodeRuneInString(s[i:]); r == utf8.RuneError && n == 1 {
				return i
			}
		}
	}
	return -1
}

// isDOS reports whether every line of a text ends with CR LF.
func isDOS(s string) bool {
	n := strings.Count(s, "\n")
	return n > 0 && strings.Count(s, "\r\n") == n
}
