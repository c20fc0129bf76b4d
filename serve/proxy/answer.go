package proxy

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/internal/textutil"
	"github.com/memkernel/memkernel/transcript"
)

// answer is what the proxy reads from the copy of a provider's answer.
type answer struct {
	// whole reports whether the answer has the end that its API requires.
	whole bool
	// open reports whether the turn continues, because the model calls tools or the provider paused.
	open bool
	// message is the model's message. It is nil if the copy does not have the whole message.
	message *memkernel.Message
	usage   *memkernel.Usage
	// reported is the provider's report on the request. It is nil if there is no report.
	reported *memkernel.Reported
	// unread is the error for which the provider's usage could not be read.
	unread error
}

// readAnswer reads the copy of an answer, streamed or not. It does not set whole for an answer
// that it can't read.
func readAnswer(f transcript.Format, contentType string, data []byte) answer {
	var pieces [][]byte
	switch kind := strings.ToLower(contentType); {
	case strings.HasPrefix(kind, eventStreamType):
		pieces = events(fromEventStream(data))
	case strings.HasPrefix(kind, "text/event-stream"):
		pieces = events(data)
	case bytes.HasPrefix(bytes.TrimSpace(data), []byte{'['}): // Gemini streamed it without server-sent events
		var list []json.RawMessage
		_ = json.Unmarshal(data, &list) // a list that broke off has no pieces
		for _, p := range list {
			pieces = append(pieces, p)
		}
	default:
		pieces = [][]byte{data}
	}
	a := apis[f].answer(pieces)
	var bill memkernel.StreamUsage
	for _, p := range pieces {
		bill.Add(p)
	}
	a.usage, a.unread = bill.Usage()
	return a
}

// readCopy is readAnswer for an encoded copy, with the answer's headers.
func readCopy(f transcript.Format, h http.Header, copy []byte) (answer, error) {
	data, err := decoded(h.Get("Content-Encoding"), copy, maxAnswer)
	if err != nil {
		return answer{}, err
	}
	return readAnswer(f, h.Get("Content-Type"), data), nil
}

// events returns the data of every event of a stream.
func events(stream []byte) (out [][]byte) {
	var data []byte
	for line := range bytes.Lines(append(stream[:len(stream):len(stream)], '\n', '\n')) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(line) == 0:
			if len(data) > 0 {
				out = append(out, data)
			}
			data = nil
		case bytes.HasPrefix(line, []byte("data:")):
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(line[len("data:"):], []byte(" "))...)
		}
	}
	return out
}

// said parses the content of an answer as a host would send it back in its next request, and returns
// the model's message. It returns nil if the content is not one message of the model.
func said(f transcript.Format, list any) *memkernel.Message {
	name := map[transcript.Format]string{transcript.FormatResponses: "input", transcript.FormatGemini: "contents"}[f]
	data, err := textutil.JSON(map[string]any{cmp.Or(name, "messages"): list})
	if err != nil {
		return nil
	}
	b, err := new(transcript.BodyReader).Read(f, "", data)
	if err != nil || len(b.Messages) != 1 || b.Messages[0].Role != memkernel.RoleAssistant || len(b.Messages[0].Parts) == 0 {
		return nil
	}
	return &b.Messages[0]
}

// given reports whether a member of an answer is present and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

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

// anthropicAnswer reads the events of a streamed answer, or an answer that is not streamed.
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
			if given(e.Transformations) { // another model took over the answer
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

// anthropicBlock is a block of a streamed answer: the JSON with which it begins, and the text that
// later events add to its members.
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
				m[name], _ = textutil.JSON(string(text)) // a string always can
			}
		}
		raw, err := textutil.JSON(m)
		if err != nil {
			return nil
		}
		out = append(out, raw)
	}
	return out
}

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

// chatAnswer assembles an answer from its pieces.
func chatAnswer(pieces [][]byte) (a answer) {
	var content, refusal, reasoning strings.Builder
	failed := false
	for _, b := range pieces {
		var c chatChunk
		if json.Unmarshal(b, &c) != nil {
			continue // the last piece of a stream is [DONE], which is no JSON
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
			_ = json.Unmarshal(b, &last) // JSON of another shape has no status
		}
	}
	if len(last.Output) == 0 {
		last.Output = items
	}
	return last.answer()
}

// geminiChunk is an answer of generateContent, or a piece of one.
type geminiChunk struct {
	Candidates []struct {
		Index   int `json:"index"`
		Content struct {
			Parts []json.RawMessage `json:"parts"`
		} `json:"content"`
		Finish string `json:"finishReason"`
	} `json:"candidates"`
	Error json.RawMessage `json:"error"`
}

// geminiAnswer assembles an answer from its pieces.
func geminiAnswer(pieces [][]byte) (a answer) {
	var parts []json.RawMessage
	failed := false
	for _, p := range pieces {
		var c geminiChunk
		failed = json.Unmarshal(p, &c) != nil || given(c.Error) || failed
		for _, one := range c.Candidates {
			if one.Index != 0 {
				continue
			}
			a.whole = a.whole || one.Finish != ""
			for _, raw := range one.Content.Parts {
				a.open = a.open || geminiFunction.Match(raw)
				parts = withPart(parts, raw)
			}
		}
	}
	a.whole = a.whole && !failed
	if len(parts) > 0 {
		a.message = said(transcript.FormatGemini, []any{map[string]any{"role": "model", "parts": parts}})
		a.open = a.open || a.message != nil && transcript.HasCalls(*a.message)
	}
	return a
}

// withPart adds a part. It joins pieces of text to one text, except for pieces with a signature.
func withPart(parts []json.RawMessage, raw json.RawMessage) []json.RawMessage {
	if n := len(parts) - 1; n >= 0 {
		before, one := plainText(parts[n])
		more, two := plainText(raw)
		if one && two {
			parts[n], _ = textutil.JSON(map[string]string{"text": before + more}) // strings always can
			return parts
		}
	}
	return append(parts, raw)
}

// plainText returns the text of a part that has nothing else.
func plainText(raw json.RawMessage) (string, bool) {
	var m map[string]json.RawMessage
	var text string
	if json.Unmarshal(raw, &m) != nil || len(m) != 1 || json.Unmarshal(m["text"], &text) != nil {
		return "", false
	}
	return text, true
}

// geminiFunction matches the member of a part that holds a call, or its result.
var geminiFunction = regexp.MustCompile(`"function_?[CcRr](?:all|esponse)"\s*:`)

const eventStreamType = "application/vnd.amazon.eventstream"

// fromEventStream converts Bedrock's stream of messages to server-sent events. Each message has a
// head, headers and a payload with one event of the API. It does not check the checksums. A
// message without an event ends the stream.
func fromEventStream(data []byte) (out []byte) {
	const head, tail = 12, 4
	for len(data) >= head+tail {
		total, headers := uint64(binary.BigEndian.Uint32(data)), uint64(binary.BigEndian.Uint32(data[4:]))
		if total > uint64(len(data)) || headers > total || total < head+headers+tail {
			return out
		}
		var m struct {
			Bytes string `json:"bytes"`
		}
		if json.Unmarshal(data[head+headers:total-tail], &m) != nil {
			return out
		}
		event, err := base64.StdEncoding.DecodeString(m.Bytes)
		if err != nil || len(event) == 0 {
			return out
		}
		out = append(append(append(out, "data: "...), event...), "\n\n"...)
		data = data[total:]
	}
	return out
}
