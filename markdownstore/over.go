package markdownstore

import "strings"

// statuses are the words for the status of a file whose work is done or put away, or that no longer holds.
var statuses = map[string]string{
	"done": "done", "closed": "done", "completed": "done", "complete": "done", "finished": "done", "resolved": "done", "cancelled": "done", "canceled": "done", "abandoned": "done", "archived": "done",
	"superseded": "superseded", "deprecated": "superseded", "obsolete": "superseded", "replaced": "superseded",
}

// Over returns the front matter's word on whether the document still holds: "" if it does, "done"
// if its work is done or put away, the name of its replacement, or "superseded" if it no longer holds and names
// none.
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

// unlinked returns the target of a link, or another text as it is.
func unlinked(text string) string {
	if _, target, ok := strings.Cut(text, "]("); ok {
		return strings.TrimSuffix(target, ")")
	}
	return strings.Trim(text, "[]")
}
