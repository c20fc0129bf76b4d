package proxy

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// answer is the content of a copied answer.
type answer struct {
	// whole reports whether the answer has the end that its API requires.
	whole bool
	// open reports whether the turn continues: tools are called, or the provider paused.
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
	default:
		pieces = piecesOf(data)
	}
	a := apis[f].answer(pieces)
	var bill memkernel.StreamUsage
	for _, p := range pieces {
		bill.Add(p)
	}
	a.usage, a.unread = bill.Usage()
	return a
}

// piecesOf returns the pieces of an answer in JSON. It is one object, or a list of pieces if Gemini
// streamed the answer without server-sent events. A list that broke off has no pieces.
func piecesOf(data []byte) [][]byte {
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte{'['}) {
		return [][]byte{data}
	}
	var list []json.RawMessage
	_ = json.Unmarshal(data, &list)
	var out [][]byte
	for _, p := range list {
		out = append(out, p)
	}
	return out
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

// said reads one answer in the form in which a host sends it back in a request.
func said(f transcript.Format, list any) *memkernel.Message {
	name := map[transcript.Format]string{transcript.FormatResponses: "input", transcript.FormatGemini: "contents"}[f]
	data, err := encode(map[string]any{cmp.Or(name, "messages"): list})
	if err != nil {
		return nil
	}
	b, err := transcript.ReadBody(f, data)
	if err != nil || len(b.Messages) != 1 || b.Messages[0].Role != memkernel.RoleAssistant || len(b.Messages[0].Parts) == 0 {
		return nil
	}
	return &b.Messages[0]
}

// given reports whether a member of an answer is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && string(raw) != "null" }

// encode returns JSON without HTML escapes.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}
