package hook

import (
	"bytes"
	"encoding/json"
)

// answer is a hook's answer to its host: text for the model, or nothing.
type answer struct {
	// context is added to the model's input. summariser is added to the prompt of the host's
	// summariser. A host gets only the texts that it can take.
	context    string
	summariser string
	// message is shown only to the person.
	message string
	// output replaces the result of a tool, in the tool's own structure. A nil output leaves the
	// result.
	output json.RawMessage
}

// render returns the answer in the form that the host expects for this event.
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

// answerJSON returns an answer that has only the members that the strictest host allows.
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
