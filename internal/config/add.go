package config

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Put gives a setting of a section a value in a file's text. It changes nothing else: comments,
// order, indentation, line ends and other settings stay, except for comments inside an old value.
// The parameter key must be a setting's full name. value must be the setting's value as a file
// spells it on one line. name is the file's name. If the text is not a valid configuration, or the
// setting can't be put there, as below a section in braces, Put returns an [*Error] with the line
// in the way and the text to add by hand.
func Put(text []byte, name, key, value string) ([]byte, error) {
	before, err := Read(bytes.NewReader(text), name)
	if err != nil {
		return nil, err
	}
	head, own, _ := strings.Cut(key, ".")
	eol, line, below := "\n", 1, ""
	if bytes.Contains(text, []byte("\r\n")) {
		eol = "\r\n"
	}
	at, to := len(text), len(text) // where the new lines go, and where an old value ends
	from, add := at, head+":"+eol+"  "+own+": "+value+eol
	var doc yaml.Node
	_ = yaml.Unmarshal(text, &doc) // Read has parsed it
	if k, v := member(&doc, head); k != nil {
		indent := k.Column + 1
		if v.Kind == yaml.MappingNode && len(v.Content) > 0 {
			indent = v.Content[0].Column - 1
		}
		line, below = k.Line, fmt.Sprintf(", below %s in line %d", head, k.Line)
		at = lineStart(text, k.Line+1)
		from, to, add = at, at, strings.Repeat(" ", indent)+own+": "+value+eol
		if k, v := member(v, own); k != nil {
			from, to = lineStart(text, k.Line), lineStart(text, lastLine(k, v)+1)
		}
	}
	if at > 0 && text[at-1] != '\n' {
		add = eol + add
	}
	out := slices.Concat(text[:at], []byte(add), text[at:max(at, from)], text[max(at, to):])
	after, err := Read(bytes.NewReader(out), name)
	if err != nil || after.Origin(key) == (Origin{}) || !slices.Equal(after.others(key), before.others(key)) {
		return nil, &Error{Origin: Origin{File: name, Line: line}, Key: key, Err: errors.New("it can't be put into this file"), Hint: "put it there by hand" + below + ": " + own + ": " + value}
	}
	return out, nil
}

// member returns the key and the value of a name in a mapping or a document, nil if it has none.
func member(n *yaml.Node, name string) (key, value *yaml.Node) {
	if n.Kind == yaml.DocumentNode {
		n = n.Content[0]
	}
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == name {
			return n.Content[i], n.Content[i+1]
		}
	}
	return nil, nil
}

// lastLine returns the last line of a setting.
func lastLine(k, v *yaml.Node) int {
	last := max(k.Line, v.Line)
	for len(v.Content) > 0 {
		v = v.Content[len(v.Content)-1]
		last = max(last, v.Line)
	}
	return last
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

// lineEnd matches YAML's line ends.
var lineEnd = regexp.MustCompile(`\r\n|[\n\r\x{85}\x{2028}\x{2029}]`)

// lineStart returns the offset of a line, counted from 1, or the length of the text if the text
// has fewer lines.
func lineStart(text []byte, line int) int {
	if line <= 1 {
		return 0
	}
	ends := lineEnd.FindAllIndex(text, line-1)
	if len(ends) < line-1 {
		return len(text)
	}
	return ends[line-2][1]
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
