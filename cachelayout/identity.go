package cachelayout

import (
	"slices"
	"strconv"
	"strings"
)

// Identity holds the values, other than the blocks, on which a provider's cache depends. The
// strings except Model are compared and never interpreted.
type Identity struct {
	Model      string `json:"model"`
	ToolChoice string `json:"tool_choice,omitempty"`
	Thinking   string `json:"thinking,omitempty"`
	Effort     string `json:"effort,omitempty"`
	// Images reports whether any image is in the prompt.
	Images bool `json:"images,omitempty"`
}

// Broken returns the field whose change breaks the cache earliest in the prefix, its former and
// its present value, and the first broken level. If nothing breaks, the level is levelNone.
//
// The rules are Anthropic's invalidation table. For other providers only the
// model is documented to matter, so only the model breaks.
func (old Identity) Broken(now Identity) (field, was, is string, level cacheLevel) {
	if old.Model != now.Model {
		return "model", old.Model, now.Model, LevelTools
	}
	level = levelNone
	if old == now || !strings.HasPrefix(modelKey(now.Model), "claude") {
		return "", "", "", level
	}
	// On models up to 4.6 a change of thinking settings leaves tools and system cached. Newer
	// models key the cache by effort as well.
	thought := LevelTools
	if keepsFixedOnThinking(now.Model) {
		thought = levelMessages
	}
	for _, f := range [...]struct {
		name, was, is string
		breaks        cacheLevel
	}{
		{"thinking", old.Thinking, now.Thinking, thought},
		{"effort", old.Effort, now.Effort, thought},
		{"tool_choice", old.ToolChoice, now.ToolChoice, levelMessages},
		{"images", strconv.FormatBool(old.Images), strconv.FormatBool(now.Images), levelMessages},
	} {
		if f.was != f.is && f.breaks < level {
			field, was, is, level = f.name, f.was, f.is, f.breaks
		}
	}
	return field, was, is, level
}

// keepsFixedOnThinking reports whether model is a Claude of the generations (3
// to 4.6) whose tools and system stay cached when thinking settings change.
func keepsFixedOnThinking(model string) bool {
	key := modelKey(model)
	return key == "claude-opus-4" || slices.ContainsFunc([]string{"claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5",
		"claude-opus-4-6", "claude-sonnet-4", "claude-haiku-4", "claude-4"}, func(p string) bool { return strings.HasPrefix(key, p) })
}
