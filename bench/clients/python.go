package main

import (
	"fmt"
	"go/token"
	"slices"
	"strings"
)

// reserved lists the keywords of Python that may be names of members in the protocol.
var reserved = []string{"from", "import", "class", "def", "pass", "global", "is", "in", "not", "and", "or", "None", "True", "False", "lambda", "with", "as", "del", "except", "raise", "yield", "async", "await"}

func pyName(name string) string {
	if slices.Contains(reserved, name) {
		return name + "_"
	}
	return strings.ReplaceAll(name, ".", "_")
}

func (p *protocol) python() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\"\"\"What the methods of the protocol take and answer.\"\"\"\n\nfrom typing import Any, Dict, List, Literal, Mapping, Optional, Sequence, TypedDict, Union\n", made)
	for _, o := range p.objects {
		if sameAsKeywords(p, o) {
			continue
		}
		always, may := o.needs(), o.mayHave()
		switch {
		case len(o.fields) == 0:
			pyClass(&b, o.name, "TypedDict", o.doc, nil)
		case len(may) == 0:
			pyClass(&b, o.name, "TypedDict", o.doc, always)
		case len(always) == 0:
			pyClass(&b, o.name, "TypedDict, total=False", o.doc, may)
		default:
			pyClass(&b, "_"+o.name, "TypedDict", "", always)
			pyClass(&b, o.name, "_"+o.name+", total=False", o.doc, may)
		}
	}
	return b.String()
}

// sameAsKeywords reports whether an object holds the parameters of a method. Python passes these as
// keyword arguments.
func sameAsKeywords(p *protocol, o *object) bool {
	return slices.ContainsFunc(p.methods, func(m method) bool { return m.params == o })
}

func pyClass(b *strings.Builder, name, base, doc string, fields []field) {
	if slices.ContainsFunc(fields, func(f field) bool { return !token.IsIdentifier(f.name) || slices.Contains(reserved, f.name) }) {
		base, total, _ := strings.Cut(base, ", ")
		if total != "" {
			total = ", " + total
		}
		whole := name
		if base != "TypedDict" {
			name = "_May" + name
		}
		fmt.Fprintf(b, "\n%s = TypedDict(\n    %q,\n    {\n", name, name)
		for _, f := range fields {
			fmt.Fprintf(b, "        %q: %s,\n", f.name, f.shape.in(python))
		}
		fmt.Fprintf(b, "    }%s,\n)\n", total)
		if name != whole {
			pyClass(b, whole, base+", "+name, doc, nil)
		}
		return
	}
	fmt.Fprintf(b, "\n\nclass %s(%s):\n", name, base)
	if doc != "" {
		fmt.Fprintf(b, "    \"\"\"%s\"\"\"\n\n", doc)
	}
	if len(fields) == 0 {
		b.WriteString("    pass\n")
	}
	for _, f := range fields {
		fmt.Fprintf(b, "    %s: %s\n", f.name, f.shape.in(python))
	}
}

// pythonMethods returns a class of all methods for each of the two clients, the blocking one and
// the asynchronous one.
func (p *protocol) pythonMethods() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\"\"\"Every method of the protocol, to be waited for and to be awaited.\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Union\n\nfrom . import _protocol as p\n\nOnProgress = Optional[Callable[[Dict[str, Any]], None]]\n", made)
	b.WriteString(`

def _said(params: Dict[str, Any]) -> Dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
`)
	for _, c := range []struct{ class, def, wait, doc string }{
		{"Methods", "def", "", "The methods; each waits for its answer."},
		{"AsyncMethods", "async def", "await ", "The methods; each is awaited."},
	} {
		fmt.Fprintf(&b, "\n\nclass %s:\n    \"\"\"%s\"\"\"\n\n    %s call(self, method: str, params: Optional[Dict[str, Any]] = None, *, timeout: Optional[float] = None, on_progress: OnProgress = None) -> Any:\n        raise NotImplementedError\n", c.class, c.doc, c.def)
		for _, m := range p.methods {
			if m.name == "initialize" {
				continue // connecting calls this method
			}
			var signature, members []string
			star := false
			for _, f := range append(m.params.needs(), m.params.mayHave()...) {
				switch {
				case f.name == "deadline_ms":
					continue // the argument timeout holds this member
				case f.always:
					signature = append(signature, pyName(f.name)+": "+quotedTypes(f.shape.in(python)))
				default:
					if !star {
						signature, star = append(signature, "*"), true
					}
					signature = append(signature, fmt.Sprintf("%s: Optional[%s] = None", pyName(f.name), quotedTypes(f.shape.in(python))))
				}
				members = append(members, fmt.Sprintf("%q: %s", f.name, pyName(f.name)))
			}
			if !star {
				signature = append(signature, "*")
			}
			signature = append(signature, "timeout: Optional[float] = None")
			more := ""
			if slices.ContainsFunc(m.params.fields, func(f field) bool { return f.name == "progress" }) {
				signature, more = append(signature, "on_progress: OnProgress = None"), ", on_progress=on_progress"
			}
			fmt.Fprintf(&b, "\n    %s %s(self, %s) -> p.%s:\n        \"\"\"%s.\"\"\"\n", c.def, pyName(m.name), strings.Join(signature, ", "), m.result.name, title(m.doc))
			if more != "" {
				b.WriteString("        if progress is None and on_progress is not None:\n            progress = True\n")
			}
			fmt.Fprintf(&b, "        return %sself.call(%q, _said({%s}), timeout=timeout%s)\n", c.wait, m.name, strings.Join(members, ", "), more)
		}
	}
	return b.String()
}

// quotedTypes replaces the quoted names of types in a Python type by references to module p.
func quotedTypes(s string) string {
	var out strings.Builder
	for i, part := range strings.Split(s, `"`) {
		// Words of a Literal are in quotes too, but only a type's name begins with a capital
		// letter.
		switch {
		case i%2 == 0:
			out.WriteString(part)
		case part != "" && part[0] >= 'A' && part[0] <= 'Z':
			out.WriteString("p." + part)
		default:
			out.WriteString(`"` + part + `"`)
		}
	}
	return out.String()
}
