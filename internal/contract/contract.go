// Package contract holds the JSON documents of a program against the page that describes
// them. It is for tests only.
package contract

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Member is a member of a document as a page describes it.
type Member struct {
	types    []string
	optional bool
}

var (
	docSection = regexp.MustCompile(`(?m)^## (memkernel/\w+/v\d+)$`)
	docRow     = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([a-z ]+)(\\??) \\|")
)

// Read returns the tables of a page by schema.
func Read(t *testing.T, page string) map[string]map[string]Member {
	t.Helper()
	data, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	heads := docSection.FindAllStringSubmatchIndex(text, -1)
	out := map[string]map[string]Member{}
	for i, h := range heads {
		end := len(text)
		if i+1 < len(heads) {
			end = heads[i+1][0]
		}
		members := map[string]Member{}
		for _, m := range docRow.FindAllStringSubmatch(text[h[0]:end], -1) {
			members[m[1]] = Member{types: strings.Split(m[2], " or "), optional: m[3] == "?"}
		}
		out[text[h[2]:h[3]]] = members
	}
	return out
}

// anyKeys are objects whose members depend on the input, or that are described
// elsewhere.
var anyKeys = []string{"messages", "layout.made", "categories", "intervals", "compare.categories", "compare.intervals", "known_items", "plain", "kinds"}

// Members lists the paths of a document with the types seen there.
func Members(v any, path string, out map[string][]string) {
	add := func(p string, v any) {
		if typ := typeOf(v); !slices.Contains(out[p], typ) {
			out[p] = append(out[p], typ)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			p := strings.TrimPrefix(path+"."+k, ".")
			add(p, e)
			if !slices.Contains(anyKeys, p) && !strings.HasSuffix(p, "fault_codes") && !strings.HasSuffix(p, "not_compared") && !strings.HasSuffix(p, "totals.unplanned") {
				Members(e, p, out)
			}
		}
	case []any:
		for _, e := range v {
			Members(e, path+"[]", out)
		}
	}
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}

// Compare fails the test for every member of doc that want lacks or describes with another
// type, and for every member of want that doc must have and lacks.
func Compare(t *testing.T, name string, doc map[string]any, want map[string]Member) {
	t.Helper()
	got := map[string][]string{}
	Members(doc, "", got)
	for path, types := range got {
		d, ok := want[path]
		if !ok {
			t.Errorf("%s: member %s is not documented", name, path)
			continue
		}
		for _, typ := range types {
			if !slices.Contains(d.types, typ) {
				t.Errorf("%s: member %s is a %s, its page says %v", name, path, typ, d.types)
			}
		}
	}
	for path, d := range want {
		if _, ok := got[path]; !ok && !d.optional {
			t.Errorf("%s: member %s is missing", name, path)
		}
	}
}
