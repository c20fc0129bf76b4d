package pagevm

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// FieldsVersion is the format version of [Fields] in JSON. A reader takes every
// version up to its own; of a newer one it knows the names that it knows.
const FieldsVersion = 1

// Fields is the content of a structured representation, as data. One of the members is set, by
// the type of the page. They are sufficient: [Fields.Text] makes the text from them and nothing
// else, and verbatim text in them is valid UTF-8, so that both survive JSON unchanged.
type Fields struct {
	Version      int                 `json:"v"`
	Bootstrap    *BootstrapFields    `json:"bootstrap,omitempty"`
	Evidence     *EvidenceFields     `json:"evidence,omitempty"`
	Constraint   *ConstraintFields   `json:"constraint,omitempty"`
	Preference   *PreferenceFields   `json:"preference,omitempty"`
	Conversation *ConversationFields `json:"conversation,omitempty"`
}

// Quote is a line of a text, verbatim, or a part of a line that is too long to
// be quoted whole.
type Quote struct {
	// Line is the number of the line in the full content, from 1.
	Line int `json:"line"`
	// At is where in its line a part begins, in bytes; 0 for its beginning.
	At int `json:"at,omitempty"`
	// Text has no line break.
	Text string `json:"text"`
}

// BootstrapFields are the fields of a bootstrap file.
type BootstrapFields struct {
	Name     string    `json:"name"`
	Sections []Outline `json:"sections"`
}

// Outline is a section of a Markdown text: its heading and those of its lines
// that command something.
type Outline struct {
	// Heading is the heading's line, verbatim, "" in front of the first.
	Heading string `json:"heading,omitempty"`
	// Role is RoleStartup or RoleRedLines for a section that is shown whole.
	Role string `json:"role,omitempty"`
	// Whole is the text of such a section and of those below it, verbatim.
	Whole string `json:"whole,omitempty"`
	// Commands are the commanding lines of any other section, verbatim.
	Commands []string `json:"commands,omitempty"`
	// Left counts the lines that are left out.
	Left int `json:"left,omitempty"`
}

// The sections of a bootstrap file that are always shown whole.
const (
	RoleStartup  = "session_startup"
	RoleRedLines = "red_lines"
)

// EvidenceFields are the fields of a tool call and its result.
type EvidenceFields struct {
	Page string `json:"page,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Args are the call's canonical arguments on one line, at most 240 bytes;
	// "…" at the end marks that there was more.
	Args string `json:"args,omitempty"`
	// Status is "ok" or "error"; ExitCode is nil where the result names none.
	Status   string `json:"status"`
	ExitCode *int   `json:"exit_code,omitempty"`
	// Kind is the kind of the content, see ContentKind. Shape lists the keys and types of JSON.
	Kind  string `json:"kind"`
	Shape string `json:"shape,omitempty"`
	// Lines counts the lines that are not blank. Bytes is the size of the stored content.
	// PathCount counts its distinct paths. ErrorCount counts the lines that name errors.
	Lines      int   `json:"lines"`
	Bytes      int64 `json:"bytes"`
	PathCount  int   `json:"path_count,omitempty"`
	ErrorCount int   `json:"error_count,omitempty"`
	Masked     int   `json:"masked,omitempty"`
	// Paths are the most frequent of those paths that no quote shows.
	Paths []string `json:"paths,omitempty"`
	// First, Last, Errors and Telling are quotes; no line is in two of them.
	First   *Quote  `json:"first,omitempty"`
	Last    *Quote  `json:"last,omitempty"`
	Errors  []Quote `json:"errors,omitempty"`
	Telling []Quote `json:"telling,omitempty"`
	// Numbered reports whether the lines carry numbers of their own, as a file read's.
	Numbered bool   `json:"numbered,omitempty"`
	Resolver string `json:"resolver,omitempty"`
}

// ConstraintFields are the fields of a rule.
type ConstraintFields struct {
	Sections []Outline `json:"sections"`
}

// PreferenceFields are the fields of a remembered preference.
type PreferenceFields struct {
	Page string `json:"page,omitempty"`
	// Source is its provenance: file and lines.
	Source   string  `json:"source"`
	Telling  []Quote `json:"telling,omitempty"`
	Resolver string  `json:"resolver,omitempty"`
}

// ConversationFields are the fields of a span of dialogue.
type ConversationFields struct {
	Span string `json:"span"`
	// From and To are the first and the last known time, in UTC; zero if none
	// is known.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// Messages and Calls are counts. Bytes is the size of the whole.
	Messages int `json:"messages"`
	Calls    int `json:"calls,omitempty"`
	Bytes    int `json:"bytes"`
	// Gist is the first line that the user wrote.
	Gist string `json:"gist,omitempty"`
	// Entities are paths and identifiers that no quote shows.
	Entities []string `json:"entities,omitempty"`
	Said     []Said   `json:"said,omitempty"`
	Resolver string   `json:"resolver,omitempty"`
}

// Said is the quoted part of one message.
type Said struct {
	// Who is the role, with the tools that the message calls.
	Who   string  `json:"who"`
	Lines []Quote `json:"lines"`
}

// Text returns the structured representation that the fields make, "" if no
// member is set.
func (f *Fields) Text() string {
	switch {
	case f.Bootstrap != nil:
		return f.Bootstrap.text()
	case f.Evidence != nil:
		return f.Evidence.text()
	case f.Constraint != nil:
		return OutlineText(nil, f.Constraint.Sections)
	case f.Preference != nil:
		return f.Preference.text()
	case f.Conversation != nil:
		return f.Conversation.text()
	}
	return ""
}

// AppendJSON appends the fields as JSON, without the escapes for HTML of encoding/json, which
// make quoted code longer and decode to the same text.
func (f *Fields) AppendJSON(dst []byte) ([]byte, error) {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return dst, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

// quotes writes quotes in order, one on each line. With numbers each is preceded by where
// it is: "12: " is line 12, "12+381: " a part of it from byte 381 on.
// Without, a mark shows where lines are missing in between.
func quotes(b []byte, qs []Quote, numbers bool) []byte {
	for i, q := range qs {
		switch {
		case numbers:
			b = strconv.AppendInt(b, int64(q.Line), 10)
			if q.At > 0 {
				b = strconv.AppendInt(append(b, '+'), int64(q.At), 10)
			}
			b = append(b, ": "...)
		case i > 0 && q.apart(qs[i-1]):
			b = append(b, "[…]\n"...)
		}
		b = append(append(b, q.Text...), '\n')
	}
	return b
}

// apart reports whether something is between p and q, which follows it.
func (q Quote) apart(p Quote) bool {
	if q.Line == p.Line {
		return q.At > p.At+len(p.Text)
	}
	return q.Line > p.Line+1 || q.At > 0
}

func compareQuotes(a, b Quote) int {
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.At - b.At
}

// OutlineText writes sections, with a note at the end of each about its missing parts.
func OutlineText(b []byte, sections []Outline) string {
	for i := range sections {
		s := &sections[i]
		if s.Heading != "" {
			b = append(append(b, s.Heading...), '\n')
		}
		b = append(b, s.Whole...)
		b = textLines(b, s.Commands)
		b = leftMark(b, s.Left)
	}
	return string(b)
}

func textLines(b []byte, lines []string) []byte {
	for _, l := range lines {
		b = append(append(b, l...), '\n')
	}
	return b
}

func leftMark(b []byte, lines int) []byte {
	if lines == 0 {
		return b
	}
	return append(append(append(b, "[… "...), lex.Plural(lines, "line")...), "]\n"...)
}

// wholeMark returns how to read the whole.
func wholeMark(b []byte, resolver, page string) []byte {
	if resolver == "" || page == "" {
		return b
	}
	return append(append(append(append(b, "whole: "...), resolver...), ' '), page...)
}

// Quotes returns all lines that the fields quote, in the order of the content.
func (f *EvidenceFields) Quotes() []Quote {
	qs := make([]Quote, 0, len(f.Errors)+len(f.Telling)+2)
	for _, q := range [...]*Quote{f.First, f.Last} {
		if q != nil {
			qs = append(qs, *q)
		}
	}
	qs = append(append(qs, f.Errors...), f.Telling...)
	slices.SortStableFunc(qs, compareQuotes)
	return qs
}

func (f *EvidenceFields) text() string {
	qs := f.Quotes()
	n := 400
	for i := range qs {
		n += len(qs[i].Text) + 8
	}
	b := append(make([]byte, 0, n), "[extract of "+lex.OrUnknown(f.Tool)...)
	if f.Page != "" {
		b = append(append(b, ", page "...), f.Page...)
	}
	b = append(b, "]\n"...)
	if f.Args != "" {
		b = append(append(append(b, "call: "...), f.Args...), '\n')
	}
	b = append(append(b, f.statusLine()...), '\n')
	if f.Shape != "" {
		b = append(append(append(b, "shape: "...), f.Shape...), '\n')
	}
	if len(f.Paths) > 0 {
		b = append(append(append(b, "also names: "...), strings.Join(f.Paths, ", ")...), '\n')
	}
	b = quotes(append(b, "lines:\n"...), qs, !f.Numbered)
	return string(wholeMark(b, f.Resolver, f.Page))
}

func (f *EvidenceFields) statusLine() string {
	st := "status: " + f.Status
	if f.ExitCode != nil {
		st += ", exit code " + strconv.Itoa(*f.ExitCode)
	}
	st += ", " + f.Kind + ", " + lex.Plural(f.Lines, "line") + ", " + lex.SizeText(f.Bytes)
	for _, c := range [...]struct {
		n    int
		noun string
	}{{f.PathCount, "path"}, {f.ErrorCount, "error line"}, {f.Masked, "masked secret"}} {
		if c.n > 0 {
			st += ", " + lex.Plural(c.n, c.noun)
		}
	}
	return st
}

func (f *BootstrapFields) text() string {
	return OutlineText([]byte("[extract of "+lex.OrUnknown(f.Name)+"]\n"), f.Sections)
}

func (f *PreferenceFields) text() string {
	b := append([]byte("[from "), lex.OrUnknown(f.Source)...)
	b = quotes(append(b, "]\n"...), f.Telling, false)
	return string(wholeMark(b, f.Resolver, f.Page))
}

func (f *ConversationFields) text() string {
	b := []byte(f.Head() + "]\n")
	if f.Gist != "" {
		b = append(append(append(b, "gist: "...), f.Gist...), '\n')
	}
	if len(f.Entities) > 0 {
		b = append(append(append(b, "also names: "...), strings.Join(f.Entities, ", ")...), '\n')
	}
	for i := range f.Said {
		b = quotes(append(append(b, f.Said[i].Who...), ":\n"...), f.Said[i].Lines, false)
	}
	return string(wholeMark(b, f.Resolver, f.Span))
}

// Head begins with the parts that the floor of a conversation page requires: span id and time
// range.
func (f *ConversationFields) Head() string {
	h := "[span " + lex.OrUnknown(f.Span) + ", " + timeRange(f.From, f.To) + ", " + lex.Plural(f.Messages, "message")
	if f.Calls > 0 {
		h += ", " + lex.Plural(f.Calls, "tool call")
	}
	return h + ", " + strconv.Itoa(f.Bytes) + " bytes"
}

func timeRange(from, to time.Time) string {
	if from.IsZero() {
		return "times unknown"
	}
	const layout = "2006-01-02T15:04:05Z"
	a, b := from.UTC().Format(layout), to.UTC().Format(layout)
	if a == b {
		return a
	}
	return a + " to " + b
}
