package main

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/cachelayout"
	"github.com/memkernel/memkernel/serve"
)

// A kind says how a value is written.
type kind int

const (
	kindAny kind = iota
	kindString
	kindTime // a text of RFC 3339
	kindInt
	kindFloat
	kindBool
	kindWord   // one of words
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
	// open: there may be other words, from a newer daemon say.
	open bool
	elem *shape
	ref  *object
}

type field struct {
	name, doc string
	shape     *shape
	// always: it is in every answer, or has to be in every call.
	always bool
	// pointer: left out is something else than nothing.
	pointer bool
}

// object is a struct as one side writes it.
type object struct {
	name, doc string
	// goSource is the name in the daemon's source.
	goSource string
	fields   []field
	answer   bool
}

type method struct {
	// name is the wire's, such as tools.list.
	name, doc      string
	params, result *object
}

type protocol struct {
	methods []method
	// objects are in the order in which they were met.
	objects []*object
}

type reader struct {
	comments comments
	known    map[typeAt]*object
	names    map[string]bool
	out      *protocol
	err      error
}

// typeAt is a type on one side: what may be left out of a call may be in every answer.
type typeAt struct {
	t      reflect.Type
	answer bool
}

func read(root string) (*protocol, error) {
	r := &reader{comments: comments{root: root}, known: map[typeAt]*object{}, names: map[string]bool{}, out: &protocol{}}
	for _, m := range serve.Methods() {
		row := method{name: m.Name, doc: m.Doc, params: r.object(typeAt{m.Params, false}), result: r.object(typeAt{m.Result, true})}
		r.out.methods = append(r.out.methods, row)
	}
	if r.err == nil {
		r.err = r.comments.err
	}
	return r.out, r.err
}

// object is the struct of a type, which is read once.
func (r *reader) object(at typeAt) *object {
	if o := r.known[at]; o != nil {
		return o
	}
	o := &object{name: r.name(at), doc: r.comments.of(at.t).doc, goSource: at.t.Name(), answer: at.answer}
	r.known[at] = o
	r.out.objects = append(r.out.objects, o)
	o.fields = r.fields(at)
	return o
}

// name finds a name that no other type has: the type's own without what says that it is a
// call's; with its package in front where that is taken.
func (r *reader) name(at typeAt) string {
	name := at.t.Name()
	name, _, _ = strings.Cut(name, "[")
	if name == "" {
		if r.err == nil {
			r.err = fmt.Errorf("a struct without a name has the members %v: name it", at.t)
		}
		return ""
	}
	if base, ok := strings.CutSuffix(name, "Call"); ok && !at.answer {
		name = base + "Params"
	}
	if name == "caller" {
		name = "callerParams"
	}
	name = title(name)
	if r.names[name] {
		pkg := at.t.PkgPath()
		name = title(pkg[strings.LastIndex(pkg, "/")+1:]) + name
	}
	if r.names[name] && !at.answer {
		name += "Params"
	}
	if r.names[name] && r.err == nil {
		r.err = fmt.Errorf("two types are named %s: name %s otherwise", name, at.t)
	}
	r.names[name] = true
	return name
}

func title(s string) string {
	first := []rune(s)
	first[0] = unicode.ToUpper(first[0])
	return string(first)
}

func (r *reader) fields(at typeAt) (out []field) {
	said := r.comments.of(at.t)
	wire := wireNames(at.t)
	for i := range at.t.NumField() {
		f := at.t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			out = append(out, r.fields(typeAt{inner, at.answer})...)
			continue
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		hint, need := f.Tag.Get("rpc"), false
		if hint == "required" {
			hint, need = "", true
		}
		always := need
		if at.answer {
			always = !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero")
		}
		s := r.shape(typeAt{f.Type, at.answer}, hint)
		if !always && s.kind == kindNull {
			s = s.elem
		}
		out = append(out, field{name, strings.TrimSpace(wire.Replace(" " + said.fields[f.Name])), s, always, f.Type.Kind() == reflect.Pointer && s.kind != kindStruct})
	}
	return out
}

// wireNames puts the names on the wire in the place of Go's, where a comment speaks of a
// member.
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
)

func (r *reader) shape(at typeAt, hint string) *shape {
	t := at.t
	switch {
	case hint == "texts":
		return &shape{kind: kindTexts}
	case hint == "object":
		return &shape{kind: kindObject}
	case hint == "objects":
		return &shape{kind: kindList, elem: &shape{kind: kindObject}}
	case hint != "":
		words := strings.Split(hint, "|")
		return &shape{kind: kindWord, words: words}
	case t == rawMessage:
		return &shape{kind: kindAny}
	case t == reflect.TypeFor[time.Time]():
		return &shape{kind: kindTime}
	case t == reflect.TypeFor[cachelayout.Economy]():
		return &shape{kind: kindWordOr, words: r.comments.words(t)}
	case t == reflect.TypeFor[memkernel.Usage]() && !at.answer:
		return &shape{kind: kindObject} // as any provider writes it
	case t.Kind() == reflect.Pointer:
		s := r.shape(typeAt{t.Elem(), at.answer}, "")
		if !at.answer {
			return s
		}
		return &shape{kind: kindNull, elem: s}
	case t.Implements(marshaler):
		return &shape{kind: kindAny}
	case t.Implements(textual):
		return &shape{kind: kindString}
	}
	elem := func() *shape { return r.shape(typeAt{t.Elem(), at.answer}, "") }
	switch t.Kind() {
	case reflect.Struct:
		return &shape{kind: kindStruct, ref: r.object(at)}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return &shape{kind: kindString}
		}
		return &shape{kind: kindList, elem: elem()}
	case reflect.Array:
		if t.Len() != 2 && r.err == nil {
			r.err = fmt.Errorf("%s: there are no types for arrays of %d", t, t.Len())
		}
		return &shape{kind: kindPair, elem: elem()}
	case reflect.Map:
		return &shape{kind: kindMap, elem: elem()}
	case reflect.String:
		if words := r.comments.words(t); len(words) > 0 {
			return &shape{kind: kindWord, words: words, open: at.answer}
		}
		return &shape{kind: kindString}
	case reflect.Bool:
		return &shape{kind: kindBool}
	case reflect.Float32, reflect.Float64:
		return &shape{kind: kindFloat}
	case reflect.Interface:
		return &shape{kind: kindAny}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return &shape{kind: kindInt}
	}
	if r.err == nil {
		r.err = fmt.Errorf("%s: there is no type for it", t)
	}
	return &shape{kind: kindAny}
}

// needs are the members that a call has to have.
func (o *object) needs() []field {
	return slices.DeleteFunc(slices.Clone(o.fields), func(f field) bool { return !f.always })
}

// camel is a wire's name in camel case.
func camel(name string) string {
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '.' })
	for i := range parts[1:] {
		parts[i+1] = title(parts[i+1])
	}
	return strings.Join(parts, "")
}
