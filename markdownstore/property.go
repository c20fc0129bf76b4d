package markdownstore

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/internal/textutil"
)

// A document has properties in its front matter (YAML, TOML or JSON), or in its first lines in the form
// of Logseq: "title:: Rolling deploys".
var (
	// nameKeys are the properties whose values are names of the document.
	nameKeys = []string{"title", "name", "aliases", "alias"}
	// subjectKeys are other properties by which a document is found.
	subjectKeys = []string{"tags", "keywords", "topics", "category", "summary", "description"}
	// settingKeys are properties that say how a document is treated. They don't say what it is
	// about.
	settingKeys = []string{"scope", "project", "status", "layout", "cssclass", "cssclasses", "publish", "draft", "superseded_by", "replaced_by"}
)

var (
	propertyLine = textutil.LazyRegexp(`^["']?([\p{L}_][\p{L}\p{N}_ .-]*?)["']?\s*[:=](?:\s|$)`)
	logseqLine   = textutil.LazyRegexp(`^(?:- )?([A-Za-z][\w-]*)::[ \t]+(\S.*)$`)
	linkMarks    = strings.NewReplacer("[[", "", "]]", "")
)

// Names returns the titles, names and aliases in the properties of a document.
func (d Document) Names() []string { return d.values(nameKeys) }

// Keywords returns the values by which a document is found in addition to its text, one on each
// line: its names, a blank line, and its tags, summary and the like. Without values it returns
// "".
func (d Document) Keywords() string {
	names, subjects := d.Names(), d.values(subjectKeys)
	if len(names)+len(subjects) == 0 {
		return ""
	}
	return strings.Join(append(append(names, ""), subjects...), "\n") + "\n"
}

// IsName reports whether the values of a property are names of the document.
func IsName(key string) bool { return slices.Contains(nameKeys, key) }

// values returns the values of some properties, each in one line.
func (d Document) values(keys []string) (out []string) {
	add := func(v any) {
		if text := strings.Join(strings.Fields(linkMarks.Replace(fmt.Sprint(v))), " "); text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	logseq := d.logseq()
	for _, key := range keys {
		switch v := d.Meta[key].(type) {
		case nil, map[string]any:
		case []any:
			for _, e := range v {
				add(e)
			}
		default:
			add(v)
		}
		if v := logseq[key]; key == "title" && v != "" {
			add(v)
		} else if v != "" {
			for part := range strings.SplitSeq(v, ",") {
				add(part)
			}
		}
	}
	return out
}

// logseq returns the Logseq properties in the first lines of the body, by their keys in lower case.
func (d Document) logseq() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(d.Body) {
		line = strings.TrimSpace(line)
		if line == "" && len(out) == 0 {
			continue
		}
		m := logseqLine.FindStringSubmatch(line)
		if m == nil {
			break
		}
		out[strings.ToLower(m[1])] = m[2]
	}
	return out
}

// properties divides the front matter of a document into units. Each property is a unit with all its
// lines. The delimiters, and properties whose values have no words, are units of kind UnitRule. It
// returns nil if no property has words.
func properties(d Document) (out []Unit) {
	at, number := len(d.BOM), 1
	add := func(kind UnitKind, label string, size int) {
		out = append(out, Unit{Kind: kind, Label: label, StartLine: number, EndLine: number, Start: at, End: at + size})
	}
	for line := range strings.Lines(d.FrontMatter) {
		m := propertyLine.FindStringSubmatch(line)
		switch {
		case m != nil:
			add(UnitProperty, strings.ToLower(m[1]), len(line))
		case len(out) > 0 && out[len(out)-1].Kind == UnitProperty && closers[strings.TrimSpace(line)] == "":
			u := &out[len(out)-1]
			u.EndLine, u.End = number, at+len(line)
		default:
			add(UnitRule, "", len(line))
		}
		at += len(line)
		number++
	}
	found := false
	for i := range out {
		u := &out[i]
		if u.Kind == UnitProperty && !wordy(u.Label, d.Raw[u.Start:u.End]) {
			u.Kind, u.Label = UnitRule, ""
		}
		found = found || u.Kind == UnitProperty
	}
	if !found {
		return nil
	}
	return out
}

// wordy reports whether a property has words about the subject of its document.
func wordy(key, text string) bool {
	if slices.Contains(settingKeys, key) {
		return false
	}
	named := slices.Contains(nameKeys, key)
	_, value, ok := strings.Cut(text, ":")
	if !ok {
		_, value, _ = strings.Cut(text, "=")
	}
	return slices.ContainsFunc(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t\r\n,[]\"'", r) }), func(w string) bool {
		return (named || !strings.ContainsAny(w, "0123456789")) && w != "true" && w != "false" && w != "null" && strings.Trim(w, "-{}|>~") != ""
	})
}

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

// statuses maps words for the status of a file to "done", for finished or abandoned work, or to
// "superseded", for a file that is no longer valid.
var statuses = map[string]string{
	"done": "done", "closed": "done", "completed": "done", "complete": "done", "finished": "done", "resolved": "done", "cancelled": "done", "canceled": "done", "abandoned": "done", "archived": "done",
	"superseded": "superseded", "deprecated": "superseded", "obsolete": "superseded", "replaced": "superseded",
}

// Over returns "" if the document is still valid as its front matter says. It returns "done" if the
// work that the document is about is finished or abandoned. If the document is no longer valid, it
// returns the name of its replacement, or "superseded" if the front matter names none.
func (d Document) Over() string {
	for _, key := range []string{"superseded_by", "superseded-by", "replaced_by", "replaced-by"} {
		if by := unlinked(firstOf(d.Meta[key])); by != "" {
			return by
		}
	}
	status, by, _ := strings.Cut(firstOf(d.Meta["status"]), " ")
	over := statuses[strings.ToLower(strings.Trim(status, ".!"))]
	if named := strings.TrimPrefix(by, "by "); over == "superseded" && named != by {
		return unlinked(named)
	}
	return over
}

// firstOf returns the first text in a value. A link [[name]] without quotes is a list of a list.
func firstOf(value any) string {
	for list, ok := value.([]any); ok && len(list) > 0; list, ok = value.([]any) {
		value = list[0]
	}
	text, _ := value.(string)
	return strings.Join(strings.Fields(text), " ")
}

// unlinked returns the target of a link. It returns any other text unchanged.
func unlinked(text string) string {
	if _, target, ok := strings.Cut(text, "]("); ok {
		return strings.TrimSuffix(target, ")")
	}
	return strings.Trim(text, "[]")
}
