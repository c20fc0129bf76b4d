package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// A kind is the form in which a value is written.
type kind int

const (
	kindAny kind = iota
	kindString
	kindTime // a text of RFC 3339
	kindInt
	kindFloat
	kindBool
	kindWord   // one of words
	kindOpen   // one of words, or another, such as from a newer daemon
	kindWordOr // one of words, or a number
	kindTexts  // a text, or a list of objects
	kindObject // an object with any members
	kindList   // of elem
	kindPair   // two of elem
	kindMap    // of elem, by strings
	kindStruct // ref
	kindNull   // elem, or null
)

// shape is the type of a value.
type shape struct {
	kind  kind
	words []string
	elem  *shape
	ref   *object
}

// language is a column of forms. Go has two columns: goCall for values that the client writes, and
// goAnswer for values that it reads.
type language int

const (
	goCall language = iota
	goAnswer
	typescript
	python
)

// forms has the type of each kind in each language. In a type, $E stands for the type of elem or ref,
// $| for the quoted words separated by |, and $, for the quoted words separated by commas.
var forms = [...][4]string{
	kindAny:    {"any", "json.RawMessage", "any", "Any"},
	kindString: {"string", "string", "string", "str"},
	kindTime:   {"time.Time", "time.Time", "string", "str"},
	kindInt:    {"int64", "int64", "number", "int"},
	kindFloat:  {"float64", "float64", "number", "float"},
	kindBool:   {"bool", "bool", "boolean", "bool"},
	kindWord:   {"string", "string", "$|", "Literal[$,]"},
	kindOpen:   {"string", "string", "$| | (string & {})", "str"},
	kindWordOr: {"any", "json.RawMessage", "$| | number", "Union[Literal[$,], float]"},
	kindTexts:  {"any", "json.RawMessage", "string | object[]", "Union[str, Sequence[Mapping[str, Any]]]"},
	kindObject: {"any", "json.RawMessage", "object", "Any"}, // in Python a mapping, or an object of a provider's library
	kindList:   {"[]$E", "[]$E", "$E[]", "List[$E]"},
	kindPair:   {"[2]$E", "[2]$E", "[$E, $E]", "List[$E]"},
	kindMap:    {"map[string]$E", "map[string]$E", "{ [name: string]: $E }", "Dict[str, $E]"},
	kindStruct: {"$E", "$E", "$E", `"$E"`},
	kindNull:   {"*$E", "*$E", "$E | null", "Optional[$E]"},
}

// in returns the type of a value in a language.
func (s *shape) in(l language) string {
	elem := ""
	if s.ref != nil {
		elem = s.ref.name
	} else if s.elem != nil {
		elem = s.elem.in(l)
	}
	if l == typescript && s.kind == kindList && strings.Contains(elem, " ") {
		elem = "(" + elem + ")"
	}
	var words []string
	for _, w := range s.words {
		words = append(words, strconv.Quote(w))
	}
	return strings.NewReplacer("$E", elem, "$|", strings.Join(words, " | "), "$,", strings.Join(words, " , ")).Replace(forms[s.kind][l])
}

type field struct {
	name, doc string
	shape     *shape
	// always is set if every answer has the member, or every call must have it.
	always bool
	// told is set if the member is optional, and leaving it out differs from an empty value.
	told bool
}

// object is an object in the form in which one side writes it.
type object struct {
	name, doc string
	fields    []field
	answer    bool
}

type method struct {
	// name is the name on the wire, such as tools.list.
	name, doc      string
	params, result *object
}

type protocol struct {
	methods []method
	// objects lists the objects of the methods in order of their first use.
	objects []*object
}

// schemaFile has the parts of doc/schema.json that describe methods.
type schemaFile struct {
	Methods []struct {
		Name, Description string
		Params, Result    jsonschema.Schema
	}
	Defs map[string]*definition `json:"$defs"`
}

// definition is a definition that knows the order of its members.
type definition struct {
	jsonschema.Schema
	order []string
}

func (d *definition) UnmarshalJSON(text []byte) error {
	if err := json.Unmarshal(text, &d.Schema); err != nil {
		return err
	}
	var members struct{ Properties json.RawMessage }
	if err := json.Unmarshal(text, &members); err != nil || members.Properties == nil {
		return err
	}
	in := json.NewDecoder(bytes.NewReader(members.Properties))
	in.Token() // the opening brace: the text was read as an object above
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		d.order = append(d.order, name.(string))
		var passed json.RawMessage
		if err := in.Decode(&passed); err != nil {
			return err
		}
	}
	return nil
}

type reader struct {
	defs  map[string]*definition
	known map[string]*object
	out   *protocol
	err   error
}

// read reads the methods of a schema file.
func read(text string) (*protocol, error) {
	var file schemaFile
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, err
	}
	r := &reader{defs: file.Defs, known: map[string]*object{}, out: &protocol{}}
	for i := range file.Methods {
		m := &file.Methods[i]
		r.out.methods = append(r.out.methods, method{m.Name, m.Description, r.object(&m.Params, false), r.object(&m.Result, true)})
	}
	return r.out, r.err
}

// object returns the object of a reference. It reads each referenced object only once.
func (r *reader) object(ref *jsonschema.Schema, answer bool) *object {
	name := ref.Ref[strings.LastIndex(ref.Ref, "/")+1:]
	if o := r.known[name]; o != nil {
		return o
	}
	d := r.defs[name]
	if d == nil {
		r.fail("there is no definition %s", name)
		return &object{}
	}
	o := &object{name: name, doc: comment(d.Description), answer: answer}
	r.known[name] = o
	r.out.objects = append(r.out.objects, o)
	last := ""
	for _, member := range d.order {
		s := d.Properties[member]
		f := field{name: member, always: slices.Contains(d.Required, member)}
		f.shape = r.shape(s, answer)
		f.told = !f.always && s.Default == nil
		if f.doc = comment(s.Description); f.doc == last {
			f.doc = "" // the previous member has the same comment
		} else {
			last = f.doc
		}
		o.fields = append(o.fields, f)
	}
	return o
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// shape reads a schema that package contract made.
func (r *reader) shape(s *jsonschema.Schema, answer bool) *shape {
	if n := len(s.Types); n == 2 && s.Types[1] == "null" {
		inner := *s
		inner.Type, inner.Types = s.Types[0], nil
		return &shape{kind: kindNull, elem: r.shape(&inner, answer)}
	}
	if len(s.AnyOf) == 2 {
		one, other := s.AnyOf[0], s.AnyOf[1]
		switch other.Type {
		case "null":
			return &shape{kind: kindNull, elem: r.shape(one, answer)}
		case "number":
			return &shape{kind: kindWordOr, words: words(one)}
		case "array":
			return &shape{kind: kindTexts}
		}
	}
	switch {
	case s.Ref != "":
		return &shape{kind: kindStruct, ref: r.object(s, answer)}
	case s.Type == "string" && s.Enum != nil && answer:
		return &shape{kind: kindOpen, words: words(s)}
	case s.Type == "string" && s.Enum != nil:
		return &shape{kind: kindWord, words: words(s)}
	case s.Type == "string" && s.Format == "date-time":
		return &shape{kind: kindTime}
	case s.Type == "array" && s.MaxItems != nil:
		if *s.MaxItems != 2 {
			r.fail("there are no types for arrays of %d", *s.MaxItems)
		}
		return &shape{kind: kindPair, elem: r.shape(s.Items, answer)}
	case s.Type == "array":
		return &shape{kind: kindList, elem: r.shape(s.Items, answer)}
	case s.Type == "object" && s.AdditionalProperties != nil:
		return &shape{kind: kindMap, elem: r.shape(s.AdditionalProperties, answer)}
	}
	kind, ok := map[string]kind{"": kindAny, "string": kindString, "integer": kindInt, "number": kindFloat, "boolean": kindBool, "object": kindObject}[s.Type]
	if !ok {
		r.fail("there is no type for %q", s.Type)
	}
	return &shape{kind: kind}
}

// comment returns the first sentence of a description, in a form that can't end a comment in any of
// the clients' languages. doc/schema.json has the whole description.
func comment(text string) string {
	if first, _, more := strings.Cut(text, ". "); more {
		text = first + "."
	}
	return strings.NewReplacer("*/", "* /", `\`, `\\`, `"""`, "'''").Replace(text)
}

func words(s *jsonschema.Schema) (out []string) {
	for _, w := range s.Enum {
		out = append(out, w.(string))
	}
	return out
}

func title(s string) string {
	first := []rune(s)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

// needs returns the members that a call must have.
func (o *object) needs() []field {
	return slices.DeleteFunc(slices.Clone(o.fields), func(f field) bool { return !f.always })
}

// mayHave returns the members that a call may have.
func (o *object) mayHave() []field {
	return slices.DeleteFunc(slices.Clone(o.fields), func(f field) bool { return f.always })
}

// camel returns a name of the wire in camel case.
func camel(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '.' })
	for i := range parts[1:] {
		parts[i+1] = title(parts[i+1])
	}
	return strings.Join(parts, "")
}
