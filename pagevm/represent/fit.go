package represent

import (
	"slices"
	"strings"

	"github.com/memkernel/memkernel/pagevm"
)

// PartBreak is a line in place of a part that is not text, such as an image between two texts. It
// occurs only in texts with [EvidenceInput.Breaks], and in their excerpts.
const PartBreak = "\x1e"

// excerpts makes compressed representations of one text, each of another size, for a text that is
// larger than its room. Like the levels made at ingestion, they depend only on the text and the
// size.
type excerpts struct {
	in       EvidenceInput
	kind     kind
	numbered bool
	scan     *scan
	edge     int // bytes at either end that were scanned line by line
}

// NewExcerpts prepares excerpts of in.Text, without a copy of it.
func NewExcerpts(in EvidenceInput) *excerpts {
	e := &excerpts{in: in.valid()}
	e.kind, e.numbered = kindOf(&e.in)
	return e
}

// Rep returns the compressed representation of about the given number of bytes, including its
// footer. It is never much larger, and it is smaller if the text is smaller.
func (e *excerpts) Rep(bytes int) pagevm.Rep {
	if e.scan == nil || bytes > e.edge && 2*e.edge < len(e.in.Text) {
		e.edge = max(edgeScan, bytes)
		e.scan = scanEdges(e.in.Text, e.kind, e.numbered, e.edge)
		e.scan.breaks = e.in.Breaks
		e.scan.prefer(e.in.Own)
	}
	foot := footer(&e.in, e.scan)
	p := e.scan.pickRuns(max(bytes-len(foot), 1)) // a footer may be longer than the room
	text := e.scan.excerpt(p.chosen)
	if e.in.Message && strings.HasPrefix(text, "[…") {
		text = beginning(e.in.Text) + " " + text
	}
	return newRep(pagevm.Compressed, text+foot)
}

// firstWords is the length of the beginning of a person's message that every excerpt shows, in
// bytes. It is our choice. The beginning usually says what the person wants.
const firstWords = 80

func beginning(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip(first, firstWords)
}

// pickRuns is pick for an excerpt that shows a large part of the text. It first picks the most
// telling units. The rest of the room goes to the gaps between them, the shortest gap first, so
// that the excerpt reads as running text. The larger the shown part of the text, the more room goes
// to the gaps.
func (s *scan) pickRuns(bytes int) *picker {
	share := min(float64(bytes)/float64(len(s.text)+1), 1)
	p := s.pick(int(float64(bytes) * (1 - share/2)))
	p.fill(bytes - p.used)
	return p
}

// fill chooses the text to show in gaps, the shortest gap first, until left bytes are used. The
// first gap that is too long is filled from its beginning on.
func (p *picker) fill(left int) {
	type gap struct{ from, to, bytes int }
	var gaps []gap
	for i := 0; i < len(p.units); i++ {
		g := gap{from: i}
		for ; i < len(p.units) && !p.chosen[i]; i++ {
			g.bytes += p.units[i].end - p.units[i].start + 1
		}
		if g.to = i; g.to > g.from {
			gaps = append(gaps, g)
		}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return a.bytes - b.bytes })
	for _, g := range gaps {
		if g.bytes-markBytes <= left {
			left += markBytes
		}
		for i := g.from; i < g.to; i++ {
			if left -= p.units[i].end - p.units[i].start + 1; left < 0 {
				return
			}
			p.chosen[i] = true
		}
	}
}

// The sizes of the lower levels of a message, in bytes.
const (
	structuredMessage = 2400
	pointerMessage    = 900
)

// Message makes the degraded representations of a person's long message, best first. in.Bytes is
// the original size of the message. All representations are excerpts that prefer the text that
// the person probably wrote ([EvidenceInput.Own]). They name the page that holds the whole
// message. Like [Evidence] it is pure.
func Message(in EvidenceInput) []pagevm.Rep {
	in.Message = true
	e := NewExcerpts(in)
	n := len(e.in.Text)
	c := repChain{left: int(e.in.Bytes)}
	for _, size := range [...]struct {
		level pagevm.Level
		bytes int
	}{{pagevm.Compressed, roomFor(n, 0)}, {pagevm.Structured, min(structuredMessage, n/3)}, {pagevm.Pointer, min(pointerMessage, n/4)}} {
		c.add(size.level, e.Rep(size.bytes).Text)
	}
	return c.reps
}

// leastOutlined is the size in bytes from which a host's text has an outline.
const leastOutlined = structuredMessage

// HostText makes the degraded representations of a text that a host wrote in a conversation: an
// outline if outlined is set and the text is long, and a pointer.
func HostText(in EvidenceInput, outlined bool) []pagevm.Rep {
	c := repChain{left: len(in.Text)}
	if outlined && len(in.Text) >= leastOutlined {
		c.reps = slices.DeleteFunc(Message(in), func(r pagevm.Rep) bool { return r.Level == pagevm.Pointer })
	}
	c.add(pagevm.Pointer, "[not shown here: "+beginning(in.Text)+", "+sizeText(in.Bytes)+"; "+howToRead(in.Resolver, in.PageID)+"]")
	return c.reps
}

// Range is a part of a text, in bytes. If Tail is set, its end matters most, otherwise its
// beginning.
type Range struct {
	Start, End int
	Tail       bool
}

// ownWorth is the worth per byte of a preferred range. No other text is worth as much.
const ownWorth = 1e5

// prefer makes the units in the given ranges the first to be chosen. It begins at the end of each
// range that matters most.
func (s *scan) prefer(own []Range) {
	for _, r := range own {
		for i := range s.units {
			u := &s.units[i]
			if u.start >= r.End || u.end <= r.Start {
				continue
			}
			away := u.start - r.Start
			if r.Tail {
				away = r.End - u.end
			}
			u.base += ownWorth / float32(2+max(away, 0)/100) * float32(u.end-u.start+24)
		}
	}
}
