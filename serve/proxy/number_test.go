package proxy_test

import (
	"strings"
	"testing"

	"github.com/memkernel/memkernel/internal/fakemodel"
	"github.com/memkernel/memkernel/serve/proxy"
)

// A number means what it is worth, however JSON writes it; null, and what is no number,
// bound nothing.
func TestNumbers(t *testing.T) {
	s := newStage(t, fakemodel.Options{}, proxy.Options{}, answering(anthropicOK))
	paths := map[string]string{"max_tokens": "/v1/messages", "max_completion_tokens": "/v1/chat/completions", "max_output_tokens": "/v1/responses", "n": "/v1/chat/completions"}
	for name, path := range paths {
		list := `"messages"`
		if path == "/v1/responses" {
			list = `"input"`
		}
		for value, want := range map[string]string{
			"1000": "planned;", "1000.0": "planned;", "1e3": "planned;", "1E+3": "planned;", "10.0e2": "planned;", "1e400": "planned;", "2": "planned;", "1.5": "planned;",
			"null": "planned;", `"1000"`: "planned;", "1": "reason=probe", "1.0": "reason=probe", "10e-1": "reason=probe", "0": "reason=probe", "0.0": "reason=probe", "-1": "reason=probe",
		} {
			if name == "n" {
				want = map[bool]string{true: "reason=many_choices", false: "planned;"}[strings.HasPrefix(want, "planned") && strings.Trim(value, `nul"`) == value]
			}
			r := s.post(path, `{"model":"claude-sonnet-4-6","`+name+`":`+value+`,`+list+`:[{"role":"user","content":"hi"}]}`, "X-Memkernel-Session", "s")
			if !strings.Contains(r.outcome(), want) {
				t.Errorf("%s %s: %q, want %q", name, value, r.outcome(), want)
			}
		}
	}
}
