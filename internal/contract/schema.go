package contract

import (
	"encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/jsonschema-go/jsonschema"
)

// Method is a method of the daemon.
type Method struct {
	Name, Doc      string
	Params, Result reflect.Type
}

// Source is the input for a schema.
type Source struct {
	// Root is the folder of the module's source, from which comments are read.
	Root string
	// Description describes the file's content.
	Description string
	// Documents has values of the types of documents by name. A document that has several forms
	// has several types.
	Documents map[string][]any
	Methods   []Method
}

// Schema returns the text of the schema file. It has a definition for every document, under the
// document's name, and a definition for every struct in the documents. The keyword "methods"
// holds the methods of the daemon.
func (s *Source) Schema() (string, error) {
	m := &maker{comments: comments{root: s.Root}, docs: map[reflect.Type][]string{}, whole: map[string]bool{}, known: map[typeAt]string{}, defs: map[string]*jsonschema.Schema{}}
	for _, name := range slices.Sorted(maps.Keys(s.Documents)) {
		for _, v := range s.Documents[name] {
			m.docs[reflect.TypeOf(v)] = append(m.docs[reflect.TypeOf(v)], name)
		}
	}
	var methods []string
	for _, row := range s.Methods {
		methods = append(methods, fmt.Sprintf(`{"name":%s,"description":%s,"params":%s,"result":%s}`, compact(row.Name), compact(row.Doc),
			compact(m.object(typeAt{row.Params, false})), compact(m.object(typeAt{row.Result, true}))))
	}
	for name, types := range s.Documents {
		m.whole[name] = len(types) == 1
	}
	for _, name := range slices.Sorted(maps.Keys(s.Documents)) {
		var forms []*jsonschema.Schema
		for _, v := range s.Documents[name] {
			forms = append(forms, m.object(typeAt{reflect.TypeOf(v), true}))
		}
		switch {
		case len(forms) > 1:
			m.defs[name] = &jsonschema.Schema{AnyOf: forms}
		case forms[0].Ref != refTo(name):
			m.defs[name] = forms[0]
		}
	}
	if m.err == nil {
		m.err = m.comments.err
	}
	if m.err != nil {
		return "", m.err
	}
	return file(s.Description, methods, m.defs), nil
}

// maker makes definitions of types.
type maker struct {
	comments comments
	// docs holds the names of documents by type. whole holds the documents that have only one
	// type.
	docs  map[reflect.Type][]string
	whole map[string]bool
	known map[typeAt]string
	defs  map[string]*jsonschema.Schema
	err   error
}

// typeAt is a type together with its use in calls or in answers. The uses differ, because a
// member that is optional in a call may be in every answer.
type typeAt struct {
	t      reflect.Type
	answer bool
}

func (m *maker) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf(format, args...)
	}
}

// object returns a reference to the definition of a struct. It makes the definition once.
func (m *maker) object(at typeAt) *jsonschema.Schema {
	if name, ok := m.known[at]; ok {
		return &jsonschema.Schema{Ref: refTo(name)}
	}
	name := m.name(at)
	m.known[at] = name
	def := &jsonschema.Schema{Type: "object", Properties: map[string]*jsonschema.Schema{}}
	m.defs[name] = def
	answer := answerOf(at.t)
	if doc := m.comments.of(answer).doc; doc != "" {
		first, rest, _ := strings.Cut(doc, " ")
		if first == answer.Name() {
			first = name
			if strings.HasPrefix(name, "memkernel/") {
				first = "This"
			}
		}
		def.Description = first + wireNames(answer).Replace(" "+rest)
	}
	for _, f := range m.fields(at) {
		if docs := m.docs[at.t]; f.name == "schema" && len(docs) == 1 {
			f.schema.Const = jsonschema.Ptr[any](docs[0])
		} else if f.name == "schema" && len(docs) > 1 {
			f.schema.Enum = anys(docs)
		}
		def.PropertyOrder = append(def.PropertyOrder, f.name)
		def.Properties[f.name] = f.schema
		if f.required {
			def.Required = append(def.Required, f.name)
		}
	}
	if !at.answer {
		def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	}
	return &jsonschema.Schema{Ref: refTo(name)}
}

// name returns a name that no other type has: the document's name, or else the type's own name
// without the ending of calls. If that name is taken, the name of the package precedes it.
func (m *maker) name(at typeAt) string {
	if docs := m.docs[at.t]; len(docs) == 1 && m.whole[docs[0]] {
		return docs[0]
	}
	name := answerOf(at.t).Name()
	if name == "" {
		m.fail("a struct without a name has the members %v: name it", at.t)
		return ""
	}
	if base, ok := strings.CutSuffix(name, "Call"); ok && !at.answer {
		name = base + "Params"
	}
	if name == "caller" {
		name = "callerParams"
	}
	name = title(name)
	if m.defs[name] != nil {
		pkg := at.t.PkgPath()
		name = title(pkg[strings.LastIndex(pkg, "/")+1:]) + name
	}
	if m.defs[name] != nil && !at.answer {
		name += "Params"
	}
	if m.defs[name] != nil {
		m.fail("two types are named %s: name %s otherwise", name, at.t)
	}
	return name
}

// answerOf returns the answer in a [document.Doc], and any other type itself.
func answerOf(t reflect.Type) reflect.Type {
	for i := range t.NumField() {
		if t.Field(i).Tag.Get("json") == ",inline" {
			return t.Field(i).Type.Elem()
		}
	}
	return t
}

func title(s string) string {
	first := []rune(s)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

type field struct {
	name     string
	schema   *jsonschema.Schema
	required bool
}

// fields returns the members of a struct. If two have the same name, the less deeply embedded one
// counts, as in encoding/json.
func (m *maker) fields(at typeAt) []field {
	var out []field
	depth := map[string]int{}
	var walk func(t reflect.Type, deep int, optional bool)
	walk = func(t reflect.Type, deep int, optional bool) {
		said := m.comments.of(t)
		wire := wireNames(t)
		doc := ""
		for i := range t.NumField() {
			f := t.Field(i)
			// A comment may also describe the next fields.
			if own := said.fields[f.Name]; own != "" || !slices.Contains(strings.FieldsFunc(doc, notLetter), f.Name) {
				doc = own
			}
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && (f.Anonymous || options == "inline") {
				inner := f.Type
				if inner.Kind() == reflect.Pointer {
					inner = inner.Elem()
				}
				// With omitempty the embedded struct may be nil, and its members are left out.
				walk(inner, deep+1, optional || options == "omitempty")
				continue
			}
			if name == "-" || !f.IsExported() {
				continue
			}
			if name == "" {
				name = f.Name
			}
			if optional {
				options += ",omitempty"
			}
			if d, ok := depth[name]; ok {
				if d <= deep {
					continue
				}
				out = slices.DeleteFunc(out, func(o field) bool { return o.name == name })
			}
			depth[name] = deep
			out = append(out, m.member(at.answer, f, name, options, strings.TrimSpace(wire.Replace(" "+doc))))
		}
	}
	walk(at.t, 0, false)
	return out
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// member returns a member of an object. The schema has a default for an optional member only if
// the default equals the zero value of the member's type.
func (m *maker) member(answer bool, f reflect.StructField, name, options, doc string) field {
	hint, required := f.Tag.Get("rpc"), false
	if hint == "required" {
		hint, required = "", true
	}
	if answer {
		required = !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero")
	}
	s := m.shape(typeAt{f.Type, answer}, hint)
	if s.Enum != nil && answer && required && strings.Contains(doc, `""`) {
		s.Enum = append(s.Enum, "")
	}
	if f.Type.Kind() == reflect.String && doc == "" {
		if first, rest, _ := strings.Cut(m.comments.of(f.Type).doc, " "); first == f.Type.Name() {
			doc = "`" + name + "` " + rest
		}
	}
	if f.Type.Kind() == reflect.Pointer && answer && required {
		s = orNull(s)
	}
	if !required && s.Ref == "" {
		switch f.Type.Kind() {
		case reflect.Bool:
			s.Default = json.RawMessage("false")
		case reflect.String:
			if s.Enum == nil && s.AnyOf == nil {
				s.Default = json.RawMessage(`""`)
			}
		case reflect.Float32, reflect.Float64, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			s.Default = json.RawMessage("0")
		}
	}
	s.Description = doc
	return field{name, s, required}
}

// wireNames replaces Go's names of members in comments by the names on the wire.
func wireNames(t reflect.Type) *strings.Replacer {
	var pairs []string
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			for _, end := range []string{" ", ",", ".", ":", ";", ")"} {
				pairs = append(pairs, " "+f.Name+end, " `"+name+"`"+end)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

var (
	rawMessage = reflect.TypeFor[json.RawMessage]()
	marshaler  = reflect.TypeFor[json.Marshaler]()
	textual    = reflect.TypeFor[encoding.TextMarshaler]()
	reader     = reflect.TypeFor[json.Unmarshaler]()
)

// shape returns the schema of a type. The parameter hint is the tag rpc of a member. It holds the
// allowed words of a parameter, the name of a document, or "object", "objects" or "texts" for
// JSON that is read later.
func (m *maker) shape(at typeAt, hint string) *jsonschema.Schema {
	t := at.t
	text, number, anything := &jsonschema.Schema{Type: "string"}, &jsonschema.Schema{Type: "number"}, &jsonschema.Schema{Type: "object"}
	list := func(s *jsonschema.Schema) *jsonschema.Schema { return &jsonschema.Schema{Type: "array", Items: s} }
	readsItself := reflect.PointerTo(t).Implements(reader)
	switch {
	case hint == "texts":
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, list(anything)}}
	case hint == "object":
		return anything
	case hint == "objects":
		return list(anything)
	case strings.HasPrefix(hint, "memkernel/"):
		text.Const = jsonschema.Ptr[any](hint)
		return text
	case hint != "":
		text.Enum = anys(strings.Split(hint, "|"))
		return text
	case t == rawMessage:
		return &jsonschema.Schema{}
	case t == reflect.TypeFor[time.Time]():
		text.Format = "date-time"
		return text
	case t.Kind() == reflect.Pointer:
		return m.shape(typeAt{t.Elem(), at.answer}, "")
	case readsItself && t.Kind() == reflect.Struct && !at.answer:
		return anything
	case readsItself && t.Kind() == reflect.String && at.answer:
		return text
	case readsItself && t.Kind() == reflect.String:
		text.Enum = anys(m.comments.words(t))
		return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{text, number}}
	case at.answer && t.Implements(marshaler):
		return &jsonschema.Schema{}
	case t.Implements(textual):
		return text
	}
	switch t.Kind() {
	case reflect.Struct:
		return m.object(at)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			text.ContentEncoding = "base64"
			return text
		}
		return list(m.elem(at))
	case reflect.Array:
		s := list(m.elem(at))
		s.MinItems, s.MaxItems = jsonschema.Ptr(t.Len()), jsonschema.Ptr(t.Len())
		return s
	case reflect.Map:
		return &jsonschema.Schema{Type: "object", AdditionalProperties: m.elem(at)}
	case reflect.String:
		if words := m.comments.words(t); len(words) > 0 {
			text.Enum = anys(words)
		}
		return text
	case reflect.Bool:
		return &jsonschema.Schema{Type: "boolean"}
	case reflect.Float32, reflect.Float64:
		return number
	case reflect.Interface:
		return &jsonschema.Schema{}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return &jsonschema.Schema{Type: "integer"}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &jsonschema.Schema{Type: "integer", Minimum: jsonschema.Ptr(0.0)}
	}
	m.fail("%s: there is no type for it", t)
	return &jsonschema.Schema{}
}

// elem returns the schema of the elements of a list or a map. Pointers to numbers may be null
// there. Pointers to structs are never null.
func (m *maker) elem(at typeAt) *jsonschema.Schema {
	e := at.t.Elem()
	s := m.shape(typeAt{e, at.answer}, "")
	if e.Kind() == reflect.Pointer && s.Ref == "" {
		return orNull(s)
	}
	return s
}

func orNull(s *jsonschema.Schema) *jsonschema.Schema {
	if s.Type != "" && s.Enum == nil {
		s.Types, s.Type = []string{s.Type, "null"}, ""
		return s
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

func anys(words []string) (out []any) {
	for _, w := range words {
		out = append(out, w)
	}
	return out
}

// file spells a schema file, with each method, definition and member on a line of its own.
func file(description string, methods []string, defs map[string]*jsonschema.Schema) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n  \"description\": %s,\n", compact(description))
	if len(methods) > 0 {
		fmt.Fprintf(&b, "  \"methods\": [\n    %s\n  ],\n", strings.Join(methods, ",\n    "))
	}
	var rows []string
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		head := *defs[name]
		var members []string
		for _, p := range head.PropertyOrder {
			members = append(members, "      "+compact(p)+": "+compact(head.Properties[p]))
		}
		head.Properties, head.PropertyOrder = nil, nil
		row := "    " + compact(name) + ": " + compact(&head)
		if len(members) > 0 {
			row = strings.TrimSuffix(row, "}") + ",\"properties\":{\n" + strings.Join(members, ",\n") + "\n    }}"
		}
		rows = append(rows, row)
	}
	fmt.Fprintf(&b, "  \"$defs\": {\n%s\n  }\n}\n", strings.Join(rows, ",\n"))
	return b.String()
}

// compact returns JSON on one line, without escapes for < and >.
func compact(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // schemas are made of texts, numbers and lists of these
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&").Replace(string(text))
}
