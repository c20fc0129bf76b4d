package document

import (
	"cmp"
	"encoding/json"
	"fmt"

	"github.com/memkernel/memkernel"
)

// SystemParts reads the text blocks of a system prompt.
func SystemParts(blocks []json.RawMessage) ([]memkernel.Part, error) {
	var parts []memkernel.Part
	for i, raw := range blocks {
		var b struct{ Type, Text string }
		if err := json.Unmarshal(raw, &b); err != nil || b.Type != "text" {
			return nil, fmt.Errorf("block %d is no text block", i+1)
		}
		parts = append(parts, memkernel.Part{Kind: memkernel.PartText, Text: b.Text, Raw: string(raw)})
	}
	return parts, nil
}

// Tools reads tool definitions in any provider's form.
func Tools(definitions []json.RawMessage) ([]memkernel.Tool, error) {
	tools := make([]memkernel.Tool, 0, len(definitions))
	for i, raw := range definitions {
		var t struct {
			Name, Type string
			Function   struct{ Name string }
		}
		err := json.Unmarshal(raw, &t)
		name := cmp.Or(t.Name, t.Function.Name, t.Type)
		if err != nil || name == "" {
			return nil, fmt.Errorf("definition %d has no name", i+1)
		}
		tools = append(tools, memkernel.Tool{Name: name, Raw: string(raw)})
	}
	return tools, nil
}
