package main

import (
	"fmt"
	"strconv"
	"strings"
)

const made = "Made by bench/clients from doc/schema.json. Don't edit."

func (p *protocol) typescript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\nimport type { CallOptions } from \"./index.js\";\n", made)
	for _, o := range p.objects {
		b.WriteString("\n")
		if o.doc != "" {
			fmt.Fprintf(&b, "/** %s */\n", o.doc)
		}
		if len(o.fields) == 0 {
			fmt.Fprintf(&b, "export type %s = Record<string, never>;\n", o.name)
			continue
		}
		fmt.Fprintf(&b, "export interface %s {\n", o.name)
		for _, f := range o.fields {
			if f.doc != "" {
				fmt.Fprintf(&b, "  /** %s */\n", f.doc)
			}
			mark := "?"
			if f.always {
				mark = ""
			}
			fmt.Fprintf(&b, "  %s%s: %s;\n", tsName(f.name), mark, f.shape.in(typescript))
		}
		b.WriteString("}\n")
	}
	b.WriteString("\n/** What every method takes and answers, by its name on the wire. */\nexport interface Methods {\n")
	for _, m := range p.methods {
		fmt.Fprintf(&b, "  %s: { params: %s; result: %s };\n", tsName(m.name), m.params.name, m.result.name)
	}
	b.WriteString("}\n\n/** A call of every method. */\nexport interface Calls {\n")
	for _, m := range p.methods {
		mark := "?"
		if len(m.params.needs()) > 0 {
			mark = ""
		}
		fmt.Fprintf(&b, "  /** %s */\n  %s(params%s: %s, options?: CallOptions): Promise<%s>;\n", title(m.doc), camel(m.name), mark, m.params.name, m.result.name)
	}
	b.WriteString("}\n")
	return b.String()
}

func tsName(name string) string {
	if strings.ContainsAny(name, ".-/$ ") {
		return strconv.Quote(name)
	}
	return name
}

func (p *protocol) javascript() string {
	var b strings.Builder
	fmt.Fprintf(&b, "// %s\n\n// The methods of the protocol, by their names in camel case.\nexport const METHODS = {\n", made)
	for _, m := range p.methods {
		fmt.Fprintf(&b, "  %s: %q,\n", camel(m.name), m.name)
	}
	b.WriteString("};\n")
	return b.String()
}
