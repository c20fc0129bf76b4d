package cachelayout

import "strings"

// modelKey strips from a model id what does not change the model: case, the
// provider and region in front of it, a context or thinking suffix, a version
// suffix and a snapshot date. Claude versions are written with dashes.
//
//	us.anthropic.claude-opus-4-5-20251101-v1:0 -> claude-opus-4-5
//	openrouter/anthropic/claude-sonnet-4.5     -> claude-sonnet-4-5
//	claude-opus-4-6[1m]                        -> claude-opus-4-6
//	gpt-4o-2024-08-06                          -> gpt-4o
//
// Nothing else is stripped: a name that merely begins like a known one is
// another model with another price.
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
	for _, suffix := range []string{"-latest", "-preview", "-exp"} {
		s = strings.TrimSuffix(s, suffix)
	}
	s = cutDate(s)
	if strings.HasPrefix(s, "claude") {
		s = strings.ReplaceAll(s, ".", "-")
	}
	return s
}

// cutVendor drops "us.anthropic." and the like.
func cutVendor(s string) string {
	for _, v := range []string{"anthropic.", "openai.", "google.", "deepseek."} {
		if i := strings.Index(s, v); i >= 0 {
			return s[i+len(v):]
		}
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

// cutDate drops a trailing -YYYYMMDD, -YYYY-MM-DD or -MM-DD snapshot date; the
// last form only behind "preview".
func cutDate(s string) string {
	for _, form := range []string{"-20dddddd", "-20dd-dd-dd", "-preview-dd-dd", "-preview-dd-20dd"} {
		if n := len(s) - len(form); n > 0 && matches(s[n:], form) {
			return s[:n]
		}
	}
	return s
}

// matches compares s with a form of equal length in which d matches a digit.
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
