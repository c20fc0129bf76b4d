package settings

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// YAML is the text of a file with its parsed values. Edits add lines at the end and remove lines.
// After every edit it parses the new text and compares it with the intended values.
type YAML struct {
	path string
	text string
	tree map[string]any
}

// ParseYAML reads a file. A missing or blank file has no content. ParseYAML returns an error with
// the line if the file is not a mapping.
func ParseYAML(path string, data []byte) (*YAML, error) {
	d := &YAML{path: path, text: string(data)}
	var err error
	if d.tree, err = readYAML(d.text); err != nil {
		e := &Error{Path: path, Err: fmt.Errorf("it is no YAML that can be edited: %w", err)}
		if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
			e.Line, _ = strconv.Atoi(m[1]) // digits
			e.Err = fmt.Errorf("it is no YAML that can be edited: %s", strings.TrimSpace(m[2]))
		}
		return nil, e
	}
	return d, nil
}

// yamlLine matches the line number in an error of the parser.
var yamlLine = regexp.MustCompile(`(?s)line (\d+): (.*)`)

func readYAML(text string) (map[string]any, error) {
	var doc any
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, string(byteOrderMark))), &doc); err != nil {
		return nil, err
	}
	switch tree := doc.(type) {
	case nil:
		return map[string]any{}, nil
	case map[string]any:
		return tree, nil
	}
	return nil, errors.New("line 1: it holds no mapping")
}

// Bytes returns the file.
func (d *YAML) Bytes() []byte { return []byte(d.text) }

// Value returns the value below these keys, or nil if there is no such value.
func (d *YAML) Value(keys ...string) any {
	var at any = d.tree
	for _, k := range keys {
		m, _ := at.(map[string]any)
		at = m[k]
	}
	return at
}

// Add puts the line "KEY: VALUE # NOTE" at the end of the file. The file must not have the key
// yet.
func (d *YAML) Add(key, value, note string) error {
	eol, text := textEOL([]byte(d.text)), d.text
	if strings.TrimPrefix(text, string(byteOrderMark)) != "" && !strings.HasSuffix(text, "\n") {
		text += eol
	}
	want := maps.Clone(d.tree)
	want[key] = value
	if !d.take(text+yamlEntry(key, value, note)+eol, want) {
		return &Error{Path: d.path, Err: fmt.Errorf("%s can't be put behind what there is", key)}
	}
	return nil
}

// Drop removes a line that [YAML.Add] wrote, if it is there.
func (d *YAML) Drop(key, value, note string) error {
	lines := strings.SplitAfter(d.text, "\n")
	for i, line := range lines {
		if strings.TrimPrefix(strings.TrimRight(line, " \t\r\n"), string(byteOrderMark)) != yamlEntry(key, value, note) {
			continue
		}
		want := maps.Clone(d.tree)
		delete(want, key)
		lead := ""
		if strings.HasPrefix(line, string(byteOrderMark)) {
			lead = string(byteOrderMark)
		}
		if !d.take(strings.Join(lines[:i], "")+lead+strings.Join(lines[i+1:], ""), want) {
			return &Error{Path: d.path, Line: i + 1, Err: errors.New("the line can't be taken out")}
		}
		return nil
	}
	return nil
}

func yamlEntry(key, value, note string) string { return key + ": " + value + " # " + note }

func (d *YAML) take(text string, want map[string]any) bool {
	tree, err := readYAML(text)
	if err != nil || !reflect.DeepEqual(tree, want) {
		return false
	}
	d.text, d.tree = text, tree
	return true
}
