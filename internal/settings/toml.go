package settings

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
	"gopkg.in/yaml.v3"
)

// TOML is the text of a file with its parsed values. After every edit it parses the new text and
// compares it with the intended values, so that text that only looks like a table, such as in a
// string of several lines, is never taken for one.
type TOML struct {
	path string
	text string
	tree map[string]any
}

// ParseTOML reads a file. A missing or blank file has no content. ParseTOML returns an error with
// the line if the file is not valid TOML.
func ParseTOML(path string, data []byte) (*TOML, error) {
	d := &TOML{path: path, text: string(data)}
	var err error
	if d.tree, err = readTOML(d.text); err != nil {
		e := &Error{Path: path, Err: fmt.Errorf("it is no TOML that can be edited: %w", err)}
		var at toml.ParseError
		if errors.As(err, &at) {
			e.Line, e.Err = at.Position.Line, fmt.Errorf("it is no TOML that can be edited: %s", at.Message)
		}
		return nil, e
	}
	return d, nil
}

func readTOML(text string) (tree map[string]any, err error) {
	tree = map[string]any{}
	_, err = toml.Decode(strings.TrimPrefix(text, string(byteOrderMark)), &tree)
	return tree, err
}

// Bytes returns the file.
func (d *TOML) Bytes() []byte { return []byte(d.text) }

// Table returns the table NAME in the table PARENT, nil if there is no such table.
func (d *TOML) Table(parent, name string) map[string]any {
	p, _ := d.tree[parent].(map[string]any)
	t, _ := p[name].(map[string]any)
	return t
}

// Text returns the string under a path of names, where all names but the last name nested tables.
// It returns "" if there is no such string.
func (d *TOML) Text(names ...string) string {
	var at any = d.tree
	for _, name := range names {
		t, _ := at.(map[string]any)
		at = t[name]
	}
	s, _ := at.(string)
	return s
}

// Add puts a table PARENT.NAME with the fields of a struct at the end of the file.
func (d *TOML) Add(parent, name string, fields any) error {
	eol, text := textEOL([]byte(d.text)), d.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += eol
	}
	if strings.TrimSpace(text) != "" {
		text += eol
	}
	lines, values, err := d.lines(fields)
	if err != nil {
		return err
	}
	want := d.copy()
	p, ok := want[parent].(map[string]any)
	if !ok {
		p = map[string]any{}
		want[parent] = p
	}
	p[name] = values
	// A table that is written as a value can't be extended, and not every parser reports this.
	if d.assigned(parent) || !d.take(text+"["+parent+"."+name+"]"+eol+lines, want) {
		return &Error{Path: d.path, Err: fmt.Errorf("a table %s.%s can't be put behind what there is", parent, name)}
	}
	return nil
}

// lines returns the lines of a table, and its values as the parser gives them.
func (d *TOML) lines(fields any) (string, map[string]any, error) {
	data, err := toml.Marshal(fields)
	if err != nil {
		return "", nil, err
	}
	values, err := readTOML(string(data))
	return strings.ReplaceAll(string(data), "\n", textEOL([]byte(d.text))), values, err
}

// copy returns the file's values, which the caller may change.
func (d *TOML) copy() map[string]any {
	tree, _ := readTOML(d.text) // the text is valid, since every edit parses it
	return tree
}

// assigned reports whether a line gives a name a value.
func (d *TOML) assigned(name string) bool {
	for line := range strings.Lines(d.text) {
		if key, _, ok := strings.Cut(line, "="); ok && strings.Trim(strings.TrimSpace(key), `"'`) == name {
			return true
		}
	}
	return false
}

// Set gives a key of the table PARENT.NAME another value. The table must have the key.
func (d *TOML) Set(parent, name, key string, value any) error {
	line, values, err := d.lines(map[string]any{key: value})
	if err != nil {
		return err
	}
	want := d.copy()
	want[parent].(map[string]any)[name].(map[string]any)[key] = values[key]
	lines := strings.SplitAfter(d.text, "\n")
	for i, old := range lines {
		k, _, ok := strings.Cut(old, "=")
		if !ok || strings.Trim(strings.TrimSpace(k), `"'`) != key {
			continue
		}
		lead := old[:len(old)-len(strings.TrimLeft(old, " \t"))]
		for j := i + 1; j <= len(lines); j++ {
			if d.take(strings.Join(lines[:i], "")+lead+line+strings.Join(lines[j:], ""), want) {
				return nil
			}
		}
	}
	return &Error{Path: d.path, Err: fmt.Errorf("%s of %s.%s is written in a way that can't be edited", key, parent, name)}
}

// Drop removes the table PARENT.NAME with the tables in it.
func (d *TOML) Drop(parent, name string) error {
	want := d.copy()
	p := want[parent].(map[string]any)
	if delete(p, name); len(p) == 0 {
		delete(want, parent)
	}
	lines := strings.SplitAfter(d.text, "\n")
	for i := range lines {
		if !isHeader(lines[i]) || !strings.Contains(lines[i], name) {
			continue
		}
		for j := i + 1; j <= len(lines); j++ {
			if j < len(lines) && !isHeader(lines[j]) {
				continue
			}
			from, to := i, j
			for to > from+1 && (strings.TrimSpace(lines[to-1]) == "" || strings.HasPrefix(strings.TrimSpace(lines[to-1]), "#")) {
				to-- // the lines before the next table belong to that table
			}
			if from > 0 && strings.TrimSpace(lines[from-1]) == "" {
				from--
			}
			if d.take(strings.Join(lines[:from], "")+strings.Join(lines[to:], ""), want) {
				return nil
			}
		}
	}
	return &Error{Path: d.path, Err: fmt.Errorf("%s.%s is written in a way that can't be edited", parent, name)}
}

func isHeader(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "[") }

// take replaces the file's text if the new text has the values want, and reports whether it did. The
// new text may keep an empty parent table.
func (d *TOML) take(text string, want map[string]any) bool {
	tree, err := readTOML(text)
	if err != nil {
		return false
	}
	for k, v := range tree {
		if t, ok := v.(map[string]any); ok && len(t) == 0 && want[k] == nil {
			delete(tree, k)
		}
	}
	if !reflect.DeepEqual(tree, want) {
		return false
	}
	d.text, d.tree = text, tree
	return true
}

// YAMLValue returns the value below these keys of a YAML file, or nil if there is no such value.
func YAMLValue(data []byte, keys ...string) any {
	var at any
	if yaml.Unmarshal(bytes.TrimPrefix(data, byteOrderMark), &at) != nil {
		return nil
	}
	for _, k := range keys {
		m, _ := at.(map[string]any)
		at = m[k]
	}
	return at
}
