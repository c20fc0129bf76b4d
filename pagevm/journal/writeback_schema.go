package journal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/pagevm"
)

// FieldKind is the structure of a field. It decides which operation writes the field.
type FieldKind string

const (
	// KindList is a list of entries with ids. Only append writes it.
	KindList FieldKind = "list"
	// KindMap is a map of members, each with its own version. Only merge writes it.
	KindMap FieldKind = "map"
	// KindScalar is one value with a version. Only set_with_version writes it.
	KindScalar FieldKind = "scalar"
)

// writes has the operation that writes fields of each kind.
var writes = map[FieldKind]UpdateOp{KindList: OpAppend, KindMap: OpMerge, KindScalar: OpSetWithVersion}

// These are the limits for a schema that names no limits, and the limits of names. A value of 64
// KiB is about 16k tokens, which is more than a curated memory may have.
const (
	defaultMaxBytes   = 64 << 10
	defaultMaxEntries = 10_000
	maxNameBytes      = 512
)

// FieldSpec describes the values that a field may hold.
type FieldSpec struct {
	Kind FieldKind
	// Value is the JSON type of the values: string, number, integer, bool, object or array, or any
	// for every type. null is not allowed for any type.
	Value string
	// MaxBytes bounds the size of one value's JSON. 0 means the default.
	MaxBytes int
	// MaxEntries bounds the number of entries of a list or map. 0 means the default.
	MaxEntries int
	// Guarded: on a hard-pinned page a committed entry is never replaced.
	Guarded bool
	// Ranks are the only values that a string may have, weakest first. On a hard-pinned page a
	// value can't be replaced by a weaker one.
	Ranks []string
}

// TypeSpec describes the pages of a type.
type TypeSpec struct {
	// Scopes are the scopes that pages of the type may belong to.
	Scopes []memkernel.Scope
	Fields map[string]FieldSpec
	// HardPin: every page of the type is hard-pinned. A page of another type is hard-pinned if
	// its field [PinField] is [PinHard].
	HardPin bool
}

// A page with this value in this field is hard-pinned.
const (
	PinField = "pin"
	PinHard  = "hard"
)

// Schema is the registry of types. Nobody may change it once [Rules] are made from it.
type Schema map[pagevm.Type]TypeSpec

// DefaultSchema has the six page types with the fields that their structured representations
// show. The scopes are from ClawVM's Table 1, and bootstrap pages may be of either scope. The
// limits are our choice. Each call makes a new schema.
func DefaultSchema() Schema {
	text := FieldSpec{Kind: KindScalar, Value: "string"}
	list := FieldSpec{Kind: KindList, Value: "string"}
	dict := FieldSpec{Kind: KindMap, Value: "any"}
	pin := FieldSpec{Kind: KindScalar, Value: "string", Ranks: []string{"none", "soft", PinHard}}
	guarded := func(f FieldSpec) FieldSpec { f.Guarded = true; return f }
	session, project := []memkernel.Scope{memkernel.ScopeSession}, []memkernel.Scope{memkernel.ScopeProject}
	number := FieldSpec{Kind: KindScalar, Value: "integer"}
	return Schema{
		pagevm.Bootstrap: {Scopes: slices.Concat(project, session), Fields: map[string]FieldSpec{
			"text": guarded(text), "headings": list, "rules": list, PinField: pin}},
		pagevm.Constraint: {Scopes: session, HardPin: true, Fields: map[string]FieldSpec{
			"text": guarded(text), "reason": text, "details": list, "attributes": guarded(dict), PinField: pin}},
		pagevm.Plan: {Scopes: session, Fields: map[string]FieldSpec{
			"goal": guarded(text), "step": text, "status": text, "done": list, "next": list, PinField: pin}},
		pagevm.Preference: {Scopes: project, Fields: map[string]FieldSpec{
			"text": guarded(text), "notes": list, "values": guarded(dict), PinField: pin}},
		pagevm.Evidence: {Scopes: session, Fields: map[string]FieldSpec{
			"tool": text, "arguments": dict, "status": text, "exit_code": number, "paths": list, "errors": list,
			"notes": list, PinField: pin}},
		pagevm.Conversation: {Scopes: session, Fields: map[string]FieldSpec{
			"span": text, "gist": text, "entities": list, "decisions": list, "facts": dict, PinField: pin}},
	}
}

// refuse returns why a value is not allowed, "" if it is allowed.
func (f FieldSpec) refuse(v json.RawMessage) string {
	if limit := cmp.Or(f.MaxBytes, defaultMaxBytes); len(v) > limit {
		return fmt.Sprintf("value of %d bytes, at most %d are allowed", len(v), limit)
	}
	if t := valueType(v); t != f.Value && (f.Value != "any" || t == "") && (f.Value != "number" || t != "integer") {
		return fmt.Sprintf("value is not of type %s", f.Value)
	}
	if f.Ranks != nil && f.rank(v) < 0 {
		return "value is none of " + strings.Join(f.Ranks, ", ")
	}
	return ""
}

// rank returns the index of a value in Ranks, -1 if it is not one of them.
func (f FieldSpec) rank(v json.RawMessage) int {
	var s string
	if json.Unmarshal(v, &s) != nil {
		return -1
	}
	return slices.Index(f.Ranks, s)
}

// valueType returns the type of a valid JSON value. It returns "" for null and for an empty
// value.
func valueType(v json.RawMessage) string {
	if len(v) == 0 {
		return ""
	}
	switch v[0] {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "bool"
	case 'n':
		return ""
	}
	if bytes.ContainsAny(v, ".eE") {
		return "number"
	}
	return "integer"
}
