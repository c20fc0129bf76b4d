// Package contract makes the JSON Schema of the documents that the program prints and of the
// daemon's methods, and validates documents by it. Tests and generators use it; the program does
// not.
package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Documents are the definitions of a schema file, by which documents are validated.
type Documents struct {
	defs   map[string]*jsonschema.Schema
	loaded map[string]*jsonschema.Resolved
}

// Load reads a schema file. Documents are held to it strictly: a member that it does not
// describe is an error, though clients have to ignore such a member.
func Load(path string) (*Documents, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, d := range s.Defs {
		if d.Type == "object" && d.AdditionalProperties == nil {
			d.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	return &Documents{s.Defs, map[string]*jsonschema.Resolved{}}, nil
}

// Names returns the names of the documents, memkernel/plan/v1 among them, sorted.
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
	if d.loaded[name] == nil {
		s, err := (&jsonschema.Schema{Ref: refTo(name), Defs: d.defs}).Resolve(nil)
		if err != nil {
			return err
		}
		d.loaded[name] = s
	}
	return d.loaded[name].Validate(v)
}

// refTo is the reference to a definition of the same file.
func refTo(name string) string {
	return "#/$defs/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
