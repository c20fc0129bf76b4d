package hook

import (
	"bytes"
	"encoding/json"
)

// answer is a hook's answer to its host: text for the model, or nothing.
type answer struct {
	// context is added to the model's input. summariser is added to the prompt of the host's
	// summariser. A host that can't take one of them gets neither.
	context    string
	summariser string
	// message is shown to the person alone.
	message string
	// output replaces the result of a tool, in the tool's own structure; nil leaves it.
	output json.RawMessage
}

// render writes the answer as the host takes it at this event.
func (a answer) render(h Host, e *event) []byte {
	text := h.row().text
	if text && a.summariser != "" {
		return []byte(a.summariser)
	}
	switch {
	case a.context != "", a.output != nil:
		return answerJSON(&specific{e.Name, a.context, a.output}, a.message)
	case a.message != "":
		return answerJSON(nil, a.message)
	}
	if text {
		return nil
	}
	return []byte("{}\n")
}

// specific is the text for the model.
type specific struct {
	Event   string          `json:"hookEventName"`
	Context string          `json:"additionalContext,omitempty"`
	Output  json.RawMessage `json:"updatedToolOutput,omitempty"`
}

// answerJSON has no members but those that the strictest host allows.
func answerJSON(told *specific, message string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // the fence is to be read by people, too
	if err := enc.Encode(struct {
		Specific *specific `json:"hookSpecificOutput,omitempty"`
		Message  string    `json:"systemMessage,omitempty"`
	}{told, message}); err != nil {
		panic("hook: " + err.Error()) // strings always marshal
	}
	return b.Bytes()
}
