package represent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/pagevm"
)

const (
	// ratio is the size of a compressed representation divided by the size of the full content.
	ratio = 0.35
	// maxBytes bounds a compressed representation. Content of less than minBytes has none.
	maxBytes, minBytes = 64 << 10, 800
	// quoteLines bounds the lines that a structured representation quotes. quoteBytes bounds their
	// size.
	quoteLines, quoteBytes = 14, 1200
	// outlineLines bounds the lines of a structured representation of Markdown.
	outlineLines = 80
)

// EvidenceInput is a tool call with its result, as ingested.
type EvidenceInput struct {
	// Tool is the tool's name. Input holds its raw arguments (JSON or text).
	Tool, Input string
	// Text is the result's text, masked.
	Text    string
	IsError bool
	// Bytes is the size of the stored content. 0 means len(Text).
	Bytes int64
	// PageID is the id of the page. Blob is the sha256 of the page's content.
	PageID, Blob string
	// Masked counts the secrets that were masked in Text.
	Masked int
	// Resolver is the tool or command by which the model can follow a pointer. It is "" if the
	// model can't follow pointers.
	Resolver string
	// Message reports whether the text is a person's message and not a tool result. Own are the
	// parts of the message that an excerpt keeps first.
	Message bool
	Own     []Range
	// Rules reports whether the text instructs the agent. It is shortened as Markdown.
	Rules bool
	// Whole shows the result whole when the model sees it for the first time, see [Door].
	Whole bool
	// Preview makes the pointer show the beginning of the result. The model may never see more of
	// the result.
	Preview bool
	// Breaks reports whether Text consists of parts with PartBreak between them.
	Breaks bool
}

// valid returns the input with U+FFFD in place of bytes that are not UTF-8, since shown and
// stored texts are written as JSON. It sets Bytes.
func (in EvidenceInput) valid() EvidenceInput {
	in.Bytes = cmp.Or(in.Bytes, int64(len(in.Text)))
	for _, s := range [...]*string{&in.Tool, &in.Input, &in.Text} {
		*s = strings.ToValidUTF8(*s, "\uFFFD")
	}
	return in
}

// Evidence makes the degraded representations of a tool result, best first: compressed,
// structured, pointer. It is a pure function: equal inputs give equal
// bytes. It leaves out a level that would not be smaller than the next higher level. A small
// result has no degraded level. Lines that a representation quotes are verbatim and in order,
// except for bytes that are not UTF-8, which become U+FFFD everywhere.
//
// Evidence makes a pointer even without a resolver. The pointer then says so, and [pagevm.Floor]
// forbids its use.
func Evidence(in EvidenceInput) []pagevm.Rep {
	in = in.valid()
	args := canonicalArgs(in.Tool, in.Input)
	pointer := pointerText(&in, clip(args, 100))
	if len(pointer) >= len(in.Text) {
		return nil
	}
	reps := repChain{left: len(in.Text)}
	k, numbered := kindOf(&in)
	s := scanText(in.Text, k, numbered)
	defer s.free()
	s.breaks = in.Breaks
	door := Door(in)
	foot := footer(&in, s)
	room := roomFor(len(in.Text), len(foot))
	p := s.pick(room)
	if len(in.Text) >= minBytes {
		short := ""
		if door != "" {
			short = shortJSON(in.Text, room)
		}
		if short == "" {
			short = s.excerpt(p.chosen)
		}
		if reps.add(pagevm.Compressed, short+foot) {
			reps.reps[0].Door = door
		}
	}
	reps.add(pagevm.Structured, structured(&in, args, s, p))
	if reps.add(pagevm.Pointer, pointer) && in.Preview && in.Resolver != "" {
		reps.reps[len(reps.reps)-1] = newRep(pagevm.Pointer, preview(&in))
	}
	return reps.reps
}

// roomFor returns how many bytes of a text of n bytes a compressed representation may quote in
// addition to extra bytes of its own. A very short quotation is useless, so short texts get a few
// lines at any ratio.
func roomFor(n, extra int) int { return max(min(int(ratio*float64(n)), maxBytes)-extra, quoteBytes/8) }

// repChain collects representations and drops those that do not shrink.
type repChain struct {
	left int // bytes of the level above
	reps []pagevm.Rep
}

func (c *repChain) add(l pagevm.Level, text string) bool {
	if text == "" || len(text) >= c.left {
		return false
	}
	c.left = len(text)
	if c.reps == nil {
		c.reps = make([]pagevm.Rep, 0, int(pagevm.Full))
	}
	c.reps = append(c.reps, newRep(l, text))
	return true
}

func newRep(l pagevm.Level, text string) pagevm.Rep {
	var digits [2 * sha256.Size]byte
	sum := sha256.Sum256([]byte(text))
	return pagevm.Rep{Level: l, Hash: string(hex.AppendEncode(digits[:0], sum[:])), Text: text}
}

// footer returns the end of a compressed result: its description and the way to read the whole.
func footer(in *EvidenceInput, s *scan) string {
	if in.Message {
		f := "\n[this message is shown shortened: of " + plural(s.lines, "line") + ", " + sizeText(in.Bytes) + "; stored whole as page " + cmp.Or(in.PageID, "unknown")
		if in.Resolver != "" {
			f += "; " + howToRead(in.Resolver, in.PageID)
		}
		return f + "]"
	}
	f := "\n[of " + plural(s.lines, "line") + ", " + sizeText(in.Bytes)
	if n := min(len(in.Text)/100, 400); s.kind == kindJSON && n >= 80 {
		f += ", " + jsonShape(in.Text, n)
	}
	return f + readWhole(in) + "]"
}

func readWhole(in *EvidenceInput) string {
	if in.Resolver == "" || in.PageID == "" {
		return ""
	}
	return "; whole: " + in.Resolver + " " + in.PageID
}

// previewRunes is how much of a large result is in the prompt.
const previewRunes = 500

// preview returns the text that shows a large result at its first appearance if the model can
// read the rest. It has the first 500 characters, and then the size, the hash, the page and the
// way to read the whole.
func preview(in *EvidenceInput) string {
	head := in.Text
	runes := 0
	for i := range in.Text {
		if runes == previewRunes {
			head = in.Text[:i]
			break
		}
		runes++
	}
	var b strings.Builder
	b.WriteString(head)
	if len(head) < len(in.Text) {
		b.WriteString("\n[… " + sizeText(int64(len(in.Text)-len(head))) + " left out]")
	}
	b.WriteString("\n[page " + cmp.Or(in.PageID, "unknown") + ", " + strconv.FormatInt(in.Bytes, 10) + " bytes, sha256 " + cmp.Or(in.Blob, "unknown"))
	if in.Masked > 0 {
		b.WriteString(", " + plural(in.Masked, "masked secret"))
	}
	b.WriteString("; " + howToRead(in.Resolver, in.PageID) + "]")
	return b.String()
}

// pointerHash is how many digits of the blob's hash a pointer shows: enough to
// name it, few enough tokens to have hundreds of pointers in a prompt.
const pointerHash = 16

// pointerText returns the pointer to a tool result. The pointer names the call with its arguments,
// the size of the result, the blob that holds the result, and the read that restores the stored
// bytes.
func pointerText(in *EvidenceInput, args string) string {
	p := append(make([]byte, 0, 256), "[page "...)
	p = append(append(append(p, cmp.Or(in.PageID, "unknown")...), ": "...), cmp.Or(in.Tool, "unknown")...)
	if args != "" {
		p = append(append(p, ' '), args...)
	}
	if in.IsError {
		p = append(p, " (error)"...)
	}
	p = append(strconv.AppendInt(append(p, ", "...), in.Bytes, 10), " bytes"...)
	if in.Blob != "" {
		p = append(append(p, ", sha256 "...), in.Blob[:min(len(in.Blob), pointerHash)]...)
	}
	if in.Masked > 0 {
		p = append(append(p, ", "...), plural(in.Masked, "masked secret")...)
	}
	return string(p) + "; " + howToRead(in.Resolver, in.PageID) + "]"
}

func howToRead(resolver, page string) string {
	if resolver == "" || page == "" {
		return "not shown"
	}
	return "read it with " + resolver + " " + page
}

// clip cuts s to at most n bytes on a rune boundary, marking the cut.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return textutil.Head(s, max(n-len("…"), 0)) + "…"
}
