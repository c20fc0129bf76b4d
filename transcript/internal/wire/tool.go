package wire

import (
	"cmp"
	"strings"

	"github.com/memkernel/memkernel"
)

// toolDef is a tool definition taken apart.
type toolDef struct {
	typ, name, description, schema, strict string
	nested                                 bool // {"type":"function","function":{…}}
}

func readTool(raw string) toolDef {
	var d toolDef
	c := Scan(raw)
	d.read(&c)
	return d
}

func (d *toolDef) read(c *Cursor) {
	for k := range c.Fields {
		switch k {
		case "type":
			d.typ = c.Str()
		case "name":
			d.name = c.Str()
		case "description":
			d.description = c.Str()
		case "input_schema", "parameters":
			d.schema = c.Raw()
		case "strict":
			d.strict = c.Raw()
		case "custom":
			d.name = cmp.Or(c.Text("name"), d.name)
		case "function":
			typ := d.typ
			d.nested = true
			d.read(c)
			d.typ = typ
		}
	}
}

// plain reports whether the client runs the tool and JSON Schema describes it.
func (d *toolDef) plain() bool {
	return d.name != "" && (d.typ == "" || d.typ == "function" || d.typ == "custom" && d.schema != "")
}

// ToolShape is how a definition is written.
type ToolShape int

const (
	// ToolFlat is {"type":"function","name","parameters"}, ToolNested the same within
	// {"type":"function","function":{…}}, ToolSchema {"name","input_schema"}.
	ToolFlat ToolShape = iota
	ToolNested
	ToolSchema
)

// shape returns in which shape a definition is.
func (d *toolDef) shape(raw string) ToolShape {
	switch {
	case d.nested:
		return ToolNested
	case strings.Contains(raw, `"input_schema"`) || strings.Contains(d.typ, "_20"):
		// Tools that a provider defines itself carry a date in their type.
		return ToolSchema
	}
	return ToolFlat
}

// appendTool appends a definition in a shape, nothing if it has none there: tools that
// another provider runs itself.
func appendTool(dst []byte, f ToolShape, t *memkernel.Tool) []byte {
	d := readTool(t.Raw)
	if d.shape(t.Raw) == f {
		return AppendClean(dst, t.Raw)
	}
	if !d.plain() {
		return dst
	}
	schema := d.schema
	if schema == "" {
		schema = `{"type":"object","properties":{}}`
	}
	switch f {
	case ToolSchema:
		dst = append(dst, `{"name":`...)
		dst = appendNamed(dst, &d)
		dst = append(dst, `,"input_schema":`...)
		return append(append(dst, schema...), '}')
	case ToolNested:
		dst = append(dst, `{"type":"function","function":{"name":`...)
	default:
		dst = append(dst, `{"type":"function","name":`...)
	}
	dst = appendNamed(dst, &d)
	dst = append(append(dst, `,"parameters":`...), schema...)
	if d.strict != "" {
		dst = append(append(dst, `,"strict":`...), d.strict...)
	} else if f == ToolFlat {
		dst = append(dst, `,"strict":false`...)
	}
	if f == ToolNested {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// AppendFunction appends a definition as {"name","description","parameters"}, which is its own
// bytes where it is so already.
func AppendFunction(dst []byte, t *memkernel.Tool) []byte {
	d := readTool(t.Raw)
	if !d.plain() {
		return dst
	}
	if d.typ == "" && !d.nested && !strings.Contains(t.Raw, `"input_schema"`) {
		return AppendClean(dst, t.Raw)
	}
	dst = append(dst, `{"name":`...)
	dst = appendNamed(dst, &d)
	if d.schema != "" {
		dst = append(append(dst, `,"parameters":`...), d.schema...)
	}
	return append(dst, '}')
}

func appendNamed(dst []byte, d *toolDef) []byte {
	dst = AppendString(dst, d.name)
	if d.description != "" {
		dst = append(dst, `,"description":`...)
		dst = AppendString(dst, d.description)
	}
	return dst
}

// WriteTools writes the definitions; mark makes the marker member, if the format
// has one for tools.
func (r *Renderer) WriteTools(mark func(ttl string) string) {
	if len(r.Tools) == 0 {
		return
	}
	r.Member("tools")
	r.Dst = append(r.Dst, '[')
	for i := range r.Tools {
		t := &r.Tools[i]
		before := len(r.Dst)
		r.Dst = AppendListed(r.Dst, func(dst []byte) []byte {
			n := len(dst)
			dst = appendTool(dst, r.API.Tools, t)
			if ttl, ok := r.TTLAt(MarkerTools, i, len(r.Tools)); ok && mark != nil && len(dst) > n {
				dst = InsertMember(dst, mark(ttl))
			}
			return dst
		})
		if len(r.Dst) == before {
			r.Note("tool-not-sent", -1, nil, "tool "+t.Name+" has no form in this format")
		}
	}
	r.Dst = append(r.Dst, ']')
}
