package consolidation

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/markdownstore"
)

// qualifies reports whether a text restricts the text before it. Such a text says nothing alone,
// and the text before it means something else without it.
func qualifies(text string) bool { return startOf(text)&(cueExcept|cueOpening) != 0 }

// restricts reports whether a heading or a lead limits when or whether the text below it holds.
func restricts(text string) bool { return cuesOf(text)&(cueOnly|cueExcept) != 0 }

// governed returns an entry with the text of its file that governs it: the lead of its list or
// the heading above, if they restrict it, and an item, a nested block or a paragraph right after
// it that does so. The result is nil for an entry that only restricts another entry.
func governed(f *file, i int) *Entry {
	e := f.Entries[i]
	if qualifies(e.Plain) && i > 0 && sameTrail(f.Entries[i-1], e) && !leads(f.Entries[i-1].Plain) {
		return nil
	}
	text := e.Plain
	for j := i + 1; !leads(text) && j < len(f.Entries) && sameTrail(e, f.Entries[j]) && qualifies(f.Entries[j].Plain); j++ {
		text = strings.TrimRight(text, " ;,")
		text += ending(text) + " " + f.Entries[j].Plain
	}
	lead := leadOf(f, i)
	if n := len(e.Trail); lead == "" && n > 0 {
		if h := strings.TrimRight(oneLine(e.Trail[n-1]), " :："); restricts(h) && !tagging(h) {
			lead = h + ":"
		}
	}
	if lead != "" {
		text = lead + " " + text
	}
	if text == e.Plain {
		return e
	}
	whole := *e
	whole.Plain = text
	return &whole
}

// ending returns the sign that a text lacks to end a sentence.
func ending(text string) string {
	if last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " *_`)\"'")); strings.ContainsRune(".。!?:", last) {
		return ""
	}
	return "."
}

func sameTrail(a, b *Entry) bool { return a.Path == b.Path && slices.Equal(a.Trail, b.Trail) }

// leadOf returns the paragraph that introduces the list of an item and restricts it, "" if no
// paragraph does.
func leadOf(f *file, i int) string {
	if f.Entries[i].Kind != markdownstore.UnitItem {
		return ""
	}
	for j := i - 1; j >= 0 && sameTrail(f.Entries[j], f.Entries[i]); j-- {
		if e := f.Entries[j]; e.Kind != markdownstore.UnitItem {
			if lead := strings.TrimSpace(e.Plain); leads(lead) && restricts(lead) && !tagging(lead) {
				return lead
			}
			return ""
		}
	}
	return ""
}

// tagging reports whether a label or a heading only means the same as a tag.
func tagging(label string) bool {
	return headed(label)&(headDecision|headLesson) != 0 && !telling(label)
}
