package trace

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// fields are some fields of a struct by their names in JSON.
type fields map[string]json.RawMessage

// changedFields returns the exported fields of now that differ from base.
func changedFields[T any](base, now *T) (fields, error) {
	a, b := reflect.ValueOf(base).Elem(), reflect.ValueOf(now).Elem()
	var out fields
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || reflect.DeepEqual(a.Field(i).Addr().Interface(), b.Field(i).Addr().Interface()) {
			continue
		}
		raw, err := json.Marshal(b.Field(i).Interface())
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		if out == nil {
			out = fields{}
		}
		out[fieldName(f)] = raw
	}
	return out, nil
}

// withFields returns base with some of its fields replaced. A field that the struct does not have
// is an error.
func withFields[T any](base T, f fields) (T, error) {
	v := reflect.ValueOf(&base).Elem()
	byName := map[string]int{}
	for i := range v.NumField() {
		if sf := v.Type().Field(i); sf.IsExported() {
			byName[fieldName(sf)] = i
		}
	}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		i, ok := byName[name]
		if !ok {
			return base, fmt.Errorf("%s has no field %s", v.Type().Name(), name)
		}
		fresh := reflect.New(v.Field(i).Type()) // values that base shares stay unchanged
		if err := json.Unmarshal(f[name], fresh.Interface()); err != nil {
			return base, fmt.Errorf("field %s: %w", name, err)
		}
		v.Field(i).Set(fresh.Elem())
	}
	return base, nil
}

// fieldName returns a field's name in JSON.
func fieldName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" || name == "-" {
		return f.Name
	}
	return name
}
