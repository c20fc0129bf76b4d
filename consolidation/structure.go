package consolidation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// commonMark reads and renders as the readers of memory do: CommonMark with tables and
// tasks. HTML is rendered as it is written, so that it can be compared.
var commonMark = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table, extension.TaskList, extension.Strikethrough), goldmark.WithRendererOptions(html.WithUnsafe()))
})

// leaf is a rendered block that contains no other blocks.
type leaf struct {
	rendering
	line int
}

// rendering is equal for leaves that are rendered alike.
type rendering struct {
	// in has the kinds of the blocks around the leaf, with the markers of lists, and the leaf's
	// own kind. html is the leaf's content with its links resolved.
	in, html string
}

// leaves returns the leaves of a file, in order, without front matter. Blank lines between the
// items of a list make no difference to a paragraph in the list, since they change when an item
// leaves.
func leaves(path, raw string) []leaf {
	d := markdownstore.Parse(path, strings.ReplaceAll(raw, "\r\n", "\n"))
	w := &leafWalk{source: []byte(d.Body), md: commonMark(), first: d.BodyLine}
	w.walk(w.md.Parser().Parse(text.NewReader(w.source)), "")
	return w.out
}

type leafWalk struct {
	source []byte
	md     goldmark.Markdown
	first  int // the line of the file that the source begins with
	at     int // how far lines are counted
	out    []leaf
}

func (w *leafWalk) walk(n ast.Node, in string) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		kind := in + "/" + c.Kind().String()
		switch l := c.(type) {
		case *ast.List:
			kind += string(l.Marker)
		case *ast.TextBlock:
			kind = in + "/Paragraph"
		case *ast.Heading:
			kind += fmt.Sprint(l.Level)
		case *ast.LinkReferenceDefinition:
			continue // its definitions are in the links
		}
		if f := c.FirstChild(); f != nil && f.Type() == ast.TypeBlock {
			w.walk(c, kind)
			continue
		}
		if b := c.Lines(); b != nil && b.Len() > 0 {
			if start := b.At(0).Start; start >= w.at {
				w.first, w.at = w.first+bytes.Count(w.source[w.at:start], []byte("\n")), start
			}
		}
		w.out = append(w.out, leaf{rendering{kind, w.render(c)}, w.first})
	}
}

// render returns the content of a block as HTML.
func (w *leafWalk) render(n ast.Node) string {
	var b bytes.Buffer
	if n.FirstChild() == nil {
		if err := w.md.Renderer().Render(&b, w.source, n); err != nil {
			return err.Error()
		}
	}
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if err := w.md.Renderer().Render(&b, w.source, c); err != nil {
			return err.Error()
		}
	}
	return strings.TrimSpace(b.String())
}

// reshapes returns how a change affects the meaning of the text, "" if it doesn't. The remaining
// text must be rendered as before and in its order, and new text must be rendered as it is by
// itself. left are the blocks that leave.
func (c *Change) reshapes(left []string) string {
	before := leaves(c.Path, c.Before)
	if c.Add != "" {
		after := leaves(c.Path, strings.TrimRight(c.Before, "\r\n")+"\n\n"+c.Add)
		for i, l := range append(slices.Clone(before), leaves(c.Path, c.Add)...) {
			if i >= len(after) || l.rendering != after[i].rendering {
				return changes(l)
			}
		}
		return ""
	}
	after, gone, added := leaves(c.Path, c.Text), c.counted(append(slices.Clone(left), c.gone...)), c.counted(c.added)
	for _, l := range before {
		for len(after) > 0 && (after[0].ours() || added[after[0].rendering] > 0) && l.rendering != after[0].rendering {
			added[after[0].rendering]--
			after = after[1:]
		}
		switch {
		case len(after) > 0 && l.rendering == after[0].rendering:
			after = after[1:]
		case gone[l.rendering] > 0:
			gone[l.rendering]--
		case !l.ours() && !goesAlong.MatchString(l.in):
			return changes(l)
		}
	}
	for _, l := range after {
		if added[l.rendering]--; !l.ours() && added[l.rendering] < 0 {
			return changes(l)
		}
	}
	return ""
}

// counted returns how often blocks have each leaf.
func (c *Change) counted(blocks []string) map[rendering]int {
	out := map[rendering]int{}
	for _, b := range blocks {
		for _, l := range leaves(c.Path, b) {
			out[l.rendering]++
		}
	}
	return out
}

func changes(l leaf) string {
	return fmt.Sprintf("line %d, %q, would be rendered otherwise", l.line, clip(oneLine(l.html), 60))
}

// goesAlong matches the kinds of blocks that leave with the block that they name.
var goesAlong = textutil.LazyRegexp(`/(?:Heading[^/]*|ThematicBreak)$`)

// ours reports whether a block is one that a pruning writes.
func (l rendering) ours() bool {
	return strings.HasPrefix(l.html, "<!-- mk:") || strings.HasPrefix(l.html, "<!-- moved to ") || strings.HasPrefix(l.html, moreMark)
}

// Reshaped returns the files of a pruning whose rendering would change, with the reason. Either
// the remaining text would be rendered otherwise, or additions would not be rendered as written,
// as after unclosed code.
func (p *Pruning) Reshaped() map[string]string {
	left := map[string][]string{}
	for _, m := range p.Moves {
		left[m.From] = append(left[m.From], m.Text)
	}
	out := map[string]string{}
	for _, c := range p.Changes {
		if what := c.reshapes(left[c.Path]); c.Before != "" && what != "" {
			out[c.Path] = what
		}
	}
	return out
}

// endsOpen reports whether text appended to a file would be taken for something else, such as a
// part of unclosed code.
func (r *pruner) endsOpen(path string) bool {
	open, known := r.open[path]
	if f := r.snap.File(path); !known && f != nil && f.Doc.Raw != "" {
		open = (&Change{Path: path, Before: f.Doc.Raw, Add: "<!-- end -->\n"}).reshapes(nil) != ""
		r.open[path] = open
	}
	return open
}

// refDefinition matches the definition of a reference in a file, [label]: destination. A match
// that is not a definition only keeps the references to its label in their place.
var refDefinition = textutil.LazyRegexp(`(?m)^[ \t>*+-]*\[([^\]\n]+)\]:`)

// bound keeps definitions and uses of references in their file.
func bound(f *file, ps []*piece) {
	var labels []string
	for _, m := range refDefinition.FindAllStringSubmatch(f.Doc.Raw, -1) {
		labels = append(labels, "["+strings.ToLower(oneLine(m[1]))+"]")
	}
	for _, p := range ps {
		text := strings.ToLower(oneLine(p.text))
		p.may = p.may && !slices.ContainsFunc(labels, func(l string) bool { return strings.Contains(text, l) })
	}
}

// starts returns the lines at which the outermost blocks and items of lists of a document begin,
// with their kinds.
func starts(d markdownstore.Document) map[int]ast.NodeKind {
	source := []byte(strings.ReplaceAll(d.Body, "\r\n", "\n"))
	out, line, at := map[int]ast.NodeKind{}, d.BodyLine, 0
	add := func(n ast.Node) {
		if pos := n.Pos(); pos >= at && pos <= len(source) {
			line, at = line+bytes.Count(source[at:pos], []byte("\n")), pos
			out[line] = n.Kind()
		}
	}
	root := commonMark().Parser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindList {
			add(n)
			continue
		}
		for i := n.FirstChild(); i != nil; i = i.NextSibling() {
			add(i)
		}
	}
	return out
}

// lossShare is the largest share of its lines that MEMORY.md may lose in one change.
const lossShare = .25

// LostLine is a line that a change takes out of a file.
type LostLine struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// Loss is the loss of text by a change of a file.
type Loss struct {
	Path string `json:"path"`
	// Lines is how many lines with content the file had.
	Lines int `json:"lines"`
	// Lost are the lines that are in no file any more.
	Lost []LostLine `json:"lost"`
	// Share is the share of the lines that are lost.
	Share float64 `json:"share"`
	// Limit is the largest allowed share.
	Limit float64 `json:"limit"`
	// Refused reports whether Share is above Limit.
	Refused bool `json:"refused"`
}

// FindLoss returns the lines of before that are not in after and for which found returns false.
// found must report whether a line is in any other place. Bullets, blanks and comments make no
// difference.
func FindLoss(path, before, after string, found func(line string) bool) *Loss {
	has := map[string]bool{}
	for l := range strings.SplitSeq(after, "\n") {
		has[LineKey(l)] = true
	}
	out := &Loss{Path: path, Lost: []LostLine{}, Limit: lossShare}
	n := 0
	for l := range strings.SplitSeq(before, "\n") {
		n++
		key := LineKey(l)
		if key == "" {
			continue
		}
		out.Lines++
		if !has[key] && (found == nil || !found(key)) {
			out.Lost = append(out.Lost, LostLine{n, strings.TrimSpace(l)})
		}
	}
	if out.Lines > 0 {
		out.Share = float64(len(out.Lost)) / float64(out.Lines)
	}
	out.Refused = out.Share > lossShare
	return out
}

// LineKey returns the text that identifies a line in any place. It returns "" for a rule, a
// marker, and a line without content.
func LineKey(l string) string { return strings.Trim(uncommented(l), " \t\r-*+#_=") }

// Says returns a function that reports whether any file except but holds a line, by the line's
// [LineKey].
func (s *Snapshot) Says(but string) func(key string) bool {
	has := sync.OnceValue(func() map[string]bool {
		out := map[string]bool{}
		for _, f := range s.Files {
			if f.Path != but && (f.Evergreen() || f.archived()) {
				for l := range strings.SplitSeq(f.Doc.Raw, "\n") {
					out[LineKey(l)] = true
				}
			}
		}
		return out
	})
	return func(key string) bool { return has()[key] }
}
