package markdownstore

import (
	"path"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// blockForm matches the beginning of a text that is a block of Markdown already: an item, a
// heading, a quote, a fence or a table.
var blockForm = textutil.LazyRegexp("^(?:[-*+][ \\t]|\\d+[.)][ \\t]|#{1,6}[ \\t]|>|```|~~~|\\|)")

// itemForm matches the mark with which an item of a list begins, with its box.
var itemForm = textutil.LazyRegexp(`^[ \t]*(?:[-*+]|\d+[.)])[ \t]+(?:\[[ xX]\][ \t]+)?`)

// Item returns a text as an entry that begins with the given mark of an item. A text that is a
// block of Markdown stays as it is. Of a text of several lines, the others are indented, so that
// all lines belong to one item.
func Item(mark, text string) string {
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

// MarkOf returns the mark with which an item of a list begins, "" if a text is not an item.
func MarkOf(text string) string { return itemForm.FindString(text) }

// Grown returns the text of a file with an entry at its end, and the first line of the entry. A
// new file gets a heading. An item continues the list at the end of the file.
func Grown(p, text, entry string) (grown string, line int) {
	lead := strings.TrimRight(text, " \t\n")
	last := lead[strings.LastIndexByte(lead, '\n')+1:]
	switch c, _ := Classify(p); {
	case strings.TrimPrefix(lead, bom) != "" && MarkOf(last) != "" && MarkOf(entry) != "":
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
