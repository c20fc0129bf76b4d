package memkernel_test

import (
	"fmt"

	"github.com/memkernel/memkernel"
)

// A conversation in which the model calls a tool, before it answers.
func Example() {
	messages := []memkernel.Message{
		memkernel.User("When do we deploy?"),
		memkernel.Assistant("Let me look.", memkernel.ToolCall{ID: "call-1", Name: "read_file", Input: `{"path":"DEPLOY.md"}`}),
		memkernel.Result("call-1", "We deploy on Tuesdays."),
		memkernel.Assistant("On Tuesdays."),
	}
	for _, m := range messages {
		fmt.Println(m.Role, len(m.Parts), m.Parts[0].Kind)
	}
	// Output:
	// user 1 text
	// assistant 2 text
	// tool 1 tool_result
	// assistant 1 text
}

// A program that streams hands in every event: the whole bill is seldom in one of them.
func ExampleStreamUsage() {
	events := []string{ // of the Messages API, such as its SDK's stream.Current().RawJSON()
		`{"type":"message_start","message":{"usage":{"input_tokens":12,"cache_read_input_tokens":31000,"output_tokens":1}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"On Tuesdays."}}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`,
	}
	var bill memkernel.StreamUsage
	for _, e := range events {
		bill.Add([]byte(e))
	}
	usage, err := bill.Usage()
	fmt.Printf("%+v %v\n", *usage, err)
	// Output:
	// {InputTokens:12 CacheReadTokens:31000 CacheWrite5mTokens:0 CacheWrite1hTokens:0 OutputTokens:7} <nil>
}
