package main

import "github.com/memkernel/memkernel/transcript"

// result is a tool's answer to a call.
type result struct {
	call, text string
	failed     bool
}

// results returns the messages that carry results, in the API's form. Depending on the API it is
// one message for all results, or one message for each result.
func (e *endpoint) results(list []result) []any {
	var blocks, messages []any
	for _, r := range list {
		blocks = append(blocks, map[string]any{"type": "tool_result", "tool_use_id": r.call, "content": r.text, "is_error": r.failed})
		messages = append(messages, map[string]any{"role": "tool", "tool_call_id": r.call, "content": r.text})
	}
	if e.api != transcript.FormatAnthropic || len(list) == 0 {
		return messages
	}
	return []any{map[string]any{"role": "user", "content": blocks}}
}
