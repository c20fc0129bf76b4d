package pagevm

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode/utf8"
)

// RepOptions are the knobs of the extractors; nil or zero means the default.
type RepOptions struct {
	// Ratio is the size of a compressed representation against the full
	// content, in bytes. Default 0.35.
	Ratio float64
	// MaxBytes bounds a compressed representation. Default 64 KiB.
	MaxBytes int
	// MinBytes is the size below which content has no compressed
	// representation. Default 800.
	MinBytes int
	// Lines bounds the lines that a structured representation quotes, and
	// QuoteBytes their size. Defaults 14 and 1,200.
	Lines      int
	QuoteBytes int
}

func (o *RepOptions) withDefaults() RepOptions {
	r := RepOptions{}
	if o != nil {
		r = *o
	}
	if r.Ratio <= 0 || r.Ratio > 1 {
		r.Ratio = 0.35
	}
	if r.MaxBytes <= 0 {
		r.MaxBytes = 64 << 10
	}
	if r.MinBytes <= 0 {
		r.MinBytes = 800
	}
	if r.Lines <= 0 {
		r.Lines = 14
	}
	if r.QuoteBytes <= 0 {
		r.QuoteBytes = 1200
	}
	return r
}

// EvidenceInput is a tool call with its result, as ingested.
type EvidenceInput struct {
	// Tool is the tool's name, Input its raw arguments (JSON or text).
	Tool, Input string
	// Text is the result's text, masked.
	Text    string
	IsError bool
	// Bytes is the size of the stored content; 0 means len(Text).
	Bytes int64
	// PageID and Blob name the page and the sha256 of its content.
	PageID, Blob string
	// Masked counts the secrets that were masked in Text.
	Masked int
	// Resolver is the tool or command by which the model can follow a
	// pointer; "" if there is none.
	Resolver string
}

func (in *EvidenceInput) size() int64 {
	if in.Bytes > 0 {
		return in.Bytes
	}
	return int64(len(in.Text))
}

// RepresentEvidence makes the degraded representations of a tool result, best
// first: compressed, structured, pointer. It is a pure function: equal input,
// equal bytes. A level that would not be smaller than the one above it is left
// out; a result that is small already has none. Lines that a representation
// quotes are verbatim and in order.
//
// A pointer is made whether or not a resolver is named: without one it says so,
// and Floor forbids its use.
func RepresentEvidence(in EvidenceInput, opt *RepOptions) []Rep {
	o := opt.withDefaults()
	reps := repChain{left: len(in.Text)}
	args := argsText(in.Input)
	ptr := pointerText(&in, args)
	if len(ptr) >= len(in.Text) {
		return nil
	}
	k, numbered := detectKind(in.Text)
	s := scanText(in.Text, k)
	budget := min(int(o.Ratio*float64(len(in.Text))), o.MaxBytes)
	mark := 18
	if numbered {
		mark = 6
	}
	foot := footer(&in, s)
	p := s.pick(max(budget-len(foot), o.QuoteBytes/4), mark)
	if len(in.Text) >= o.MinBytes {
		reps.add(Compressed, string(append(s.excerpt(nil, p.chosen, numbered), foot...)))
	}
	reps.add(Structured, structuredEvidence(&in, args, s, p, k, &o))
	reps.add(Pointer, ptr)
	return reps.reps
}

// repChain collects representations and drops those that do not shrink.
type repChain struct {
	left int // bytes of the level above
	reps []Rep
}

func (c *repChain) add(l Level, text string) {
	if text == "" || len(text) >= c.left {
		return
	}
	c.left = len(text)
	c.reps = append(c.reps, newRep(l, text))
}

func newRep(l Level, text string) Rep {
	h := sha256.Sum256([]byte(text))
	return Rep{Level: l, Hash: hex.EncodeToString(h[:]), Text: text}
}

// footer tells at the end of a compressed result what it is and how to read
// the whole.
func footer(in *EvidenceInput, s *scan) string {
	f := "\n[of " + plural(s.lines, "line") + ", " + sizeText(in.size())
	if in.Resolver != "" && in.PageID != "" {
		f += "; whole: " + in.Resolver + " " + in.PageID
	}
	return f + "]"
}

// structuredEvidence lists the typed fields of a result and quotes its most
// telling lines whole.
func structuredEvidence(in *EvidenceInput, args string, s *scan, p *picker, k kind, o *RepOptions) string {
	room := min(o.QuoteBytes, len(in.Text)/6+120)
	b := make([]byte, 0, room+500)
	b = append(b, "[extract of "...)
	b = append(b, orUnknown(in.Tool)...)
	if in.PageID != "" {
		b = append(b, ", page "...)
		b = append(b, in.PageID...)
	}
	b = append(b, "]\n"...)
	if args = clip(args, 240); args != "" {
		b = append(append(append(b, "call: "...), args...), '\n')
	}
	b = append(b, statusLine(in, s, k)...)
	keep := p.head(o.Lines, room)
	if names := s.names(keep, worthPath, 5, room/4); names != "" {
		b = append(append(append(b, "also names: "...), names...), '\n')
	}
	b = append(b, "lines:\n"...)
	b = s.excerpt(b, keep, true)
	if in.Resolver != "" && in.PageID != "" {
		b = append(b, "\nwhole: "...)
		b = append(append(append(b, in.Resolver...), ' '), in.PageID...)
	}
	return string(b)
}

func statusLine(in *EvidenceInput, s *scan, k kind) string {
	st := "status: ok"
	if in.IsError {
		st = "status: error"
	}
	if code, ok := exitCode(in.Text); ok {
		st += ", exit code " + code
	}
	st += ", " + k.String() + ", " + plural(s.lines, "line") + ", " + sizeText(in.size())
	if s.paths > 0 {
		st += ", " + plural(s.paths, "path")
	}
	if s.errs > 0 {
		st += ", " + plural(s.errs, "error line")
	}
	if in.Masked > 0 {
		st += ", " + plural(in.Masked, "masked secret")
	}
	return st + "\n"
}

// exitCode finds the exit code that a host writes into the head of a shell
// result.
func exitCode(text string) (string, bool) {
	head := text[:min(len(text), 400)]
	for _, mark := range [...]string{"Exit code ", "Exit code: ", "exited with code ", "exit code: ", `"exit_code":`, `exit status `} {
		_, rest, ok := strings.Cut(head, mark)
		if !ok {
			continue
		}
		n := 0
		for n < len(rest) && n < 4 && (rest[n] >= '0' && rest[n] <= '9' || n == 0 && rest[n] == '-') {
			n++
		}
		if n > 0 {
			return rest[:n], true
		}
	}
	return "", false
}

// previewRunes is how much of a large result stands in the prompt.
const previewRunes = 500

// Preview is how a large result is shown at its first appearance when the
// model can read the rest: its first 500 characters, then its size, hash, page
// and the way to the whole.
func Preview(in EvidenceInput) string {
	head := in.Text
	for i, n := 0, 0; i < len(in.Text); n++ {
		if n == previewRunes {
			head = in.Text[:i]
			break
		}
		_, w := utf8.DecodeRuneInString(in.Text[i:])
		i += w
	}
	var b strings.Builder
	b.WriteString(head)
	if len(head) < len(in.Text) {
		b.WriteString("\n[… " + sizeText(int64(len(in.Text)-len(head))) + " left out]")
	}
	b.WriteString("\n[page " + orUnknown(in.PageID) + ", " + strconv.FormatInt(in.size(), 10) + " bytes, sha256 " + orUnknown(in.Blob))
	if in.Masked > 0 {
		b.WriteString(", " + plural(in.Masked, "masked secret"))
	}
	b.WriteString("; " + howToRead(in.Resolver, in.PageID) + "]")
	return b.String()
}

// pointerHash is how many digits of the blob's hash a pointer shows: enough to
// name it, few enough tokens to have hundreds of pointers in a prompt.
const pointerHash = 16

// PointerText is the pointer to a tool result: what the call was, how much it
// returned, the blob that holds it, and the read that restores it byte for
// byte as stored.
func PointerText(in EvidenceInput) string { return pointerText(&in, argsText(in.Input)) }

func pointerText(in *EvidenceInput, args string) string {
	var b strings.Builder
	b.WriteString("[page " + orUnknown(in.PageID) + ": " + orUnknown(in.Tool))
	if args = clip(args, 100); args != "" {
		b.WriteString(" " + args)
	}
	if in.IsError {
		b.WriteString(" (error)")
	}
	b.WriteString(", " + strconv.FormatInt(in.size(), 10) + " bytes")
	if in.Blob != "" {
		b.WriteString(", sha256 " + in.Blob[:min(len(in.Blob), pointerHash)])
	}
	if in.Masked > 0 {
		b.WriteString(", " + plural(in.Masked, "masked secret"))
	}
	b.WriteString("; " + howToRead(in.Resolver, in.PageID) + "]")
	return b.String()
}

func howToRead(resolver, page string) string {
	if resolver == "" || page == "" {
		return "not shown"
	}
	return "read it with " + resolver + " " + page
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

// argsText is a call's arguments on one line: the single string of a call that
// has one, else the JSON as it came. Of long arguments only the head matters.
func argsText(input string) string {
	if len(input) > 4096 {
		input = input[:4096]
	}
	if v := soleString(input); v != "" {
		input = v
	}
	if strings.IndexByte(input, '\n') >= 0 {
		input = strings.Join(strings.Fields(input), " ")
	}
	return input
}

// clip cuts s to at most n bytes on a rune boundary, marking the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n -= len("…")
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
