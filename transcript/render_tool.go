package transcript

import (
	"strings"

	"github.com/memkernel/memkernel"
)

// toolDef is a tool definition taken apart.
type toolDef struct {
	typ, name, description, schema, strict string
	nested                                 bool // openai's {"type":"function","function":{…}}
}

func readTool(raw string) toolDef {
	var d toolDef
	c := scan(raw)
	d.read(&c)
	return d
}

func (d *toolDef) read(c *cursor) {
	for k := range c.fields {
		switch k {
		case "type":
			d.typ = c.str()
		case "name":
			d.name = c.str()
		case "description":
			d.description = c.str()
		case "input_schema", "parameters":
			d.schema = c.raw()
		case "strict":
			d.strict = c.raw()
		case "function":
			typ := d.typ
			d.nested = true
			d.read(c)
			d.typ = typ
		default:
			c.skip()
		}
	}
}

// plain tells whether the client runs the tool and JSON Schema describes it.
func (d *toolDef) plain() bool {
	return d.name != "" && (d.typ == "" || d.typ == "function" || d.typ == "custom" && d.schema != "")
}

// toolShape tells in which format's shape a definition is.
func (d *toolDef) shape(raw string) Format {
	switch {
	case d.nested:
		return FormatOpenAI
	case strings.Contains(raw, `"input_schema"`) || strings.Contains(d.typ, "_20"):
		// Anthropic's own tools carry a date in their type.
		return FormatAnthropic
	}
	return FormatResponses
}

// appendTool appends a definition in a format, nothing if it has no place
// there: tools that another provider runs itself.
func appendTool(dst []byte, f Format, t *memkernel.Tool) []byte {
	d := readTool(t.Raw)
	if d.shape(t.Raw) == f {
		return appendClean(dst, t.Raw)
	}
	if !d.plain() {
		return dst
	}
	schema := d.schema
	if schema == "" {
		schema = `{"type":"object","properties":{}}`
	}
	switch f {
	case FormatAnthropic:
		dst = append(dst, `{"name":`...)
		dst = appendNamed(dst, &d)
		dst = append(dst, `,"input_schema":`...)
		return append(append(dst, schema...), '}')
	case FormatOpenAI:
		dst = append(dst, `{"type":"function","function":{"name":`...)
	default:
		dst = append(dst, `{"type":"function","name":`...)
	}
	dst = appendNamed(dst, &d)
	dst = append(append(dst, `,"parameters":`...), schema...)
	if d.strict != "" {
		dst = append(append(dst, `,"strict":`...), d.strict...)
	} else if f == FormatResponses {
		dst = append(dst, `,"strict":false`...)
	}
	if f == FormatOpenAI {
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

func appendNamed(dst []byte, d *toolDef) []byte {
	dst = appendString(dst, d.name)
	if d.description != "" {
		dst = append(dst, `,"description":`...)
		dst = appendString(dst, d.description)
	}
	return dst
}

func (r *renderer) anthropicTools() { r.tools(cacheControl) }

// tools writes the definitions; mark makes the marker member, if the format
// has one for tools.
func (r *renderer) tools(mark func(ttl string) string) {
	if len(r.req.Tools) == 0 {
		return
	}
	r.member("tools")
	r.dst = append(r.dst, '[')
	for i := range r.req.Tools {
		t := &r.req.Tools[i]
		before := len(r.dst)
		r.dst = appendListed(r.dst, func(dst []byte) []byte {
			n := len(dst)
			dst = appendTool(dst, r.format, t)
			if ttl, ok := r.ttlAt(MarkerTools, i, len(r.req.Tools)); ok && mark != nil && len(dst) > n {
				dst = insertMember(dst, mark(ttl))
			}
			return dst
		})
		if len(r.dst) == before {
			r.note("tool-not-sent", -1, nil, "tool "+t.Name+" has no form in this format")
		}
	}
	r.dst = append(r.dst, ']')
}
