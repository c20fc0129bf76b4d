package transcript

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/jsonl"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Dialect names the format in which a host writes its transcripts.
type Dialect string

// The names of the dialects.
const (
	ClaudeCode Dialect = "claude-code"
	Pi         Dialect = "pi"
	Codex      Dialect = "codex"
	GeminiCLI  Dialect = "gemini-cli"
	anthropic  Dialect = "anthropic"
	OpenAI     Dialect = "openai"
)

// Dialects lists all dialects of files in a fixed order.
func Dialects() (out []Dialect) {
	for i := range table {
		if r := &table[i]; r.Assemble != nil {
			out = append(out, r.Name)
		}
	}
	return out
}

// row returns the first dialect for which is reports true, or nil.
func row(is func(*dialectRow) bool) *dialectRow {
	for i := range table {
		if r := &table[i]; is(r) {
			return r
		}
	}
	return nil
}

// rowOf returns the row of a dialect, nil if the dialect is unknown.
func rowOf(d Dialect) *dialectRow {
	return row(func(r *dialectRow) bool { return r.Name == d })
}

// Intakes returns the dialects in which a host may hand over its messages. The dialects of
// requests come first, and then the dialects of other providers' items.
func Intakes() (out []Dialect) {
	for i := range table {
		if table[i].Items != nil {
			out = append(out, table[i].Name)
		}
	}
	slices.SortStableFunc(out, func(a, b Dialect) int { return rowOf(a).Rank() - rowOf(b).Rank() })
	return out
}

// Document reports whether a transcript in the dialect is one JSON document, which can't be read
// from the middle. Such a document is a request that is about to be sent and not a log of past
// events.
func (d Dialect) Document() bool {
	r := rowOf(d)
	return r != nil && r.Document()
}

// ParseDialect reads a dialect's name. "" and "auto" mean detection.
func ParseDialect(name string) (Dialect, error) {
	if name == "" || name == "auto" {
		return "", nil
	}
	if d := Dialect(name); slices.Contains(Dialects(), d) {
		return d, nil
	}
	return "", fmt.Errorf("parse dialect: unknown name %q, want one of %v", name, Dialects())
}

// sniffLines is the number of lines that Detect looks at if the first lines are broken or show no
// dialect.
const sniffLines = 50

// Detect returns the dialect of a file from its first bytes. A prefix of 64 KiB is enough, and it
// may end inside a record. The error is ErrEmpty for blank input and ErrUnknownDialect for any
// other input without a dialect. A document that fits both JSON dialects counts as anthropic,
// since the canonical form is the same.
func Detect(prefix []byte) (Dialect, error) {
	s := jsonl.Trim(textutil.UTF8(string(prefix)))
	if s == "" {
		return "", nothing(bytes.IndexByte(prefix, 0) >= 0)
	}
	if d := sniffLine(s); d != "" && rowOf(d).Spread {
		return d, nil // it may be a document with messages
	}
	if s[0] == '[' || s[0] == '{' {
		if d := sniffDocument(s); d != "" {
			return d, nil
		}
	}
	for range sniffLines {
		line, rest, more := strings.Cut(s, "\n")
		if d := sniffLine(jsonl.Trim(line)); d != "" {
			return d, nil
		}
		if !more {
			break
		}
		s = rest
	}
	return "", fmt.Errorf("detect dialect: %w (known are %v)", ErrUnknownDialect, Dialects())
}

// Format is the shape of a provider's request body.
type Format string

// The names of the formats.
const (
	// FormatAnthropic is the Messages API.
	FormatAnthropic Format = "anthropic"
	// FormatOpenAI is chat completions, which many providers speak.
	FormatOpenAI Format = "openai"
	// FormatResponses is OpenAI's Responses API.
	FormatResponses Format = "responses"
	// FormatGemini is Gemini's generateContent. The model is in the path of its requests:
	// see [BodyReader.Read].
	FormatGemini Format = "gemini"
)

// Formats lists the formats in which a host may hand over its messages, in the order of
// [Intakes].
func Formats() (out []Format) {
	for _, d := range Intakes() {
		if f := d.Format(); f != "" {
			out = append(out, f)
		}
	}
	return out
}

// Dialect returns the dialect of the messages in a request of the format, "" for an unknown format.
func (f Format) Dialect() Dialect {
	if r := f.row(); r != nil {
		return r.Name
	}
	return ""
}

// Format returns the format of requests in the dialect. It returns "" for a dialect whose
// sessions may go to any provider.
func (d Dialect) Format() Format {
	if r := rowOf(d); r != nil && r.API != nil {
		return r.API.Format
	}
	return ""
}

func (f Format) row() *dialectRow {
	return row(func(r *dialectRow) bool { return r.API != nil && r.API.Format == f })
}

// oneOf returns names as a list in words.
func oneOf[S ~string](names []S) string {
	var b strings.Builder
	for i, name := range names {
		switch i {
		case 0:
		case len(names) - 1:
			b.WriteString(" or ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
