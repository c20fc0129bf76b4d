package budget

import (
	"encoding/json"
	"fmt"
	"strings"
)

// toolInput returns the text as which a model of a family sees the arguments of a tool call.
// input is the arguments as JSON. Claude writes and reads arguments as plain values under their
// names, where a line break is one character and not an escape of two. Recorded calls that write
// whole files are billed a fifth to a third less than their JSON would be. For other families,
// and for input that is not a JSON object, toolInput returns input.
func toolInput(family, input string) string {
	if family != claudeOld && family != claudeNew || !strings.HasPrefix(strings.TrimSpace(input), "{") || !json.Valid([]byte(input)) {
		return input
	}
	var b strings.Builder
	b.Grow(len(input))
	values := json.NewDecoder(strings.NewReader(input))
	values.UseNumber()
	for {
		switch v, err := values.Token(); v := v.(type) {
		case json.Delim:
		case nil:
			if err != nil {
				return b.String() // the end
			}
			b.WriteString("null\n")
		default:
			fmt.Fprintln(&b, v)
		}
	}
}
