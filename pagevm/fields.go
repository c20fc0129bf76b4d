package pagevm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/pagevm/internal/lex"
)

// FieldsVersion is the format version of [Fields] in JSON. A reader accepts every version. Of a
// version newer than its own it reads only the names that it knows.
const FieldsVersion = 1

// Fields is the content of a structured representation, as data. Exactly one of the members is
// set. The type of the page decides which one. [Fields.Text] makes the text from the fields
// alone. All text in the fields is valid UTF-8, so that fields and text survive JSON unchanged.
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
	// At is the offset in bytes at which the quoted part begins in its line.
	At int `json:"at,omitempty"`
	// Text has no line break.
	Text string `json:"text"`
}

// BootstrapFields are the fields of a bootstrap file.
type BootstrapFields struct {
	Name     string    `json:"name"`
	Sections []Outline `json:"sections"`
}

// Outline is a section of a Markdown text: its heading and the lines of the section that command
// something.
type Outline struct {
	// Heading is the heading's line, verbatim. It is "" for the text before the first heading.
	Heading string `json:"heading,omitempty"`
	// Role is RoleStartup or RoleRedLines for a section that is shown whole.
	Role string `json:"role,omitempty"`
	// Whole is the verbatim text of a section with a Role, including its subsections.
	Whole string `json:"whole,omitempty"`
	// Commands are the commanding lines, verbatim, of a section without a Role.
	Commands []string `json:"commands,omitempty"`
	// Left is the number of lines that were left out.
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
	// Args are the call's canonical arguments on one line, at most 240 bytes. A "…" at the end
	// marks that arguments were cut off.
	Args string `json:"args,omitempty"`
	// Status is "ok" or "error".
	Status string `json:"status"`
	// ExitCode is nil if the result names no exit code.
	ExitCode *int `json:"exit_code,omitempty"`
	// Kind is the kind of the content, see ContentKind.
	Kind string `json:"kind"`
	// Shape lists the keys and types of JSON content.
	Shape string `json:"shape,omitempty"`
	// Lines is the number of lines that are not blank.
	Lines int `json:"lines"`
	// Bytes is the size of the stored content.
	Bytes int64 `json:"bytes"`
	// PathCount is the number of distinct paths in the content.
	PathCount int `json:"path_count,omitempty"`
	// ErrorCount is the number of lines that name errors.
	ErrorCount int `json:"error_count,omitempty"`
	Masked     int `json:"masked,omitempty"`
	// Paths are the most frequent paths in the content that no quote shows.
	Paths []string `json:"paths,omitempty"`
	// First, Last, Errors and Telling are quotes. No line is quoted twice.
	First   *Quote  `json:"first,omitempty"`
	Last    *Quote  `json:"last,omitempty"`
	Errors  []Quote `json:"errors,omitempty"`
	Telling []Quote `json:"telling,omitempty"`
	// Numbered reports whether the content numbers its own lines, as the result of a file read
	// may.
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
	// Source is the provenance of the preference: file and lines.
	Source   string  `json:"source"`
	Telling  []Quote `json:"telling,omitempty"`
	Resolver string  `json:"resolver,omitempty"`
}

// ConversationFields are the fields of a span of dialogue.
type ConversationFields struct {
	Span string `json:"span"`
	// From is the first known time of the span, in UTC. It is zero if no time is known.
	From time.Time `json:"from,omitzero"`
	// To is the last known time of the span, in UTC. It is zero if no time is known.
	To time.Time `json:"to,omitzero"`
	// Messages is the number of messages in the span.
	Messages int `json:"messages"`
	// Calls is the number of tool calls in the span.
	Calls int `json:"calls,omitempty"`
	// Bytes is the size of the whole span.
	Bytes int `json:"bytes"`
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

// quotes writes quotes in order, one on each line. If numbers is set, each quote is preceded by
// its place: "12: " is line 12, and "12+381: " is the part of line 12 from byte 381 on. If
// numbers is not set, a mark shows where lines between two quotes are missing.
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

// apart reports whether text is missing between p and its successor q.
func (q Quote) apart(p Quote) bool {
	if q.Line == p.Line {
		return q.At > p.At+len(p.Text)
	}
	return q.Line > p.Line+1 || q.At > 0
}

// OutlineText writes sections, with a note at the end of each about its missing parts.
func OutlineText(b []byte, sections []Outline) string {
	for i := range sections {
		s := &sections[i]
		if s.Heading != "" {
			b = append(append(b, s.Heading...), '\n')
		}
		b = append(b, s.Whole...)
		for _, l := range s.Commands {
			b = append(append(b, l...), '\n')
		}
		b = leftMark(b, s.Left)
	}
	return string(b)
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

// quotes returns all lines that the fields quote, in the order of the content.
func (f *EvidenceFields) quotes() []Quote {
	qs := make([]Quote, 0, len(f.Errors)+len(f.Telling)+2)
	for _, q := range [...]*Quote{f.First, f.Last} {
		if q != nil {
			qs = append(qs, *q)
		}
	}
	qs = append(append(qs, f.Errors...), f.Telling...)
	slices.SortStableFunc(qs, func(a, b Quote) int { return cmp.Or(a.Line-b.Line, a.At-b.At) })
	return qs
}

func (f *EvidenceFields) text() string {
	qs := f.quotes()
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
