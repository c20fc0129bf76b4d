package markdownstore

import "fmt"

// frontKeys are the front matter by which a file is found too.
var frontKeys = []string{"title", "name", "aliases", "alias", "tags", "keywords", "topics", "category", "summary", "description"}

// Keywords returns the values of the front matter by which the document is found in addition to
// its text, one value on each line.
func (d Document) Keywords() string {
	var out []byte
	for _, key := range frontKeys {
		switch v := d.Meta[key].(type) {
		case nil:
		case []any:
			for _, e := range v {
				out = fmt.Appendln(out, e)
			}
		case map[string]any:
		default:
			out = fmt.Appendln(out, v)
		}
	}
	return string(out)
}
