package config

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Put gives a setting of a file's text a value. It changes nothing else: comments, order,
// indentation, line ends and other settings stay, except for comments inside an old value. The
// parameter key must be a setting's full name. value must be the setting's value as a file spells
// it on one line. name is the file's name. If the text is not a valid configuration, or the setting
// can't be put there, Put returns an [*Error] with the line in the way and the text to add by hand.
func Put(text []byte, name, key, value string) ([]byte, error) {
	before, err := Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	want := before.others(key)
	if at := before.Origin(key); at != (Origin{}) {
		text = without(text, key)
		if now, err := Read(bytes.NewReader(text), name); text == nil || err != nil || !slices.Equal(now.others(key), want) {
			return nil, &Error{Origin: at, Key: key, Err: errors.New("it can't be changed in this file"), Hint: "change it by hand, to " + value}
		}
	}
	at := placeOf(text, key)
	for _, try := range additions(text, at, value) {
		after, err := Read(bytes.NewReader(try), name)
		if err == nil && after.Origin(key) != (Origin{}) && slices.Equal(after.others(key), want) {
			return try, nil
		}
	}
	e := &Error{Origin: Origin{File: name, Line: 1}, Key: key, Err: errors.New("it can't be added to this file"), Hint: "add it by hand: " + strings.Join(at.block(value), ", below it ")}
	if at.key != nil {
		e.Origin.Line = at.key.Line
		e.Hint = fmt.Sprintf("add it by hand, below %s in line %d, where its own keys are: %s", at.key.Value, at.key.Line, at.line(value))
	}
	return nil, e
}

// without returns a text without the lines of a setting, nil if the setting shares its lines.
func without(text []byte, key string) []byte {
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return nil
	}
	in := doc.Content[0]
	names := strings.Split(key, ".")
	for len(names) > 0 && in.Kind == yaml.MappingNode && in.Style&yaml.FlowStyle == 0 {
		i := 0
		for i < len(in.Content) && in.Content[i].Value != names[0] {
			i += 2
		}
		if i >= len(in.Content) {
			return nil
		}
		from := in.Content[i].Line
		if in, names = in.Content[i+1], names[1:]; len(names) > 0 {
			continue
		}
		last := from
		for at := in; ; at = at.Content[len(at.Content)-1] {
			if last = max(last, at.Line); len(at.Content) == 0 {
				break
			}
		}
		return slices.Concat(text[:lineStart(text, from)], text[lineStart(text, last+1):])
	}
	return nil
}

// place is the place of a setting: the nearest mapping, and the names below it.
type place struct {
	// root is the whole document, nil if the text has no document. key and in are the key and the
	// value of the last existing section on the path to the setting, nil if there is none.
	root, key, in *yaml.Node
	rest          []string
}

// placeOf finds where a setting belongs.
func placeOf(text []byte, key string) place {
	p := place{rest: strings.Split(key, ".")}
	var doc yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || len(doc.Content) == 0 {
		return p
	}
	p.root = doc.Content[0]
	for in := p.root; in.Kind == yaml.MappingNode && len(p.rest) > 1; in = p.in {
		i := 0
		for i < len(in.Content) && in.Content[i].Value != p.rest[0] {
			i += 2
		}
		if i >= len(in.Content) {
			break
		}
		p.key, p.in, p.rest = in.Content[i], in.Content[i+1], p.rest[1:]
	}
	return p
}

// line returns the setting on one line, with the missing sections.
func (p *place) line(value string) string {
	last := len(p.rest) - 1
	line := p.rest[last] + ": " + value
	for _, name := range slices.Backward(p.rest[:last]) {
		line = name + ": {" + line + "}"
	}
	return line
}

// block returns the setting with the first missing section on a line of its own.
func (p *place) block(value string) []string {
	if len(p.rest) == 1 {
		return []string{p.line(value)}
	}
	below := place{rest: p.rest[1:]}
	return []string{p.rest[0] + ":", "  " + below.line(value)}
}

// others returns all settings except one, as text, and whether the file sets them.
func (c *Config) others(but string) []string {
	var out []string
	for _, k := range c.Keys() {
		if k.Name != but {
			out = append(out, fmt.Sprintf("%s: %s %t", k.Name, k.String(), c.Origin(k.Name) != Origin{}))
		}
	}
	return out
}

// additions returns the possible texts with the setting at its place, the best first. Not all of
// them are valid configurations.
func additions(text []byte, at place, value string) [][]byte {
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
	if at.key != nil {
		addTo(text, at.key, at.in, at.line(value), eol, put)
		return out
	}
	if at.root != nil && at.root.Kind == yaml.MappingNode && at.root.Style&yaml.FlowStyle != 0 {
		addFlow(text, at.root, at.line(value), put)
	}
	whole := strings.Join(at.block(value), eol) + eol
	put(len(text), whole)
	if i := bytes.LastIndex(text, []byte("\n...")); i >= 0 {
		put(i+1, whole) // the mark ends the document
	}
	if at.root != nil && len(at.root.Content) > 0 {
		first := at.root.Content[0]
		put(lineStart(text, first.Line), whole)
		indent := strings.Repeat(" ", max(0, first.Column-1))
		put(len(text), indent+strings.Join(at.block(value), eol+indent)+eol)
		put(lineStart(text, first.Line), indent+strings.Join(at.block(value), eol+indent)+eol)
	}
	return out
}

// addTo adds a line to an existing section, right below the section's name, so that comments stay
// above their keys.
func addTo(text []byte, k, v *yaml.Node, line, eol string, put func(int, string)) {
	switch {
	case v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle != 0:
		addFlow(text, v, line, put)
	case v.Kind == yaml.MappingNode && len(v.Content) > 0:
		first := v.Content[0]
		line = strings.Repeat(" ", first.Column-1) + line + eol
		put(lineStart(text, k.Line+1), line)
		put(lineStart(text, first.Line), line)
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
	// Columns count characters. The mapping's brace is the first brace at or after its column.
	skip := len(string([]rune(string(text[at:]))[:cmp.Or(m.Column-1, 0)]))
	if j := bytes.IndexByte(text[at+skip:], '{'); j >= 0 {
		i = skip + j
	}
	put(at+i+1, entry)
}

// lineStart returns the offset of a line, counted from 1, or the length of the text if the text
// has fewer lines. It uses YAML's line ends.
func lineStart(text []byte, line int) int {
	at := 0
	for line > 1 && at < len(text) {
		r, n := utf8.DecodeRune(text[at:])
		at += n
		switch r {
		case '\r':
			if at < len(text) && text[at] == '\n' {
				at++
			}
			line--
		case '\n', 0x85, 0x2028, 0x2029:
			line--
		}
	}
	return at
}

// List spells a list as in a file.
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
