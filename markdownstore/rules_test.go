package markdownstore

import "testing"

// TestBlankRules: the section's lines are blank, and all others keep bytes and numbers.
func TestBlankRules(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n": "a\nb\n",
		"a\n<!-- memkernel:begin (x) -->\nours\n<!-- memkernel:end -->\nb":                 "a\n\n\n\nb",
		"a\r\n<!-- memkernel:begin -->\r\n# ours\r\n<!-- memkernel:end -->\r\nb\r\n":       "a\r\n\r\n\r\n\r\nb\r\n",
		"<!-- memkernel:begin -->\nno end\n":                                               "<!-- memkernel:begin -->\nno end\n",
		"<!-- memkernel:end -->\na\n":                                                      "<!-- memkernel:end -->\na\n",
		"`<!-- memkernel:begin` in a line\n<!-- memkernel:end -->\n":                       "`<!-- memkernel:begin` in a line\n<!-- memkernel:end -->\n",
		"<!-- memkernel:begin -->\nx\n<!-- memkernel:end -->\n<!-- memkernel:end -->\nb\n": "\n\n\n<!-- memkernel:end -->\nb\n",
	} {
		if got := BlankRules(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}
