package consolidation

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/kernel/health"
	"github.com/memkernel/memkernel/markdownstore"
)

// Touch is a change of text whose author is not known to be an agent, a tool or upkeep.
type Touch struct {
	Path               string
	StartLine, EndLine int
	Text               string
	// Why is the effect of the change on the text.
	Why string
}

func (t *Touch) Error() string {
	return fmt.Sprintf("%s: a person wrote this, or it isn't known who did, and it %s", health.Lines(t.Path, t.StartLine, t.EndLine), t.Why)
}

// Touches returns the first effect of a change of a file on people's text, nil if there is none.
// Every piece of people's text must stay as it is written, in its order and below its headings.
// It must be rendered as before, and still count as a person's.
func (r Record) Touches(path, before, after string) *Touch {
	was, is := r.parts(path, before), r.parts(path, after)
	touch := func(p *part, why string) *Touch {
		return &Touch{Path: path, StartLine: p.start, EndLine: p.end, Text: p.text, Why: why}
	}
	if p := missing(was.people(), is.people()); p != nil {
		if slices.ContainsFunc(is.parts, func(q *part) bool { return q.text == p.text && !q.person() }) {
			return touch(p, "would no longer be told from what agents wrote")
		}
		return touch(p, "would be changed or taken out")
	}
	if p := missing(was.rendered(), is.rendered()); p != nil {
		return touch(p, "would be read otherwise than it is now, or stand below another heading")
	}
	return nil
}

// Machines returns the authors of the lines of a file that an agent, a tool or upkeep wrote, by
// the [LineHash] of the line.
func (r Record) Machines(path, text string) map[string]Origin {
	out := map[string]Origin{}
	all := r.parts(path, text)
	lines := strings.Split(all.text, "\n")
	for _, p := range all.parts {
		for _, l := range lines[p.start-1 : p.end] {
			if strings.TrimSpace(l) != "" && !p.person() {
				out[LineHash(l)] = p.origin
			}
		}
	}
	return out
}

// With returns a record that also has the authors in said, for lines of the file at path. The keys of
// said are the [LineHash] of the lines. An author that r knows takes precedence.
func (r Record) With(path string, said map[string]Origin) Record {
	was := r.Said
	r.Said = func(p, hash string) (o Origin) {
		if was != nil {
			o = was(p, hash)
		}
		if o == "" && p == path {
			o = said[hash]
		}
		return o
	}
	return r
}

// part is a piece of a file with its author. A piece is an entry, a heading, code or front
// matter.
type part struct {
	start, end int // lines
	text       string
	origin     Origin
}

func (p *part) person() bool { return !p.origin.Machine() }

// parted is a file in pieces, in order, with unix line ends.
type parted struct {
	path, text string
	parts      []*part
}

func (r Record) parts(path, text string) *parted {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\xef\xbb\xbf")
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	doc := markdownstore.Parse(path, text)
	out := &parted{path: path, text: text}
	add := func(start int, text string, o Origin) {
		text = strings.TrimRight(text, " \t\n")
		out.parts = append(out.parts, &part{start, start + strings.Count(text, "\n"), strings.TrimSpace(text), o})
	}
	if doc.Binary {
		add(1, text, OriginUnknown)
		return out
	}
	if doc.FrontMatter != "" {
		add(1, doc.FrontMatter, r.said(path, doc.FrontMatter))
	}
	f := &file{Path: path, Class: doc.Class, Entries: entriesOf(doc)}
	for _, u := range markdownstore.Units(doc) {
		raw := text[u.Start:u.End]
		if u.Kind == markdownstore.UnitMarker || strings.TrimSpace(raw) == "" {
			continue
		}
		o := r.said(path, raw)
		for _, e := range f.Entries {
			if e.Start >= u.Start && e.End <= u.End {
				o = r.originOf(f, e.ID, e.Text)
			}
		}
		add(u.StartLine, raw, o)
	}
	return out
}

// block is a text that must still be in the file after a change.
type block struct {
	of  *part  // the piece that the text belongs to, nil if no person wrote it
	key string // the words of the piece, or the rendering of a block in it
}

// people returns the pieces that people wrote.
func (s *parted) people() (out []block) {
	for _, p := range s.parts {
		if p.person() {
			out = append(out, block{p, p.text})
		}
	}
	return out
}

// rendered returns the blocks as they are read, with the headings above them.
func (s *parted) rendered() []block {
	all := leaves(s.path, s.text)
	var trail [7]string
	out := make([]block, len(all))
	for i, l := range all {
		last := strings.Count(s.text, "\n")
		if i+1 < len(all) {
			last = max(all[i+1].line-1, l.line) // of several on a line, as the cells of a table's row
		}
		if p := slices.IndexFunc(s.parts, func(p *part) bool { return p.person() && p.start <= last && p.end >= l.line }); p >= 0 {
			out[i].of = s.parts[p]
		}
		level, _ := strconv.Atoi(strings.TrimPrefix(l.in, "/Heading")) // 0 if it is none
		if level > 0 {
			clear(trail[level:])
		}
		out[i].key = l.in + "\x00" + l.html + "\x00" + strings.Join(trail[:], "\x00")
		if level > 0 {
			trail[level] = l.html
		}
	}
	return out
}

// missing returns the first piece by a person whose block in was is not in is, in the same order.
func missing(was, is []block) *part {
	for _, b := range was {
		if b.of == nil {
			continue
		}
		i := slices.IndexFunc(is, func(q block) bool { return q.key == b.key })
		if i < 0 {
			return b.of
		}
		is = is[i+1:]
	}
	return nil
}
