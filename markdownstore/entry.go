package markdownstore

import (
	"path"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
)

// findMarker looks for the marker of an entry, alone on its line. It returns where the line begins
// and ends, with its line end.
func findMarker(text, id string) (start, end int, ok bool) {
	marker := markerPrefix + id + markerSuffix
	for {
		i := strings.Index(text[end:], marker)
		if i < 0 {
			return 0, 0, false
		}
		start = end + i
		end = start + len(marker)
		rest, _, _ := strings.Cut(text[end:], "\n")
		if (start == 0 || text[start-1] == '\n') && strings.TrimSpace(rest) == "" {
			return start, min(end+len(rest)+1, len(text)), true
		}
	}
}

// findEntry looks for the marker of an entry, and cites the text above the marker.
func findEntry(path, text, id, entry string) (memkernel.Ref, bool) {
	start, _, ok := findMarker(text, id)
	if !ok {
		return memkernel.Ref{}, false
	}
	if above, ok := endsWith(text[:start], entry); ok {
		return cite(path, text, start-above, entry, above), true
	}
	return citeAbove(path, text, start), true
}

// endsWith reports whether text ends with the lines of entry, and returns the size of these lines with
// their line ends.
func endsWith(text, entry string) (int, bool) {
	for _, e := range [...]string{entry + "\n", toDOS(entry) + "\r\n"} {
		if strings.HasSuffix(text, e) && (len(text) == len(e) || text[len(text)-len(e)-1] == '\n') {
			return len(e), true
		}
	}
	return 0, false
}

// cite cites n bytes of text from start, without the last line end.
func cite(path, text string, start int, entry string, n int) memkernel.Ref {
	line := 1 + strings.Count(text[:start], "\n")
	return memkernel.Ref{
		Path: path, StartLine: line, EndLine: line + strings.Count(entry, "\n"),
		Hash: hashOf(strings.TrimRight(text[start:start+n], "\r\n")),
	}
}

// citeAbove cites the entry whose marker begins at an offset. The entry's text begins after the
// previous marker, or after the heading or front matter above it.
func citeAbove(path, text string, marker int) memkernel.Ref {
	d := Parse(path, text[:marker])
	units := Units(d)
	first := len(units)
	for first > 0 {
		if k := units[first-1].Kind; k == UnitMarker || k == UnitHeading && units[first-1].Level == 1 {
			break
		}
		first--
	}
	if first == len(units) {
		line := strings.Count(text[:marker], "\n") + 1
		return memkernel.Ref{Path: path, StartLine: line, EndLine: line, Hash: hashOf("")}
	}
	start, end := units[first].Start, units[len(units)-1].End
	entry := strings.TrimRight(text[start:end], "\r\n")
	return cite(path, text, start, entry, end-start)
}

// entryText returns a text in the form in which Append writes it.
func entryText(text string) string {
	var b strings.Builder
	text = strings.ReplaceAll(text, "\r\n", "\n")
	b.WriteString(EscapeMarkers("", strings.Trim(text, "\n")))
	if fence := openFence(b.String()); fence != "" {
		b.WriteString("\n" + fence)
	}
	return b.String()
}

// EscapeMarkers puts a backslash before the lines of a text that look like the marker of an entry,
// except lines that are already in before, the file's text before the change.
func EscapeMarkers(before, text string) string {
	if !strings.Contains(text, markerPrefix) {
		return text
	}
	stood := map[string]int{}
	for line := range strings.Lines(before) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, markerPrefix) {
			stood[line]++
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " \t")
		if strings.HasPrefix(bare, markerPrefix) {
			if stood[strings.TrimSpace(bare)]--; stood[strings.TrimSpace(bare)] < 0 {
				line = line[:len(line)-len(bare)] + `\` + bare
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// Unmarked replaces the markers of entries in a text by empty lines.
func Unmarked(text string) string {
	if !strings.Contains(text, markerPrefix) {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if markerID(strings.TrimSpace(l)) != "" {
			lines[i] = ""
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// openFence returns the line that closes the code fence that a text leaves open, "" if none is
// open.
func openFence(text string) string {
	sc := scanner{text: text}
	sc.scan(0, 1)
	if sc.fence.char == 0 {
		return ""
	}
	return strings.Repeat(" ", sc.fence.column) + strings.Repeat(string(sc.fence.char), sc.fence.length)
}

// compose returns the bytes that must be appended to old to add an entry.
func compose(pl place, old, id, text string) string {
	block := text + "\n" + markerPrefix + id + markerSuffix + "\n"
	dos := isDOS(old)
	if dos {
		block = toDOS(block)
	}
	if torn := tornTail(old, block); torn > 0 {
		return block[torn:]
	}
	lead := "\n"
	switch {
	case old == "" && pl.class.Kind == KindDaily:
		lead = "# " + pl.class.Date + "\n\n"
	case old == "" || old == bom:
		lead = ""
	case !strings.HasSuffix(old, "\n"):
		lead = "\n\n"
	}
	if dos {
		lead = toDOS(lead)
	}
	return lead + block
}

// tornTail returns the number of bytes of a block that an interrupted append left at the end of a file.
// The caller then appends only the rest. tornTail ignores less than a line.
func tornTail(old, block string) int {
	line := strings.IndexByte(block, '\n') + 1
	for n := min(len(old), len(block)-1); n >= line; n-- {
		if (n == len(old) || old[len(old)-n-1] == '\n') && strings.HasSuffix(old, block[:n]) {
			return n
		}
	}
	return 0
}

// blockForm matches the beginning of a text that is a block of Markdown already: an item, a
// heading, a quote, a fence or a table.
var blockForm = textutil.LazyRegexp("^(?:[-*+][ \\t]|\\d+[.)][ \\t]|#{1,6}[ \\t]|>|```|~~~|\\|)")

// itemForm matches the mark with which an item of a list begins, with its box.
var itemForm = textutil.LazyRegexp(`^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)

// Item returns an entry that is a list item with the mark of the item like, or no item if like is
// none. Further lines of the text are indented, so that they belong to the item. If the text begins
// with a Markdown block, the mark is left out.
func Item(like, text string) string {
	mark := markOf(like)
	if text = entryText(strings.TrimSpace(text)); blockForm.MatchString(text) || mark == "" {
		return text
	}
	lines := strings.Split(text, "\n")
	for i := range lines[1:] {
		if l := &lines[i+1]; *l != "" {
			*l = strings.Repeat(" ", len(mark)) + *l
		}
	}
	return mark + strings.Join(lines, "\n")
}

// markOf returns the mark with which an item of a list begins, "" if a text is not an item.
func markOf(text string) string { return itemForm.FindString(text) }

// Grown returns the text of a file with an entry at its end, and the first line of the entry. A
// new file gets a heading. An item continues the list at the end of the file.
func Grown(p, text, entry string) (grown string, line int) {
	lead := strings.TrimRight(text, " \t\n")
	last := lead[strings.LastIndexByte(lead, '\n')+1:]
	switch c, _ := Classify(p); {
	case strings.TrimPrefix(lead, bom) != "" && markOf(last) != "" && markOf(entry) != "":
		lead += "\n"
	case strings.TrimPrefix(lead, bom) != "":
		lead += "\n\n"
	case c.Kind == KindDaily:
		lead += "# " + c.Date + "\n\n"
	default:
		name := []rune(strings.ToLower(strings.ReplaceAll(strings.TrimSuffix(path.Base(p), path.Ext(p)), "-", " ")))
		lead += "# " + strings.ToUpper(string(name[:1])) + string(name[1:]) + "\n\n"
	}
	return lead + entry + "\n", strings.Count(lead, "\n") + 1
}
