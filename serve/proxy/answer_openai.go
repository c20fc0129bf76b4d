package proxy

import (
	"encoding/json"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// chatChunk is an answer of chat completions, or a piece of one.
type chatChunk struct {
	Choices []struct {
		Index   int         `json:"index"`
		Message chatMessage `json:"message"`
		Delta   chatMessage `json:"delta"`
		Finish  *string     `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type chatMessage struct {
	Content   string            `json:"content"` // null counts as ""
	Refusal   string            `json:"refusal"`
	Reasoning string            `json:"reasoning_content"`
	Calls     []json.RawMessage `json:"tool_calls"`
	Function  json.RawMessage   `json:"function_call"`
}

// chatSum is the answer put together from its pieces.
type chatSum struct {
	content, refusal, reasoning strings.Builder
	calls, finished, failed     bool
}

func (s *chatSum) add(c *chatChunk) {
	s.failed = s.failed || len(c.Error) > 0 && string(c.Error) != "null"
	for i := range c.Choices {
		if c.Choices[i].Index != 0 {
			continue
		}
		for _, d := range []*chatMessage{&c.Choices[i].Message, &c.Choices[i].Delta} { // one of them is empty
			s.content.WriteString(d.Content)
			s.refusal.WriteString(d.Refusal)
			s.reasoning.WriteString(d.Reasoning)
			s.calls = s.calls || len(d.Calls) > 0 || len(d.Function) > 0 && string(d.Function) != "null"
		}
		s.finished = s.finished || c.Choices[i].Finish != nil
	}
}

func (s *chatSum) answer() answer {
	a := answer{whole: s.finished && !s.failed, open: s.calls}
	m := map[string]any{"role": "assistant", "content": s.content.String()}
	if s.refusal.Len() > 0 {
		m["refusal"] = s.refusal.String()
	}
	if s.reasoning.Len() > 0 {
		m["reasoning_content"] = s.reasoning.String()
	}
	if s.content.Len()+s.refusal.Len() > 0 {
		a.message = said(transcript.FormatOpenAI, []any{m})
	}
	return a
}

func chatAnswer(pieces [][]byte) answer {
	var s chatSum
	for _, b := range pieces {
		var c chatChunk
		if json.Unmarshal(b, &c) == nil { // the last of a stream is no JSON: [DONE]
			s.add(&c)
		}
	}
	return s.answer()
}

// response is an answer of the Responses API.
type response struct {
	Status string            `json:"status"`
	Output []json.RawMessage `json:"output"`
	memkernel.ReportMembers
}

func (r *response) answer() answer {
	a := answer{whole: r.Status == "completed" || r.Status == "incomplete", reported: r.ReportMembers.Read()}
	if len(r.Output) > 0 {
		a.message = said(transcript.FormatResponses, r.Output)
		a.open = a.message == nil || transcript.Asks(*a.message)
	}
	return a
}

// responsesAnswer takes the whole answer from the last event of a stream. If the host stores nothing
// with the provider, the output items come in events of their own. An answer that is not streamed
// is one piece without a type.
func responsesAnswer(pieces [][]byte) answer {
	var last response
	var items []json.RawMessage
	for _, b := range pieces {
		var e struct {
			Type     string          `json:"type"`
			Item     json.RawMessage `json:"item"`
			Response response        `json:"response"`
		}
		if json.Unmarshal(b, &e) != nil {
			continue
		}
		switch e.Type {
		case "response.output_item.done":
			items = append(items, e.Item)
		case "response.completed", "response.incomplete":
			last = e.Response
		case "":
			_ = json.Unmarshal(b, &last) // it is JSON; of another shape it has no status
		}
	}
	if len(last.Output) == 0 {
		last.Output = items
	}
	return last.answer()
}

// chatAPI are chat completions, responsesAPI is the Responses API.
var (
	chatAPI = providerAPI{format: transcript.FormatOpenAI, path: "/chat/completions",
		answer: chatAnswer}
	responsesAPI = providerAPI{format: transcript.FormatResponses, path: "/responses", count: "/responses/input_tokens",
		answer: responsesAnswer, elsewhere: []string{"previous_response_id", "conversation", "prompt"}, compaction: responsesCompaction}
)
