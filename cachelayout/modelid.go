package cachelayout

import (
	"regexp"
	"slices"
	"strings"
	"sync"
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
	s = bedrockVersion().ReplaceAllString(s, "$1")
	for _, suffix := range []string{"-thinking", "-latest", "-preview", "-exp"} {
		s = strings.TrimSuffix(s, suffix)
	}
	s = snapshotDate().ReplaceAllString(s, "$1")
	if strings.HasPrefix(s, "claude") {
		s = nameFirst(strings.ReplaceAll(s, ".", "-"))
	}
	return s
}

// These endings do not change a model. A name that consists only of such an ending keeps it.
var (
	// bedrockVersion is a trailing "-v1" or "-v2".
	bedrockVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(.+)-v\d$`) })
	// snapshotDate is a trailing date in the form -YYYYMMDD, -YYYY-MM-DD, or -MM-DD after
	// "preview" and "exp".
	snapshotDate = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.+?)-(?:20\d{6}|20\d\d-\d\d-\d\d|preview-\d\d-(?:20)?\d\d|exp-\d\d-\d\d)$`)
	})
)

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

// olderClaude is a Claude model before 4.5.
var olderClaude = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^claude-(?:[123]\b|instant|[a-z]+-4(?:-[01])?$)`)
})

// RefusesLongAnswers reports whether a model's provider refuses a request whose prompt and longest
// allowed answer together are larger than the window. Claude since 4.5 answers such a request and
// stops at the end of the window. Gemini's window is for the prompt alone.
func RefusesLongAnswers(id string) bool {
	m := Assume(id)
	return m.Provider != "google" && (m.Provider != "anthropic" || olderClaude().MatchString(m.ID))
}
