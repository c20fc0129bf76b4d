package budget

import (
	"slices"
	"strconv"
	"strings"
)

// familyOf guesses the tokenizer of a model from its id, as [For] takes it. It understands the
// spellings of the providers and of gateways ("anthropic/…", "us.anthropic.…-v1:0", "…@20260401",
// "ft:…", "…[1m]"). A model of a known vendor but an unknown version counts as a new model of
// that vendor. For any other model it returns [Bytes].
func familyOf(modelID string) string {
	id := strings.ToLower(strings.TrimSpace(modelID))
	id = id[strings.LastIndexByte(id, '/')+1:]
	id = strings.TrimPrefix(id, "ft:")
	words := strings.FieldsFunc(id, func(r rune) bool { return strings.ContainsRune("-._@:[] ,", r) })
	switch {
	case slices.ContainsFunc(words, isClaudeName):
		return claudeFamily(words)
	case slices.Contains(words, "gemini") || slices.Contains(words, "gemma"):
		return gemini
	}
	return openAIFamily(id, words)
}

func isClaudeName(w string) bool {
	switch w {
	case "claude", "opus", "sonnet", "haiku", "fable", "mythos":
		return true
	}
	return false
}

// claudeFamily returns the tokenizer of a Claude model. Opus got the new tokenizer with version
// 4.7, and all other models with version 5.
func claudeFamily(words []string) string {
	words = words[slices.IndexFunc(words, isClaudeName):]
	has := func(w string) bool { return slices.Contains(words, w) }
	major, minor, known := version(words)
	switch {
	case has("fable"), has("mythos"):
		return claudeNew
	case has("instant"), !known && (has("v1") || has("v2")):
		return claudeOld
	case !known, major >= 5, major == 4 && minor >= 7:
		return claudeNew
	}
	return claudeOld
}

// version finds the first number among words and a second number right after it. Dates and other
// long numbers don't count.
func version(words []string) (major, minor int, ok bool) {
	for i, w := range words {
		n, err := strconv.Atoi(w)
		if err != nil || len(w) > 2 {
			continue
		}
		if i+1 < len(words) && len(words[i+1]) <= 2 {
			minor, _ = strconv.Atoi(words[i+1])
		}
		return n, minor, true
	}
	return 0, 0, false
}

// openAIFamily returns the tokenizer of an OpenAI model, and bySize for any other model.
func openAIFamily(id string, words []string) string {
	has := func(prefixes ...string) bool {
		return slices.ContainsFunc(prefixes, func(p string) bool { return strings.Contains(id, p) })
	}
	switch {
	case has("gpt-2", "gpt2", "text-davinci", "code-davinci", "davinci-codex", "cushman"):
		return bySize // older than the vocabularies that are known
	case has("gpt-4o", "gpt-4.1", "gpt-4-1", "gpt-4.5", "gpt-4-5", "chatgpt-", "gpt-oss", "codex"):
		return o200k
	case has("gpt-4", "gpt-3.5", "gpt-35", "text-embedding-", "davinci-002", "babbage-002"):
		return cl100k
	case slices.Contains(words, "gpt"), slices.ContainsFunc(words, isReasoner):
		return o200k
	}
	return bySize
}

// isReasoner reports whether w is o1, o3, o4 or a later model of this series.
func isReasoner(w string) bool {
	return len(w) == 2 && w[0] == 'o' && '1' <= w[1] && w[1] <= '9'
}
