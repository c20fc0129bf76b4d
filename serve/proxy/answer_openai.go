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

// chatAnswer puts an answer together from its pieces.
func chatAnswer(pieces [][]byte) (a answer) {
	var content, refusal, reasoning strings.Builder
	failed := false
	for _, b := range pieces {
		var c chatChunk
		if json.Unmarshal(b, &c) != nil {
			continue // the last of a stream is no JSON: [DONE]
		}
		failed = failed || given(c.Error)
		for _, one := range c.Choices {
			if one.Index != 0 {
				continue
			}
			for _, d := range []chatMessage{one.Message, one.Delta} { // one of them is empty
				content.WriteString(d.Content)
				refusal.WriteString(d.Refusal)
				reasoning.WriteString(d.Reasoning)
				a.open = a.open || len(d.Calls) > 0 || given(d.Function)
			}
			a.whole = a.whole || one.Finish != nil
		}
	}
	a.whole = a.whole && !failed
	m := map[string]any{"role": "assistant", "content": content.String()}
	if refusal.Len() > 0 {
		m["refusal"] = refusal.String()
	}
	if reasoning.Len() > 0 {
		m["reasoning_content"] = reasoning.String()
	}
	if content.Len()+refusal.Len() > 0 {
		a.message = said(transcript.FormatOpenAI, []any{m})
	}
	return a
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
