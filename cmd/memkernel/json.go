package main

import (
	"encoding/json"
	"fmt"
)

// writeJSON prints one document. Text is not escaped for HTML, so that what the
// model sees can be read as it is.
func (a *app) writeJSON(v any) error {
	enc := json.NewEncoder(a.document())
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write json: %w", err)
	}
	return nil
}
