package cachelayout

import (
	"slices"
	"strings"
)

// modelKey strips from a model id the parts that do not change the model: case, the provider and
// region in front of it, a context or thinking suffix, a version suffix and a snapshot date.
// Claude versions are written with dashes.
//
//	us.anthropic.claude-opus-4-5-20251101-v1:0 -> claude-opus-4-5
//	openrouter/anthropic/claude-sonnet-4.5     -> claude-sonnet-4-5
//	claude-opus-4-6[1m]                        -> claude-opus-4-6
//	gpt-4o-2024-08-06                          -> gpt-4o
//	azure_openai:gpt-5.1, azure-gpt-5.1        -> gpt-5.1
//	databricks-claude-4.6-opus-thinking        -> claude-opus-4-6
//
// Nothing else is stripped. A name that only begins like a known name is another model with
// another price.
func modelKey(id string) string {
	s := strings.ToLower(strings.TrimSpace(id))
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		s = s[i+1:]
	}
	if i := strings.IndexAny(s, "[@"); i > 0 {
		s = s[:i]
	}
	s = cutVendor(s)
	if i := strings.IndexByte(s, ':'); i > 0 {
		s = s[:i]
	}
	s = cutBedrockVersion(s)
	for _, suffix := range []string{"-thinking", "-latest", "-preview", "-exp"} {
		s = strings.TrimSuffix(s, suffix)
	}
	s = cutDate(s)
	if strings.HasPrefix(s, "claude") {
		s = nameFirst(strings.ReplaceAll(s, ".", "-"))
	}
	return s
}

// gateways are prefixes that end with a colon or a dash.
var gateways = []string{"anthropic", "openai", "google", "google_genai", "google-gla", "google_vertexai", "deepseek", "bedrock", "vertex", "vertex_ai", "azure", "azure_openai", "databricks"}

// cutVendor drops "us.anthropic.", "openai:", "azure-" and the like.
func cutVendor(s string) string {
	for _, v := range []string{"anthropic.", "openai.", "google.", "deepseek."} {
		if i := strings.Index(s, v); i >= 0 {
			return s[i+len(v):]
		}
	}
	if i := strings.IndexByte(s, ':'); i > 0 && slices.Contains(gateways, s[:i]) {
		return s[i+1:]
	}
	for _, v := range gateways {
		if rest, ok := strings.CutPrefix(s, v+"-"); ok && v != "deepseek" {
			return strings.TrimPrefix(rest, "-")
		}
	}
	return s
}

// nameFirst writes claude-4-6-opus as claude-opus-4-6. Versions before 4 keep their order,
// which is the provider's own.
func nameFirst(s string) string {
	w := strings.Split(s, "-")
	if last := len(w) - 1; last >= 2 && len(w[1]) == 1 && w[1] >= "4" && w[1] <= "9" && w[last] >= "a" {
		return strings.Join(slices.Concat(w[:1], w[last:], w[1:last]), "-")
	}
	return s
}

// cutBedrockVersion drops a trailing "-v1" or "-v2".
func cutBedrockVersion(s string) string {
	if n := len(s); n > 3 && s[n-3:n-1] == "-v" && s[n-1] >= '0' && s[n-1] <= '9' {
		return s[:n-3]
	}
	return s
}

// cutDate drops a trailing snapshot date in the form -YYYYMMDD, -YYYY-MM-DD or -MM-DD. It drops
// the last form only after "preview" and "exp".
func cutDate(s string) string {
	for _, form := range []string{"-20dddddd", "-20dd-dd-dd", "-preview-dd-dd", "-preview-dd-20dd", "-exp-dd-dd"} {
		if n := len(s) - len(form); n > 0 && matches(s[n:], form) {
			return s[:n]
		}
	}
	return s
}

// matches reports whether s matches a form of equal length, in which d matches a digit.
func matches(s, form string) bool {
	for i := range len(form) {
		if form[i] == 'd' {
			if s[i] < '0' || s[i] > '9' {
				return false
			}
		} else if s[i] != form[i] {
			return false
		}
	}
	return true
}
