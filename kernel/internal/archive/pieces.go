package archive

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

const (
	// pieceBytes is the size of the pieces in which an evicted page is searched. It is about the
	// size of a chunk of a file.
	pieceBytes = 1600
	// archiveBytes bounds how much of one page is searched. Of a longer page only the beginning
	// is searched. Get restores the whole page.
	archiveBytes = 256 << 10
)

// pieces cuts the text of a page into runs of lines that a search finds one by one. The text is
// masked as a whole, because a secret may cross the end of a piece.
func pieces(p *pagevm.Page, text string) []retrieval.Span {
	text = strings.TrimRight(textutil.Head(text, archiveBytes), "\n")
	label := strings.TrimSpace(p.Tool + " " + p.Path)
	if label == "" {
		label = p.Speaker()
	}
	call := p.Type == pagevm.Conversation && p.Role == string(memkernel.RoleAssistant) && callsAlone(text)
	var out []retrieval.Span
	for from, line := 0, 1; from < len(text); {
		to, lines := pieceAt(text, from)
		if piece := text[from:to]; strings.TrimSpace(piece) != "" {
			id := p.ID
			if len(piece) < len(text) {
				id += fmt.Sprintf("%s%d-L%d", retrieval.LinesMark, line, line+lines-1)
			}
			out = append(out, retrieval.Span{ID: id, Text: piece, Time: p.Created, Label: label, Call: call})
		}
		from, line = to, line+lines
	}
	return out
}

// pieceAt returns the end of the piece that begins at byte from, and the number of lines in the
// piece.
func pieceAt(text string, from int) (to, lines int) {
	for to = from; to < len(text) && to-from < pieceBytes; lines++ {
		if n := strings.IndexByte(text[to:], '\n'); n >= 0 {
			to += n + 1
		} else {
			to = len(text)
		}
	}
	return to, lines
}

// Plain returns the text of a stored page. A result is stored as its text. A run of a message is
// stored as the JSON of its parts.
func Plain(p *pagevm.Page, stored string) string {
	if p.Type != pagevm.Conversation {
		return stored
	}
	parts, err := partsOf(stored)
	if err != nil {
		return stored
	}
	var b strings.Builder
	for _, part := range parts {
		if part.Text != "" {
			b.WriteString(part.Text + "\n")
		}
		if part.Name != "" {
			b.WriteString(part.Name + " " + string(part.Input) + "\n")
		}
	}
	return b.String()
}

// part is a part of a run of a message.
type part struct {
	Type, Text, Name string
	Input            json.RawMessage
}

// partsOf reads the parts of a stored run of a message.
func partsOf(stored string) ([]part, error) {
	var out []part
	for dec := json.NewDecoder(strings.NewReader(stored)); dec.More(); {
		var p part
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// callsAlone reports whether a message consists only of calls. Each call is a name and its input.
func callsAlone(text string) bool {
	calls := 0
	for text = strings.TrimSpace(text); text != ""; calls++ {
		name, rest, _ := strings.Cut(text, " ")
		if name == "" || !strings.HasPrefix(rest, "{") || strings.ContainsAny(name, "\n{") {
			return false
		}
		d := json.NewDecoder(strings.NewReader(rest))
		var input json.RawMessage
		if d.Decode(&input) != nil {
			return false
		}
		text = strings.TrimSpace(rest[d.InputOffset():])
	}
	return calls > 0
}

// CutLines splits an id into the id of a page and a range of the page's lines. to is 0 for all
// lines.
func CutLines(id string) (page string, from, to int) {
	page, lines, ok := strings.Cut(id, retrieval.LinesMark)
	if !ok {
		return id, 0, 0
	}
	a, b, _ := strings.Cut(lines, "-L")
	from, err := strconv.Atoi(a)
	if err != nil || from < 1 {
		return id, 0, 0
	}
	if to, err = strconv.Atoi(b); err != nil || to < from {
		to = from
	}
	return page, from, to
}

// LinesOf returns some lines of a page's text.
func LinesOf(text string, from, to int) string {
	lines := strings.SplitAfter(text, "\n")
	if from > len(lines) {
		return ""
	}
	return strings.Join(lines[from-1:min(to, len(lines))], "")
}
