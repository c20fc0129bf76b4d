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
	var blocks []anthropicBlock
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
			blocks = append(blocks, anthropicBlock{e.Block, map[string][]byte{}})
		case "content_block_delta":
			if e.Index >= 0 && e.Index < len(blocks) {
				more, d := blocks[e.Index].more, &e.Delta
				for name, text := range map[string]string{"text": d.Text, "thinking": d.Thinking, "signature": d.Signature, "input": d.Input} {
					more[name] = append(more[name], text...)
				}
			}
		case "message_delta":
			m.Stop = e.Delta.Stop
			if given(e.Transformations) { // of another model, which took over
				m.Transformations = e.Transformations
			}
		case "message_stop":
			whole = true
		case "error":
			whole, m.Stop = false, nil
		}
	}
	m.Content = assembled(blocks)
	a := m.answer()
	a.whole = a.whole && whole
	return a
}

// anthropicBlock is a block of a streamed answer: its beginning, and what was added to its members.
type anthropicBlock struct {
	first json.RawMessage
	more  map[string][]byte
}

// assembled returns the blocks in the form of an answer that is not streamed.
func assembled(blocks []anthropicBlock) (out []json.RawMessage) {
	for _, b := range blocks {
		var m map[string]json.RawMessage
		if json.Unmarshal(b.first, &m) != nil || m == nil {
			return nil
		}
		for name, text := range b.more {
			switch {
			case name == "input" && json.Valid(text):
				m[name] = text
			case name != "input" && len(text) > 0:
				m[name], _ = encode(string(text)) // a string always can
			}
		}
		raw, err := encode(m)
		if err != nil {
			return nil
		}
		out = append(out, raw)
	}
	return out
}
