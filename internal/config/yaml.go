package config

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// YAML returns a file that gives every setting its present value. A comment names the origin of
// each value.
func (c *Config) YAML() string {
	var b strings.Builder
	c.write(&b, "", func(indent string, k Key) {
		line := fmt.Sprintf("%s%s: %s", indent, short(k.Name), k.yaml())
		fmt.Fprintf(&b, "%-40s # %s\n", line, comment(c.Origin(k.Name).String()))
	})
	return b.String()
}

// Sample returns a file to start from. It holds every section, and every setting with its meaning
// and its default in comments. An unchanged sample changes no setting.
func Sample() string {
	var b strings.Builder
	b.WriteString("# Settings of memkernel with their defaults. Take the # before a key away to\n# change it.\n")
	Default().write(&b, "\n", func(indent string, k Key) {
		prose(&b, indent, k.meaning()+" ("+k.Accepts()+")")
		fmt.Fprintf(&b, "%s#%s: %s\n", indent, short(k.Name), k.yaml())
	})
	return b.String()
}

// write writes the sections, and calls setting to write each setting. The parameter gap precedes
// the sections and settings at the top of the file.
func (c *Config) write(b *strings.Builder, gap string, setting func(indent string, k Key)) {
	for _, k := range c.tree() {
		indent := strings.Repeat("  ", strings.Count(k.Name, "."))
		if indent == "" {
			b.WriteString(gap)
		}
		if !k.section {
			setting(indent, k)
			continue
		}
		if k.Doc != "" {
			prose(b, indent, k.Doc)
		}
		fmt.Fprintf(b, "%s%s:\n", indent, short(k.Name))
	}
}

// sampleColumns is the width of comments.
const sampleColumns = 78

// prose writes a comment, broken between words.
func prose(b *strings.Builder, indent, text string) {
	line := indent + "#"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > sampleColumns {
			b.WriteString(line + "\n")
			line = indent + "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// comment returns a text on one line, without control characters.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, s)
}

// meaning returns the doc with the meaning of the zero value.
func (k Key) meaning() string {
	if k.Empty == "" {
		return k.Doc
	}
	zero := `""`
	switch {
	case k.value.CanInt(), k.value.CanFloat():
		zero = "0"
	case kindOf(k.value).noun == "list of text":
		zero = "[]"
	}
	return fmt.Sprintf("%s %s: %s.", k.Doc, zero, k.Empty)
}

// yaml returns the value on one line of a file.
func (k Key) yaml() string {
	if !slices.Contains(kindOf(k.value).tags, "!!str") || k.value.CanInt() {
		return k.String()
	}
	n := quoted(k.String())
	if list, ok := k.value.Interface().([]string); ok {
		n = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, s := range list {
			n.Content = append(n.Content, quoted(s))
		}
	}
	out, err := yaml.Marshal(n)
	if err != nil {
		return `""` // text that is not UTF-8, which no file can hold
	}
	return strings.TrimSuffix(string(out), "\n")
}

// quoted returns s as a YAML string on one line.
func quoted(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	if strings.ContainsAny(s, "\n\r") || n.Style == yaml.LiteralStyle {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}
