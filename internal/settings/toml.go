package settings

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
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

// Pair is a key of a table and its value: a string or a list of strings.
type Pair struct {
	Key   string
	Value any
}

// String returns the pair as a line of TOML.
func (p Pair) String() string {
	switch v := p.Value.(type) {
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = tomlString(s)
		}
		return p.Key + " = [" + strings.Join(quoted, ", ") + "]"
	default:
		return p.Key + " = " + tomlString(fmt.Sprint(v))
	}
}

// tomlString quotes a text. It writes out the characters that Go escapes differently from TOML.
func tomlString(s string) string {
	if !strings.ContainsAny(s, "'\n\r") && strings.Contains(s, `\`) && s == strings.ToValidUTF8(s, "") {
		return "'" + s + "'"
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// Add puts a table PARENT.NAME at the end of the file.
func (d *TOML) Add(parent, name string, pairs ...Pair) error {
	eol := d.eol()
	text := d.text
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += eol
	}
	if strings.TrimSpace(text) != "" {
		text += eol
	}
	text += "[" + parent + "." + name + "]" + eol
	values := map[string]any{}
	for _, p := range pairs {
		text += p.String() + eol
		values[p.Key] = treeValue(p.Value)
	}
	want := copyTree(d.tree)
	p, ok := want[parent].(map[string]any)
	if !ok {
		p = map[string]any{}
		want[parent] = p
	}
	p[name] = values
	// A table that is written as a value can't be extended, and not every parser reports this.
	if d.assigned(parent) || !d.take(text, want) {
		return &Error{Path: d.path, Err: fmt.Errorf("a table %s.%s can't be put behind what there is", parent, name)}
	}
	return nil
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
func (d *TOML) Set(parent, name string, to Pair) error {
	want := copyTree(d.tree)
	want[parent].(map[string]any)[name].(map[string]any)[to.Key] = treeValue(to.Value)
	lines := strings.SplitAfter(d.text, "\n")
	for i, line := range lines {
		key, _, ok := strings.Cut(line, "=")
		if k := strings.Trim(strings.TrimSpace(key), `"'`); !ok || k != to.Key {
			continue
		}
		end := line[len(strings.TrimRight(line, "\r\n")):]
		lead := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		for j := i + 1; j <= len(lines); j++ {
			if d.take(strings.Join(lines[:i], "")+lead+to.String()+end+strings.Join(lines[j:], ""), want) {
				return nil
			}
		}
	}
	return &Error{Path: d.path, Err: fmt.Errorf("%s of %s.%s is written in a way that can't be edited", to.Key, parent, name)}
}

// Drop removes the table PARENT.NAME with the tables in it.
func (d *TOML) Drop(parent, name string) error {
	want := copyTree(d.tree)
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

// take makes text the file if it holds the wanted values, and reports whether it did. An empty
// parent table may be left.
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

func (d *TOML) eol() string { return textEOL([]byte(d.text)) }

// treeValue returns a value in the form that the parser gives it.
func treeValue(v any) any {
	list, ok := v.([]string)
	if !ok {
		return v
	}
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// copyTree copies tables. The copies share their values.
func copyTree(t map[string]any) map[string]any {
	out := make(map[string]any, len(t))
	for k, v := range t {
		if sub, ok := v.(map[string]any); ok {
			v = copyTree(sub)
		}
		out[k] = v
	}
	return out
}
