package proxy

import (
	"testing"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// Answers of all three APIs, whole and streamed, as their references show them.
func TestReadAnswer(t *testing.T) {
	const stream = "text/event-stream; charset=utf-8"
	for _, tt := range []struct {
		name   string
		format transcript.Format
		kind   string
		data   string
		want   answer
		text   string // of the message, "" for none
	}{
		{"text", transcript.FormatAnthropic, "application/json",
			`{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"h","signature":"s"},{"type":"text","text":"a <b>"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"cache_creation_input_tokens":30,"cache_read_input_tokens":4,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":5}}`,
			answer{whole: true, usage: &memkernel.Usage{InputTokens: 1, CacheReadTokens: 4, CacheWrite5mTokens: 10, CacheWrite1hTokens: 20, OutputTokens: 5}}, "a <b>"},
		{"call", transcript.FormatAnthropic, "application/json",
			`{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"input_tokens":1}}`,
			answer{whole: true, open: true, usage: &memkernel.Usage{InputTokens: 1}}, ""},
		{"an error in the stream", transcript.FormatAnthropic, stream,
			"event: message_start\r\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3}}}\r\n\r\nevent: error\r\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\r\n\r\n",
			answer{usage: &memkernel.Usage{InputTokens: 3}}, ""},
		{"stream with thinking and a call", transcript.FormatAnthropic, stream,
			`data: {"type":"message_start","message":{"type":"message","content":[],"usage":{"input_tokens":3,"output_tokens":1}}}

data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig"}}

data: {"type":"ping"}

data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}

data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1}"}}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"input_tokens":4,"output_tokens":9}}

data: {"type":"message_stop"}
`, answer{whole: true, open: true, usage: &memkernel.Usage{InputTokens: 4, OutputTokens: 9}}, ""},
		{"chat", transcript.FormatOpenAI, "application/json",
			`{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":8}}}`,
			answer{whole: true, usage: &memkernel.Usage{InputTokens: 2, CacheReadTokens: 8, OutputTokens: 2}}, "hi"},
		{"chat stream", transcript.FormatOpenAI, stream,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"i\"},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":5,\"prompt_cache_hit_tokens\":4,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n",
			answer{whole: true, usage: &memkernel.Usage{InputTokens: 1, CacheReadTokens: 4, OutputTokens: 1}}, "hi"},
		{"chat stream broken off", transcript.FormatOpenAI, stream, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"h\"}}]}\n\n", answer{}, "h"},
		{"chat stream without a bill, with a call", transcript.FormatOpenAI, stream,
			"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"so\",\"tool_calls\":[{\"index\":0,\"id\":\"a\"}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n",
			answer{whole: true, open: true}, "so"},
		{"response", transcript.FormatResponses, "application/json",
			`{"status":"completed","output":[{"type":"reasoning","id":"r","summary":[]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi","annotations":[]}]}],"usage":{"input_tokens":9,"input_tokens_details":{"cached_tokens":4},"output_tokens":3}}`,
			answer{whole: true, usage: &memkernel.Usage{InputTokens: 5, CacheReadTokens: 4, OutputTokens: 3}}, "hi"},
		{"response stream, items apart", transcript.FormatResponses, stream,
			"event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"function_call\",\"call_id\":\"c\",\"name\":\"f\",\"arguments\":\"{}\"}}\n\nevent: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\",\"output\":[]}}\n\n",
			answer{whole: true, open: true}, ""},
		{"response that searches for tools", transcript.FormatResponses, "application/json",
			`{"status":"completed","output":[{"type":"tool_search_call","call_id":"c","execution":"client","arguments":{}}]}`, answer{whole: true, open: true}, ""},
		{"response that asks for what nobody knows", transcript.FormatResponses, "application/json",
			`{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]},{"type":"orbit_call","call_id":"c"}]}`, answer{whole: true, open: true}, "so"},
		{"response that asks for an approval", transcript.FormatResponses, "application/json",
			`{"status":"completed","output":[{"type":"mcp_approval_request","id":"m","name":"f","arguments":"{}"}]}`, answer{whole: true, open: true}, ""},
		{"response with what the provider ran", transcript.FormatResponses, "application/json",
			`{"status":"completed","output":[{"type":"web_search_call","id":"w"},{"type":"tool_search_call","call_id":null,"execution":"server"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"so"}]}]}`, answer{whole: true}, "so"},
		{"response failed", transcript.FormatResponses, stream, "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\"}}\n\n", answer{}, ""},
		{"no JSON", transcript.FormatAnthropic, "text/html", "<html>", answer{}, ""},
		{"other JSON", transcript.FormatAnthropic, "application/json", `[1]`, answer{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := readAnswer(tt.format, tt.kind, []byte(tt.data))
			text := ""
			if got.message != nil {
				text = transcript.Text(*got.message)
			}
			same := (got.usage == nil) == (tt.want.usage == nil) && (got.usage == nil || *got.usage == *tt.want.usage)
			if got.whole != tt.want.whole || got.open != tt.want.open || !same || text != tt.text {
				t.Errorf("%+v, usage %+v, text %q", got, got.usage, text)
			}
		})
	}
}

// No copy of an answer makes the reader fail.
func FuzzReadAnswer(f *testing.F) {
	f.Add("data: {\"type\":\"content_block_delta\",\"index\":3}\n\n")
	f.Add(`{"type":"message","content":[null,3],"stop_reason":"x"}`)
	f.Fuzz(func(t *testing.T, data string) {
		for _, format := range []transcript.Format{transcript.FormatAnthropic, transcript.FormatOpenAI, transcript.FormatResponses} {
			readAnswer(format, "text/event-stream", []byte(data))
			readAnswer(format, "application/json", []byte(data))
		}
	})
}
