package represent

import (
	"cmp"
	"strings"
)

// Change returns the content that a workspace file did not have when it was shown: the sections
// (a heading with its text) that are new or changed, verbatim, and the names of the removed
// sections. The result is at most about limit bytes long. If it would be longer, Change reduces
// the sections to the lines that [Bootstrap] keeps. If they are still too long, Change cuts them
// and says so in the text.
func Change(name, old, now string, limit int) string {
	name = cmp.Or(name, "unknown")
	if now == "" {
		return "[" + name + " no longer exists in the workspace: what was shown of it is out of date.]"
	}
	fresh, gone := changedSections(old, now)
	head := "[" + name + " changed in the workspace. These parts of it are new or changed; they stand in the place of what was shown before:]\n"
	if old == "" {
		head = "[" + name + " is new in the workspace:]\n"
	}
	body := strings.Join(fresh, "")
	if len(body) > limit {
		body = outlineText("", outline(body))
	}
	if len(body) > limit {
		cut := strings.LastIndexByte(body[:limit], '\n') + 1
		body = body[:cut] + "[… " + plural(strings.Count(body[cut:], "\n")+1, "line") + " more: read " + name + "]\n"
	}
	if len(gone) > 0 {
		body = strings.TrimRight(body, "\n") + "\n[no longer there: " + clip(strings.Join(gone, "; "), 400) + "]"
	}
	return head + strings.TrimRight(body, "\n")
}

// changedSections compares two texts by their sections: the sections of now that old does not
// have, and the headings of old that now does not have.
func changedSections(old, now string) (fresh, gone []string) {
	had, has := map[string]bool{}, map[string]bool{}
	for _, s := range Sections(old) {
		had[strings.TrimSpace(s.Text)] = true
	}
	for _, s := range Sections(now) {
		has[s.Heading] = true
		if text := strings.TrimSpace(s.Text); text != "" && !had[text] {
			fresh = append(fresh, s.Text)
		}
	}
	for _, s := range Sections(old) {
		if s.Heading != "" && !has[s.Heading] {
			gone = append(gone, s.Heading)
		}
	}
	return fresh, gone
}

// Section is a heading of a Markdown text with its text, up to the next heading of whatever
// depth.
type Section struct {
	// Heading is the heading without its marks, "" for the text before the first one.
	Heading string
	// Text is the section with its heading line. The texts of all sections in order make up the
	// whole text.
	Text string
}

// Sections cuts a Markdown text at its headings.
func Sections(text string) []Section {
	var out []Section
	start, heading := 0, ""
	end := func(at int) {
		if at > start {
			out = append(out, Section{Heading: heading, Text: text[start:at]})
		}
	}
	for l := range eachLine(text) {
		if l.heading > 0 {
			end(l.start)
			start, heading = l.start, strings.TrimSpace(strings.Trim(strings.TrimSpace(l.text), "#"))
		}
	}
	end(len(text))
	return out
}
