package textutil

import (
	"slices"
	"strings"
	"unicode"
)

// vendors and kinds are words that people write around the name of a coding agent.
var vendors, kinds = []string{"anthropic", "openai", "google", "github"}, []string{"cli", "agent", "coding", "code"}

// MeantHost returns the one of names that the word typed means, such as "claude" for
// "claude-code" or "gemini" for "Gemini CLI". If typed means none of names, MeantHost returns
// typed itself.
func MeantHost(typed string, names []string) string {
	if slices.Contains(names, typed) {
		return typed
	}
	for _, n := range names {
		if host(n) == host(typed) {
			return n
		}
	}
	return typed
}

// host returns a name in lower case, without punctuation, vendor and kind.
func host(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
	for _, v := range vendors {
		name = strings.TrimPrefix(name, v)
	}
	for _, k := range kinds {
		name = strings.TrimSuffix(name, k)
	}
	return name
}
