package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// JSON is a file as a tree that keeps every byte between its values.
type JSON struct {
	path string
	bom  []byte
	root hujson.Value
	// indent is the indentation of one level, "" for a file on one line. eol ends a line.
	indent, eol string
}

// byteOrderMark is the mark that some editors put before a text.
var byteOrderMark = []byte("\ufeff")

// ParseJSON reads a file. A missing or blank file is an empty object. ParseJSON returns an error
// with the line if the file is not an object. Unless the parameter comments is set, comments and
// commas after a last value are errors too, because some programs can't read them.
func ParseJSON(path string, data []byte, comments bool) (*JSON, error) {
	d := &JSON{path: path, indent: "  ", eol: "\n"}
	if bytes.HasPrefix(data, byteOrderMark) {
		d.bom, data = data[:len(byteOrderMark):len(byteOrderMark)], data[len(byteOrderMark):]
	}
	if i := bytes.IndexByte(data, '\n'); i > 0 && data[i-1] == '\r' {
		d.eol = "\r\n"
	}
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}" + d.eol)
	}
	if !comments {
		var v map[string]json.RawMessage
		if err := json.Unmarshal(data, &v); err != nil {
			return nil, &Error{Path: path, Line: lineOf(data, err), Err: fmt.Errorf("it is no JSON object that can be edited: %w", err)}
		}
	}
	var err error
	if d.root, err = hujson.Parse(data); err != nil {
		e := &Error{Path: path, Err: fmt.Errorf("it is no JSON object that can be edited: %w", err)}
		var column int
		if n, _ := fmt.Sscanf(err.Error(), "hujson: line %d, column %d:", &e.Line, &column); n == 2 {
			_, why, _ := strings.Cut(strings.TrimPrefix(err.Error(), "hujson: "), ": ")
			e.Err = fmt.Errorf("it is no JSON object that can be edited: %s", why)
		}
		return nil, e
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, &Error{Path: path, Line: 1, Err: errors.New("it holds no object")}
	}
	if len(root.Members) > 0 {
		d.indent = indentOf(root.Members[0].Name.BeforeExtra)
	}
	return d, nil
}

// lineOf returns the line of a mistake, 0 if the line is not known.
func lineOf(data []byte, err error) int {
	offset := int64(-1)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	}
	if offset < 0 {
		return 0
	}
	return bytes.Count(data[:min(int(offset), len(data))], []byte("\n")) + 1
}

// indentOf returns the white space after the last line end, "" if there is none.
func indentOf(extra hujson.Extra) string {
	if i := bytes.LastIndexByte(extra, '\n'); i >= 0 {
		return string(extra[i+1:])
	}
	return ""
}

// Bytes returns the file.
func (d *JSON) Bytes() []byte { return append(slices.Clip(d.bom), d.root.Pack()...) }

// Top returns the outermost object.
func (d *JSON) Top() *hujson.Object { return d.root.Value.(*hujson.Object) }

// Errorf makes an error that names the file.
func (d *JSON) Errorf(format string, a ...any) error {
	return &Error{Path: d.path, Err: fmt.Errorf(format, a...)}
}

// Member returns a member by name, or nil if there is no such member. Two members of the same
// name are an error, because programs disagree on which one counts.
func (d *JSON) Member(o *hujson.Object, name string) (*hujson.ObjectMember, error) {
	var found *hujson.ObjectMember
	for i := range o.Members {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			if found != nil {
				return nil, d.Errorf("%s stands twice", name)
			}
			found = &o.Members[i]
		}
	}
	return found, nil
}

// Object returns a member that is an object, or nil if there is no such member.
func (d *JSON) Object(o *hujson.Object, name string) (*hujson.Object, error) {
	return value[*hujson.Object](d, o, name, "object")
}

// List returns a member that is a list, or nil if there is no such member.
func (d *JSON) List(o *hujson.Object, name string) (*hujson.Array, error) {
	return value[*hujson.Array](d, o, name, "list")
}

// value returns the value of a member, which must be of a kind, or nil if there is no such member.
func value[T hujson.ValueTrimmed](d *JSON, o *hujson.Object, name, kind string) (v T, err error) {
	m, err := d.Member(o, name)
	if m == nil || err != nil {
		return v, err
	}
	v, ok := m.Value.Value.(T)
	if !ok {
		err = d.Errorf("%s is no %s", name, kind)
	}
	return v, err
}

// Names returns the names of an object's members, in their order.
func Names(o *hujson.Object) (out []string) {
	for i := range o.Members {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok {
			out = append(out, lit.String())
		}
	}
	return out
}

// Load reads a file of JSON, with or without comments, into the value that the parameter to
// points at. A missing file leaves the value unchanged.
func Load(path string, to any) error {
	data, err := Read(path)
	if err != nil || data == nil {
		return err
	}
	return Unmarshal(path, data, to)
}

// Unmarshal reads JSON with or without comments. The error names path.
func Unmarshal(path string, data []byte, to any) error {
	d, err := ParseJSON(path, data, true)
	if err != nil {
		return err
	}
	return Decode(d.root, to)
}

// Decode reads a part of a file, with or without comments, into the value that the parameter to
// points at.
func Decode(v hujson.Value, to any) error {
	plain := v.Clone()
	plain.Standardize()
	return json.Unmarshal(plain.Pack(), to)
}

// SameJSON reports whether two documents have the same content, comments apart.
func SameJSON(a, b []byte) bool {
	read := func(data []byte) (out any, err error) {
		plain, err := hujson.Standardize(slices.Clone(bytes.TrimPrefix(data, byteOrderMark)))
		if err != nil {
			return nil, err
		}
		dec := json.NewDecoder(bytes.NewReader(plain))
		dec.UseNumber()
		return out, dec.Decode(&out)
	}
	x, errX := read(a)
	y, errY := read(b)
	return errX == nil && errY == nil && reflect.DeepEqual(x, y)
}

// Render makes a tree of a value, indented for a depth.
func (d *JSON) Render(v any, depth int) (hujson.Value, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	text := bytes.TrimSpace(b.Bytes())
	if d.indent != "" {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, text, strings.Repeat(d.indent, depth), d.indent); err != nil {
			return hujson.Value{}, err
		}
		text = bytes.ReplaceAll(pretty.Bytes(), []byte("\n"), []byte(d.eol))
	}
	return hujson.Parse(text)
}

// line returns a line end and the indentation of a depth, or nothing for a file on one line.
func (d *JSON) line(depth int) hujson.Extra {
	if d.indent == "" {
		return nil
	}
	return hujson.Extra(d.eol + strings.Repeat(d.indent, depth))
}

// Add puts a member after the others of an object whose members are at a depth.
func (d *JSON) Add(o *hujson.Object, name string, v hujson.Value, depth int) {
	if d.indent != "" {
		v.BeforeExtra = hujson.Extra(" ")
	}
	before := d.behind(&o.AfterExtra, depth)
	o.Members = append(o.Members, hujson.ObjectMember{Name: hujson.Value{BeforeExtra: before, Value: hujson.String(name)}, Value: v})
}

// Push puts a value after the others of a list whose elements are at a depth.
func (d *JSON) Push(a *hujson.Array, v any, depth int) error {
	value, err := d.Render(v, depth)
	if err != nil {
		return err
	}
	value.BeforeExtra = d.behind(&a.AfterExtra, depth)
	a.Elements = append(a.Elements, value)
	return nil
}

// behind returns the white space and comments before a new last value at a depth. Comments after
// the previous last value stay with that value. It puts the bracket on a line of its own if it is
// not on one yet.
func (d *JSON) behind(after *hujson.Extra, depth int) hujson.Extra {
	kept := comments(*after)
	line := d.line(depth)
	if line == nil && bytes.Contains(kept, []byte("//")) {
		line = hujson.Extra(d.eol) // else the comment would include the next value
	}
	if rest := (*after)[len(kept):]; len(kept) > 0 || !bytes.ContainsRune(rest, '\n') {
		if *after = rest; !bytes.ContainsRune(rest, '\n') {
			*after = d.line(depth - 1)
		}
	}
	return append(slices.Clip(kept), line...)
}

var comment = regexp.MustCompile(`//[^\n]*|(?s:/\*.*?\*/)`)

// comments returns white space and comments up to the end of the last comment, without the line
// end after it.
func comments(extra hujson.Extra) hujson.Extra {
	all := comment.FindAllIndex(extra, -1)
	if len(all) == 0 {
		return nil
	}
	return bytes.TrimSuffix(extra[:all[len(all)-1][1]], []byte("\r"))
}

// Drop removes members by name and keeps the comments before them.
func Drop(o *hujson.Object, name string) {
	for i := len(o.Members) - 1; i >= 0; i-- {
		lit, ok := o.Members[i].Name.Value.(hujson.Literal)
		if !ok || lit.String() != name {
			continue
		}
		next := &o.AfterExtra
		if i+1 < len(o.Members) {
			next = &o.Members[i+1].Name.BeforeExtra
		}
		keep(o.Members[i].Name.BeforeExtra, next)
		o.Members = slices.Delete(o.Members, i, i+1)
	}
}

// Remove removes an element and keeps the comments before it.
func Remove(a *hujson.Array, i int) {
	next := &a.AfterExtra
	if i+1 < len(a.Elements) {
		next = &a.Elements[i+1].BeforeExtra
	}
	keep(a.Elements[i].BeforeExtra, next)
	a.Elements = slices.Delete(a.Elements, i, i+1)
}

func keep(before hujson.Extra, next *hujson.Extra) {
	if kept := comments(before); len(kept) > 0 {
		*next = append(slices.Clip(kept), *next...)
	}
}
