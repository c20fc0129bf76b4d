package cachelayout

import (
	"strconv"
	"strings"
)

// Identity is everything outside the blocks that a provider's cache depends
// on. The strings are compared, never interpreted, except Model.
type Identity struct {
	Model      string `json:"model"`
	ToolChoice string `json:"tool_choice,omitempty"`
	Thinking   string `json:"thinking,omitempty"`
	Effort     string `json:"effort,omitempty"`
	// Speed is the service speed ("fast").
	Speed string `json:"speed,omitempty"`
	// Features are provider switches that alter the system part: web search
	// and citations.
	Features string `json:"features,omitempty"`
	// Images reports whether any image is in the prompt.
	Images bool `json:"images,omitempty"`
}

// Broken returns the field whose change breaks the cache earliest in the prefix, and the first
// broken level. An unchanged identity gives "", LevelNone.
//
// The rules are Anthropic's invalidation table. For other providers only the
// model is documented to matter, so only the model breaks.
func (old Identity) Broken(now Identity) (field string, level Level) {
	if old == now {
		return "", LevelNone
	}
	if old.Model != now.Model {
		return "model", LevelTools
	}
	if !strings.HasPrefix(modelKey(now.Model), "claude") {
		return "", LevelNone
	}
	// On models up to 4.6 a change of thinking settings leaves tools and system cached. Newer
	// models key the cache by effort as well.
	thought := LevelTools
	if keepsFixedOnThinking(now.Model) {
		thought = LevelMessages
	}
	level = LevelNone
	mark := func(changed bool, name string, l Level) {
		if changed && l < level {
			field, level = name, l
		}
	}
	mark(old.Thinking != now.Thinking, "thinking", thought)
	mark(old.Effort != now.Effort, "effort", thought)
	mark(old.Speed != now.Speed, "speed", LevelSystem)
	mark(old.Features != now.Features, "features", LevelSystem)
	mark(old.ToolChoice != now.ToolChoice, "tool_choice", LevelMessages)
	mark(old.Images != now.Images, "images", LevelMessages)
	return field, level
}

// value prints the field that Broken named.
func (id Identity) value(field string) string {
	switch field {
	case "model":
		return id.Model
	case "tool_choice":
		return id.ToolChoice
	case "thinking":
		return id.Thinking
	case "effort":
		return id.Effort
	case "speed":
		return id.Speed
	case "features":
		return id.Features
	case "images":
		return strconv.FormatBool(id.Images)
	}
	return ""
}

// keepsFixedOnThinking reports whether model is a Claude of the generations (3
// to 4.6) whose tools and system stay cached when thinking settings change.
func keepsFixedOnThinking(model string) bool {
	key := modelKey(model)
	for _, p := range []string{"claude-3", "claude-opus-4-0", "claude-opus-4-1", "claude-opus-4-5",
		"claude-opus-4-6", "claude-sonnet-4", "claude-haiku-4", "claude-4"} {
		if strings.HasPrefix(key, p) {
			return true
		}
	}
	return key == "claude-opus-4"
}
