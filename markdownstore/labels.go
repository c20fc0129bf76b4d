package markdownstore

import (
	"slices"
	"strings"
	"unicode"
)

// TagMark begins a label that is a tag, and ProjectMark a label that is a project. A label
// without a mark is a scope.
const (
	TagMark     = "#"
	ProjectMark = "@"
)

// maxLabels bounds the labels of a document.
const maxLabels = 64

// Labels returns the names by which a search can select the document: the values of scope,
// project and tags in the front matter, and the tags in the text, such as #ops. All are in lower
// case.
func (d Document) Labels() []string {
	var out []string
	add := func(mark, name string) {
		name = strings.Trim(strings.ToLower(strings.Join(strings.Fields(name), " ")), `[]"'#/`)
		if name != "" && len(out) < maxLabels && !slices.Contains(out, mark+name) {
			out = append(out, mark+name)
		}
	}
	for _, key := range []struct {
		mark  string
		names []string
	}{{"", []string{"scope", "scopes"}}, {ProjectMark, []string{"project", "projects"}}, {TagMark, []string{"tags", "tag"}}} {
		for _, v := range d.values(key.names) {
			// Names are separated by commas, and tags also by blanks.
			for _, name := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || key.mark == TagMark && unicode.IsSpace(r) }) {
				add(key.mark, name)
			}
		}
	}
	for _, t := range tagsIn(d.Body) {
		add(TagMark, t)
	}
	return out
}

// tagsIn returns the tags of a text that are outside code: a # after a blank or at the beginning
// of a line, then a letter.
func tagsIn(text string) (tags []string) {
	fenced := false
	for line := range strings.Lines(text) {
		if t := strings.TrimSpace(line); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
		}
		if fenced || strings.IndexByte(line, '#') < 0 {
			continue
		}
		for _, w := range strings.Fields(line) {
			name, ok := strings.CutPrefix(w, TagMark)
			end := strings.IndexFunc(name, func(r rune) bool {
				return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-/", r)
			})
			if end >= 0 {
				name = name[:end]
			}
			if ok && strings.IndexFunc(name, unicode.IsLetter) == 0 {
				tags = append(tags, name)
			}
		}
	}
	return tags
}
