package transcript

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
)

// toolDef holds the members of a tool definition.
type toolDef struct {
	typ, name, description string
	schema, strict         jsonText
	nested                 bool // {"type":"function","function":{…}}
}

func readTool(raw string) (d toolDef) {
	c := scan(raw)
	d.read(&c)
	return d
}

func (d *toolDef) read(c *cursor) {
	c.Read("type", &d.typ, "name", &d.name, "description", &d.description,
		"input_schema", &d.schema, "parameters", &d.schema, "strict", &d.strict,
		"custom", func() { d.name = cmp.Or(c.Text("name"), d.name) },
		"function", func() {
			typ := d.typ
			d.read(c)
			d.typ, d.nested = typ, true
		})
}

// plain reports whether the client runs the tool and JSON Schema describes it.
func (d *toolDef) plain() bool {
	return d.name != "" && (d.typ == "" || d.typ == "function" || d.typ == "custom" && d.schema != "")
}

// named returns the members for the tool's name and description.
func (d *toolDef) named() string {
	if d.description == "" {
		return string(put(nil, `"name":`, d.name))
	}
	return string(put(nil, `"name":`, d.name, `,"description":`, d.description))
}

// toolShape is the form of a tool definition.
type toolShape int

const (
	toolFlat   toolShape = iota // {"type":"function","name","parameters"}
	toolNested                  // {"type":"function","function":{"name","parameters"}}
	toolSchema                  // {"name","input_schema"}
)

// shape returns the form of a definition.
func (d *toolDef) shape(raw string) toolShape {
	switch {
	case d.nested:
		return toolNested
	case strings.Contains(raw, `"input_schema"`) || strings.Contains(d.typ, "_20"):
		// Tools that a provider defines itself carry a date in their type.
		return toolSchema
	}
	return toolFlat
}

// appendTool appends a definition in form f. It appends nothing for a tool that another provider
// runs, because such a tool has no other form.
func appendTool(dst []byte, f toolShape, t *memkernel.Tool) []byte {
	d := readTool(t.Raw)
	switch {
	case d.shape(t.Raw) == f:
		return AppendClean(dst, t.Raw)
	case !d.plain():
		return dst
	}
	members, schema := d.named(), string(cmp.Or(d.schema, `{"type":"object","properties":{}}`))
	if f == toolSchema {
		return append(dst, `{`+members+`,"input_schema":`+schema+`}`...)
	}
	members += `,"parameters":` + schema
	if d.strict != "" {
		members += `,"strict":` + string(d.strict)
	} else if f == toolFlat {
		members += `,"strict":false`
	}
	if f == toolNested {
		return append(dst, `{"type":"function","function":{`+members+`}}`...)
	}
	return append(dst, `{"type":"function",`+members+`}`...)
}

// appendFunction appends a definition as {"name","description","parameters"}. A definition that
// has this form keeps its bytes.
func appendFunction(dst []byte, t *memkernel.Tool) []byte {
	d := readTool(t.Raw)
	if !d.plain() {
		return dst
	}
	if d.typ == "" && !d.nested && !strings.Contains(t.Raw, `"input_schema"`) {
		return AppendClean(dst, t.Raw)
	}
	members := d.named()
	if d.schema != "" {
		members += `,"parameters":` + string(d.schema)
	}
	return append(dst, `{`+members+`}`...)
}

// writeTools writes the tool definitions. mark makes the member that marks a definition for the
// cache, and is nil if the format has none.
func (r *renderer) writeTools(mark func(ttl string) string) {
	if len(r.Tools) == 0 {
		return
	}
	r.member("tools")
	r.put("[")
	for i := range r.Tools {
		t := &r.Tools[i]
		written := r.list(func(dst []byte) []byte { return appendTool(dst, r.api.Tools, t) })
		if ttl, ok := r.ttlAt(MarkerTools, i, len(r.Tools)); ok && mark != nil && written {
			r.dst = insertMember(r.dst, mark(ttl))
		}
		if !written {
			r.note("tool-not-sent", -1, nil, "tool "+t.Name+" has no form in this format")
		}
	}
	r.put("]")
}

// deferred reports whether the model has to search for a tool before its definition becomes part of
// the prompt.
func deferred(raw string) bool { return memberOf(raw, "defer_loading") == "true" }
