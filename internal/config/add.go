package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Add adds a setting to the text of a file that does not have it, and changes nothing
// else: comments, order and line ends stay. The key is a setting's full name of two
// or three parts, the value as a file has it. A text that is no configuration, and one to which it
// can't be added, are an [*Error] that has the lines to be added by hand; name is the file's.
func Add(text []byte, name, key, value string) ([]byte, error) {
	before, err := Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	if before.Origin(key) != (Origin{}) {
		return text, nil
	}
	section, short, _ := strings.Cut(key, ".")
	line := short + ": " + value
	if outer, inner, ok := strings.Cut(short, "."); ok {
		line = outer + ": {" + inner + ": " + value + "}"
	}
	want := before.values(key)
	for _, try := range additions(text, section, line) {
		after, err := Read(bytes.NewReader(try), name)
		if err == nil && after.Origin(key) != (Origin{}) && slices.Equal(after.values(key), want) {
			return try, nil
		}
	}
	return nil, &Error{Origin: Origin{File: name}, Key: key, Err: errors.New("it can't be added to this file"),
		Hint: fmt.Sprintf("add it by hand, below %s: %s", section, line)}
}

// values are all settings but one, as text.
func (c *Config) values(but string) []string {
	var out []string
	for _, k := range c.Keys() {
		if k.Name != but {
			out = append(out, k.Name+": "+k.String())
		}
	}
	return out
}

// additions are the ways to add a line to a section, the best first. Not all of them are
// configurations.
func additions(text []byte, section, line string) [][]byte {
	eol := "\n"
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	var out [][]byte
	put := func(at int, more string) {
		if at > 0 && at == len(text) && text[at-1] != '\n' {
			more = eol + more
		}
		out = append(out, slices.Concat(text[:at], []byte(more), text[at:]))
	}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil {
		return nil
	}
	var root *yaml.Node
	if len(doc.Content) > 0 {
		root = doc.Content[0]
	}
	whole := section + ":" + eol + "  " + line + eol
	if root != nil && root.Kind == yaml.MappingNode {
		if root.Style&yaml.FlowStyle != 0 {
			addFlow(text, root, section+": {"+line+"}", put)
		}
		for i := 0; i+1 < len(root.Content); i += 2 {
			if k, v := root.Content[i], root.Content[i+1]; k.Value == section {
				addTo(text, k, v, line, eol, put)
			}
		}
	}
	put(len(text), whole)
	if root != nil && len(root.Content) > 0 {
		put(lineStart(text, root.Content[0].Line), whole) // what follows ends the document
	}
	return out
}

// addTo adds a line to a section that is there.
func addTo(text []byte, k, v *yaml.Node, line, eol string, put func(int, string)) {
	switch {
	case v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle != 0:
		addFlow(text, v, line, put)
	case v.Kind == yaml.MappingNode && len(v.Content) > 0:
		first := v.Content[0]
		put(lineStart(text, first.Line), strings.Repeat(" ", first.Column-1)+line+eol)
	default:
		put(lineStart(text, k.Line+1), strings.Repeat(" ", k.Column+1)+line+eol)
	}
}

// addFlow adds to a mapping in braces.
func addFlow(text []byte, m *yaml.Node, entry string, put func(int, string)) {
	at := lineStart(text, m.Line)
	i := bytes.IndexByte(text[at:], '{')
	if i < 0 {
		return
	}
	if len(m.Content) > 0 {
		entry += ", "
	}
	// Columns count characters; the brace of the mapping is the first at or behind it.
	skip := len(string([]rune(string(text[at:]))[:cmp.Or(m.Column-1, 0)]))
	if j := bytes.IndexByte(text[at+skip:], '{'); j >= 0 {
		i = skip + j
	}
	put(at+i+1, entry)
}

// lineStart is where a line begins, counted from 1; the end of the text if it has fewer.
func lineStart(text []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return len(text)
		}
		at += n + 1
	}
	return at
}

// List spells a list as a file has it.
func List(values []string) string {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, v := range values {
		q := quoted(v)
		q.Style = yaml.DoubleQuotedStyle
		n.Content = append(n.Content, q)
	}
	out, err := yaml.Marshal(n)
	if err != nil {
		return "[]" // text that is not UTF-8, which no file can hold
	}
	return strings.TrimSuffix(string(out), "\n")
}
