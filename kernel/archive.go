package kernel

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/kernel/internal/ingest"
	"github.com/memkernel/memkernel/kernel/internal/plan"
	"github.com/memkernel/memkernel/pagevm"
	"github.com/memkernel/memkernel/retrieval"
)

const (
	// pieceBytes is the size up to which lines of an evicted page are searched as
	// one: about as much as a chunk of a file.
	pieceBytes = 1600
	// archiveBytes bounds how much of one page is searched; of a longer one its
	// beginning. Get restores all of it.
	archiveBytes = 256 << 10
)

// searchable is everything that left the session's prompts and was searched, with some
// pages more: shown gives a page, and what it says where it need not be read from disk.
func (s *session) searchable(pages []string, shown func(id string) (*pagevm.Page, string, bool)) (*retrieval.Spans, []ingest.Fault) {
	var pieces []retrieval.Span
	var faults []ingest.Fault
	r := &reader{s: s}
	for _, id := range pages {
		if s.archivedPages[id] {
			continue
		}
		p, text, here := shown(id)
		if p == nil {
			continue
		}
		if !here {
			if raw, err := r.content(p); err == nil {
				text = plainContent(p, raw)
			} else if !errors.Is(err, errRetired) {
				faults = append(faults, ingest.Fault{Code: string(FaultNotSearched), Page: id, Detail: err.Error()})
				continue
			}
		}
		s.archivedPages[id] = true
		pieces = append(pieces, piecesOf(p, text)...)
	}
	s.addPieces(pieces)
	return s.archiveSpans, faults
}

// archived is everything that left the session's prompts, read from disk.
func (s *session) archived() (*retrieval.Spans, error) {
	var pieces []retrieval.Span
	r := &reader{s: s}
	for _, id := range sortedKeys(s.spans) {
		for _, page := range s.spans[id].Pages {
			p := s.pages[page]
			if p == nil || s.archivedPages[page] {
				continue
			}
			raw, err := r.content(p)
			if errors.Is(err, errRetired) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s.archivedPages[page] = true
			pieces = append(pieces, piecesOf(p, plainContent(p, raw))...)
		}
	}
	s.addPieces(pieces)
	return s.archiveSpans, nil
}

func (s *session) addPieces(pieces []retrieval.Span) {
	if len(pieces) == 0 {
		return
	}
	if s.archiveSpans != nil {
		s.archiveSpans = s.archiveSpans.With(pieces...)
	} else if spans, err := retrieval.NewSpans(pieces...); err == nil {
		s.archiveSpans = spans
	}
}

// piecesOf cuts what a page says into runs of lines that are found one by one.
// They are parts of the text, which is masked as a whole: a secret may reach over
// the end of a piece.
func piecesOf(p *pagevm.Page, text string) []retrieval.Span {
	end := min(len(text), archiveBytes)
	for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	text = strings.TrimRight(text[:end], "\n")
	label := strings.TrimSpace(p.Tool + " " + p.Path)
	if label == "" {
		label = p.Role
	}
	var out []retrieval.Span
	for from, line := 0, 1; from < len(text); {
		to, lines := pieceAt(text, from)
		if piece := text[from:to]; strings.TrimSpace(piece) != "" {
			id := p.ID
			if len(piece) < len(text) {
				id += fmt.Sprintf("%s%d-L%d", plan.LinesMark, line, line+lines-1)
			}
			out = append(out, retrieval.Span{ID: id, Text: piece, Time: p.Created, Label: label})
		}
		from, line = to, line+lines
	}
	return out
}

// pieceAt is where the piece that begins at from ends, and how many lines it has.
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

// plainContent is what a stored page says: a result is stored as its text, a run
// of a message as the JSON of its parts.
func plainContent(p *pagevm.Page, stored string) string {
	if p.Type != pagevm.Conversation {
		return stored
	}
	dec := json.NewDecoder(strings.NewReader(stored))
	var b strings.Builder
	for dec.More() {
		var part struct {
			Type, Text, Name string
			Input            json.RawMessage
		}
		if err := dec.Decode(&part); err != nil {
			return stored
		}
		if part.Text != "" {
			b.WriteString(part.Text + "\n")
		}
		if part.Name != "" {
			b.WriteString(part.Name + " " + string(part.Input) + "\n")
		}
	}
	return b.String()
}

// cutLines splits an id into a page's and the lines of it that are meant; to is 0
// if all are.
func cutLines(id string) (page string, from, to int) {
	page, lines, ok := strings.Cut(id, plan.LinesMark)
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

// linesOf are some lines of what a page says.
func linesOf(text string, from, to int) string {
	lines := strings.SplitAfter(text, "\n")
	if from > len(lines) {
		return ""
	}
	return strings.Join(lines[from-1:min(to, len(lines))], "")
}
