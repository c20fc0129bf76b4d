package memkernel

import (
	"encoding/json"
	"reflect"
	"testing"
)

// Reports of both providers are read into one form, and a report of an unknown form is ignored.
func TestReported(t *testing.T) {
	for name, tt := range map[string]struct {
		answer string
		want   *Reported
	}{
		"nothing":         {`{}`, nil},
		"nothing removed": {`{"input_transformations":[],"diagnostics":null}`, nil},
		"messages": {`{"input_transformations":[
			{"type":"thinking_dropped","path":"messages.1.content.0","reason":"prefix_binding_mismatch"},
			{"type":"thinking_mismatch_allowed","path":"messages.5.content.0","reason":"prefix_binding_mismatch"},
			{"type":"thinking_dropped","path":"messages.3.content.0","reason":"model_binding_mismatch"},
			{"type":"thinking_dropped","path":"messages.7.content.0","reason":"prefix_binding_mismatch"}],
			"diagnostics":{"cache_miss_reason":{"type":"tools_changed","cache_missed_input_tokens":41000}}}`,
			&Reported{Removed: []Removal{{"model_mismatch", 1}, {"prefix_mismatch", 2}}, Miss: &CacheMiss{"tools_changed", 41000}}},
		"responses": {`{"input_transformations":[{"type":"reasoning","id":"rs_1","action":"removed","reason":"turn_boundary"}],
			"prompt_cache_diagnostics":{"type":"cache_miss","reason":"input_changed","cache_missed_tokens":7}}`,
			&Reported{Removed: []Removal{{"turn_boundary", 1}}, Miss: &CacheMiss{"input_changed", 7}}},
		"a hit":        {`{"prompt_cache_diagnostics":{"type":"cache_hit"},"diagnostics":{"cache_miss_reason":null}}`, nil},
		"other shapes": {`{"input_transformations":{"a":1},"diagnostics":[3],"prompt_cache_diagnostics":"no"}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var m ReportMembers
			if err := json.Unmarshal([]byte(tt.answer), &m); err != nil {
				t.Fatal(err)
			}
			if got := m.Read(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}
