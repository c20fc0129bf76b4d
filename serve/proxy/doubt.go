package proxy

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// The reasons for which a request passes unchanged.
const (
	passUnreadable = "unreadable"     // not JSON, or JSON that can be read in several ways
	passEncoded    = "encoded"        // the body is compressed
	passElsewhere  = "server_history" // the provider stores the history
	passChoices    = "many_choices"   // several answers to one request
	passBlock      = "unknown_block"  // nothing but blocks of types that we don't know
	passMarkers    = "client_markers" // cache breakpoints in OpenAI's form
	passProbe      = "probe"          // asks for no answer
	passSide       = "side_call"      // no tools, outside the session's conversation
	passDeadline   = "deadline"       // the plan took too long
	passBusy       = "busy"           // another request of the conversation is being planned
	passPlan       = "plan_error"     // the kernel refused
	passUnfit      = "fixed_part"     // system prompt and tools alone don't fit the window
	passInvalid    = "invalid_plan"   // the planned request breaks a rule of the API
	passSystem     = "system_message" // nothing but system messages
	passOneShot    = "one_shot"       // a program's single question, outside any conversation
	passFragment   = "fragment"       // a token count of messages that begin no known conversation
	passSigned     = "signed"         // a rewritten body would break its signature
	passString     = "string_input"   // a Responses request whose input is a string
	passPath       = "path"           // the path is not that of a model call
	passAnswered   = "prefill"        // it ends with the beginning of an answer, which the model is to continue
)

// doubt returns the reason why a body is not planned, "" if it is planned.
func doubt(b *transcript.Body) string {
	for _, name := range apis[b.Format].elsewhere {
		if v := b.Member(name); v != "" && v != "null" {
			return passElsewhere
		}
	}
	n := len(b.Messages)
	choices, _ := number(b, "n")
	longest, limited := longestAnswer(b)
	switch {
	case b.Model == "" || n == 0 && len(b.System) == 0:
		return passUnreadable
	case n == 0:
		return passSystem
	case choices > 1 || b.Member("background") == "true":
		return passChoices
	case limited && longest <= 1: // it only checks the API or warms a cache
		return passProbe
	case b.Messages[n-1].Role == memkernel.RoleAssistant:
		return passAnswered
	case !slices.ContainsFunc(b.Messages, func(m memkernel.Message) bool { _, all := transcript.Held(&m); return !all }):
		return passBlock
	case !slices.ContainsFunc(b.Messages, func(m memkernel.Message) bool { return !isSystem(&m) }):
		return passSystem
	}
	if b.Format != transcript.FormatAnthropic && b.Marked() {
		return passMarkers
	}
	if of := apis[b.Format].doubt; of != nil {
		return of(b)
	}
	return ""
}

func isSystem(m *memkernel.Message) bool {
	return m.Role == memkernel.RoleSystem || m.Role == memkernel.RoleDeveloper
}

// oneShot reports whether a request belongs to no conversation. Programs send such a request to
// get a title or a topic, or to check the API. Such a request has one user's turn and no tools.
// Either it has no system prompt and no session, or it has the session of an agent, whose
// conversations have tools. The request must not see a person's memory, and nothing in it is
// worth keeping. If the request is in fact the first question of a conversation, the conversation
// is planned from the next question on.
func oneShot(b *transcript.Body, id identity) bool {
	if len(b.Tools) > 0 {
		return false
	}
	instructed := len(b.System) > 0
	for i := range b.Messages {
		m := &b.Messages[i]
		instructed = instructed || isSystem(m)
		if m.Role != memkernel.RoleUser && !isSystem(m) {
			return false
		}
	}
	return id.exact || !instructed && !id.named
}

// number returns the value of a numeric member in any JSON form, such as 1e3.
func number(b *transcript.Body, name string) (n float64, ok bool) {
	n, err := strconv.ParseFloat(b.Member(name), 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange) // too large for any answer
}

// longestAnswer returns the limit that a request sets to the tokens of its answer.
func longestAnswer(b *transcript.Body) (least float64, ok bool) {
	for _, name := range []string{"max_tokens", "max_completion_tokens", "max_output_tokens"} {
		if n, here := number(b, name); here && (!ok || n < least) {
			least, ok = n, true
		}
	}
	return least, ok
}

// anthropicDoubt returns the reason why a request passes unplanned, "" if there is none. A request
// with a container may depend on files that it does not contain. A request whose body names neither
// a model nor a version may be for another API.
func anthropicDoubt(b *transcript.Body) string {
	var c struct {
		ID string `json:"id"`
	}
	raw := b.Member("container")
	switch {
	case raw != "" && (b.Text("container") != "" || json.Unmarshal([]byte(raw), &c) == nil && c.ID != ""):
		return passElsewhere
	case b.Member("model") == "" && b.Text("anthropic_version") == "":
		return passUnreadable
	}
	return ""
}

// geminiDoubt returns the reason why a request passes unplanned, "" if there is none. It reads
// generationConfig.
func geminiDoubt(b *transcript.Body) string {
	var c struct {
		Choices      int    `json:"candidateCount"`
		ChoicesOther int    `json:"candidate_count"`
		Max          *int   `json:"maxOutputTokens"`
		MaxOther     *int   `json:"max_output_tokens"`
		Mime         string `json:"responseMimeType"`
		MimeOther    string `json:"response_mime_type"`
	}
	raw := b.Member("generationConfig")
	if raw != "" && json.Unmarshal([]byte(raw), &c) != nil {
		return passUnreadable
	}
	pieces := func(p memkernel.Part) bool {
		return p.Kind == memkernel.PartOther && geminiFunction.MatchString(p.Raw)
	}
	if slices.ContainsFunc(b.Messages, func(m memkernel.Message) bool { return slices.ContainsFunc(m.Parts, pieces) }) {
		return passBlock // a call, or its result, that came in pieces
	}
	least := func(n *int) bool { return n != nil && *n <= 1 }
	switch {
	case max(c.Choices, c.ChoicesOther) > 1:
		return passChoices
	case least(c.Max) || least(c.MaxOther):
		return passProbe
	case len(b.Tools) == 0 && (c.Mime == "application/json" || c.MimeOther == "application/json"):
		return passSide // a program asks for data about a conversation
	}
	return ""
}
