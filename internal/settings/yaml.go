package settings

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

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
