// Package contract makes the JSON Schema of the documents that the program prints and of the
// daemon's methods, and validates documents by it. Only tests and generators use it.
package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Documents holds the definitions of a schema file, and validates documents by them.
type Documents struct {
	defs map[string]*jsonschema.Schema
	// all describes an object with a member of each definition, so that references are resolved
	// once.
	all     *jsonschema.Resolved
	methods []struct {
		Name           string
		Params, Result jsonschema.Schema
	}
}

// Load reads a schema file. Validation is strict: a member that the schema does not describe is
// an error, although clients must ignore such a member.
func Load(path string) (*Documents, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	d := &Documents{}
	if err := errors.Join(json.Unmarshal(data, &s), json.Unmarshal(data, &struct{ Methods any }{&d.methods})); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	d.defs = s.Defs
	members := map[string]*jsonschema.Schema{}
	for name, def := range d.defs {
		members[name] = &jsonschema.Schema{Ref: refTo(name)}
		if def.Type == "object" && def.AdditionalProperties == nil {
			def.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	d.all, err = (&jsonschema.Schema{Properties: members, Defs: d.defs}).Resolve(nil)
	return d, err
}

// Names returns the sorted names of the documents, such as memkernel/plan/v1.
func (d *Documents) Names() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.defs)), func(name string) bool { return !strings.HasPrefix(name, "memkernel/") })
}

// Check validates a document by the definition that its member schema names.
func (d *Documents) Check(doc map[string]any) error {
	name, _ := doc["schema"].(string)
	if !strings.HasPrefix(name, "memkernel/") {
		return fmt.Errorf("schema is %q, which is no document", name)
	}
	return d.Validate(name, doc)
}

// Validate validates a value, as encoding/json decodes it, by a definition.
func (d *Documents) Validate(name string, v any) error {
	if d.defs[name] == nil {
		return fmt.Errorf("there is no definition of %s: add it to the table of documents and run make contract", name)
	}
	return d.all.Validate(map[string]any{name: v})
}

// CheckCall validates the parameters and the result of a call of a method. params is nil for a
// call without parameters.
func (d *Documents) CheckCall(method string, params, result any) error {
	for i := range d.methods {
		m := &d.methods[i]
		if m.Name != method {
			continue
		}
		if params == nil {
			params = map[string]any{}
		}
		return errors.Join(d.Validate(named(&m.Params), params), d.Validate(named(&m.Result), result))
	}
	return fmt.Errorf("there is no method %s", method)
}

// named returns the name of the definition that a method refers to.
func named(ref *jsonschema.Schema) string { return strings.TrimPrefix(ref.Ref, "#/$defs/") }

// refTo returns the reference to a definition of the same file.
func refTo(name string) string {
	return "#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
