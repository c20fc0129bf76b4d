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
// else: comments, order and line ends stay. The key is a setting's full name, the value as
// a file has it. A text that is no configuration, and one to which it can't be added, are
// an [*Error] that has the lines to be added by hand; name is the file's.
func Add(text []byte, name, key, value string) ([]byte, error) {
	before, err := Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	if before.Origin(key) != (Origin{}) {
		return text, nil
	}
	want := before.values(key)
	at := deepest(text, strings.Split(key, "."))
	for _, try := range at.additions(text, value) {
		after, err := Read(bytes.NewReader(try), name)
		if err == nil && after.Origin(key) != (Origin{}) && slices.Equal(after.values(key), want) {
			return try, nil
		}
	}
	e := &Error{Origin: Origin{File: name}, Key: key, Err: errors.New("it can't be added to this file"), Hint: "add it by hand: " + entry(at.rest, value)}
	if at.key != nil {
		e.Origin.Line = at.key.Line
		e.Hint = fmt.Sprintf("add it by hand, below %s: %s", strings.TrimSuffix(key, "."+strings.Join(at.rest, ".")), entry(at.rest, value))
	}
	return nil, e
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

// place is where a setting belongs in a file: the innermost of its sections that is there,
// and the names that are missing below it.
type place struct {
	root       *yaml.Node // of the document, nil if it is empty
	key, value *yaml.Node // the section's, nil if no section of the setting is there
	rest       []string
}

// deepest finds the place of a setting in a text that is YAML.
func deepest(text []byte, path []string) place {
	at := place{rest: path}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return at
	}
	at.root = doc.Content[0]
	for in := at.root; in != nil && in.Kind == yaml.MappingNode && len(at.rest) > 1; in = at.value {
		i := 0
		for i < len(in.Content) && in.Content[i].Value != at.rest[0] {
			i += 2
		}
		if i >= len(in.Content) {
			break
		}
		at.key, at.value, at.rest = in.Content[i], in.Content[i+1], at.rest[1:]
	}
	return at
}

// entry spells a setting on one line.
func entry(path []string, value string) string {
	last := len(path) - 1
	return strings.Join(path, ": {") + ": " + value + strings.Repeat("}", last)
}

// additions are the ways to add what is missing, the best first. Not all of them are
// configurations.
func (p place) additions(text []byte, value string) [][]byte {
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
	if p.key != nil {
		addTo(text, p.key, p.value, entry(p.rest, value), eol, put)
		return out
	}
	if p.root != nil && p.root.Kind == yaml.MappingNode && p.root.Style&yaml.FlowStyle != 0 {
		addFlow(text, p.root, entry(p.rest, value), put)
	}
	whole := p.rest[0] + ":" + eol + "  " + entry(p.rest[1:], value) + eol
	put(len(text), whole)
	if p.root != nil && len(p.root.Content) > 0 {
		put(lineStart(text, p.root.Content[0].Line), whole) // what follows ends the document
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
