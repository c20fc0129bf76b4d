package proxy

import (
	"encoding/json"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// anthropicMessage is an answer of the Messages API.
type anthropicMessage struct {
	Type    string            `json:"type"`
	Content []json.RawMessage `json:"content"`
	Stop    *string           `json:"stop_reason"`
	memkernel.ReportMembers
}

func (m *anthropicMessage) answer() answer {
	a := answer{whole: m.Stop != nil, reported: m.ReportMembers.Read()}
	if m.Stop != nil {
		a.open = *m.Stop == "tool_use" || *m.Stop == "pause_turn"
	}
	if len(m.Content) > 0 {
		a.message = said(transcript.FormatAnthropic, []any{map[string]any{"role": "assistant", "content": m.Content}})
		a.open = a.open || a.message != nil && transcript.HasCalls(*a.message)
	}
	return a
}

// anthropicEvent is an event of a streamed answer.
type anthropicEvent struct {
	Type    string           `json:"type"`
	Index   int              `json:"index"`
	Message anthropicMessage `json:"message"`
	Block   json.RawMessage  `json:"content_block"`
	Delta   struct {
		Type      string  `json:"type"`
		Text      string  `json:"text"`
		Thinking  string  `json:"thinking"`
		Signature string  `json:"signature"`
		Input     string  `json:"partial_json"`
		Stop      *string `json:"stop_reason"`
	} `json:"delta"`
	Transformations json.RawMessage `json:"input_transformations"`
}

// anthropicAnswer reads the events of a streamed answer, or the message of another.
func anthropicAnswer(pieces [][]byte) answer {
	var m anthropicMessage
	blocks := anthropicBlocks{}
	whole := false
	for _, b := range pieces {
		var e anthropicEvent
		if json.Unmarshal(b, &e) != nil {
			continue
		}
		switch e.Type {
		case "message": // an answer that is not streamed
			if json.Unmarshal(b, &m) == nil {
				return m.answer()
			}
		case "message_start":
			m = e.Message
		case "content_block_start":
			blocks.begin(e.Block)
		case "content_block_delta":
			blocks.add(&e)
		case "message_delta":
			m.Stop = e.Delta.Stop
			if len(e.Transformations) > 0 && string(e.Transformations) != "null" { // of another model, which took over
				m.Transformations = e.Transformations
			}
		case "message_stop":
			whole = true
		case "error":
			whole, m.Stop = false, nil
		}
	}
	m.Content = blocks.all()
	a := m.answer()
	a.whole = a.whole && whole
	return a
}

// anthropicBlocks assembles the blocks of a streamed answer.
type anthropicBlocks []*anthropicBlock

type anthropicBlock struct {
	first                            json.RawMessage
	text, thinking, signature, input []byte
}

func (l *anthropicBlocks) begin(raw json.RawMessage) { *l = append(*l, &anthropicBlock{first: raw}) }

func (l anthropicBlocks) add(e *anthropicEvent) {
	if e.Index < 0 || e.Index >= len(l) {
		return
	}
	b := l[e.Index]
	b.text = append(b.text, e.Delta.Text...)
	b.thinking = append(b.thinking, e.Delta.Thinking...)
	b.signature = append(b.signature, e.Delta.Signature...)
	b.input = append(b.input, e.Delta.Input...)
}

// all returns the blocks in the form of an answer that is not streamed.
func (l anthropicBlocks) all() []json.RawMessage {
	var out []json.RawMessage
	for _, b := range l {
		var m map[string]json.RawMessage
		if json.Unmarshal(b.first, &m) != nil || m == nil {
			return nil
		}
		for _, f := range []struct {
			name string
			text []byte
		}{{"text", b.text}, {"thinking", b.thinking}, {"signature", b.signature}} {
			if len(f.text) > 0 {
				m[f.name], _ = encode(string(f.text)) // a string always can
			}
		}
		if len(b.input) > 0 && json.Valid(b.input) {
			m["input"] = b.input
		}
		raw, err := encode(m)
		if err != nil {
			return nil
		}
		out = append(out, raw)
	}
	return out
}

// anthropicAPI is the Messages API.
var anthropicAPI = providerAPI{format: transcript.FormatAnthropic, path: "/v1/messages", count: "/v1/messages/count_tokens",
	answer: anthropicAnswer, elsewhere: []string{"thread", "compaction"}, doubt: anthropicDoubt, compaction: anthropicCompaction}
