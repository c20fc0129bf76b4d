package proxy

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/memkernel/memkernel"
	"github.com/memkernel/memkernel/transcript"
)

// geminiCall splits the path of a Gemini call: …/models/MODEL:METHOD. It refuses Vertex paths, in
// which a project or a publisher precedes the model.
func geminiCall(path string) (model, method string, ok bool) {
	at := strings.LastIndexByte(path, '/')
	before, last := path[:max(at, 0)], path[at+1:]
	model, method, ok = strings.Cut(last, ":")
	if !ok || model == "" || strings.Contains(path, "/publishers/") || strings.Contains(path, "/projects/") {
		return "", "", false
	}
	kind := before[strings.LastIndexByte(before, '/')+1:]
	return model, method, kind == "models" || kind == "tunedModels"
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
	Feedback json.RawMessage `json:"promptFeedback"`
	Error    json.RawMessage `json:"error"`
}

// geminiSum is the answer put together from its pieces.
type geminiSum struct {
	parts            []json.RawMessage
	calls            bool
	finished, failed bool
}

func (s *geminiSum) add(data []byte) {
	var c geminiChunk
	if json.Unmarshal(data, &c) != nil {
		s.failed = true
		return
	}
	s.failed = s.failed || len(c.Error) > 0 && string(c.Error) != "null"
	for i := range c.Candidates {
		if c.Candidates[i].Index != 0 {
			continue
		}
		s.finished = s.finished || c.Candidates[i].Finish != ""
		for _, raw := range c.Candidates[i].Content.Parts {
			s.part(raw)
		}
	}
}

// part adds a part. It joins pieces of text to one text, except for pieces with a signature.
func (s *geminiSum) part(raw json.RawMessage) {
	s.calls = s.calls || geminiFunction.Match(raw)
	if n := len(s.parts); n > 0 {
		before, one := plainText(s.parts[n-1])
		more, two := plainText(raw)
		if one && two {
			if sum, err := encode(map[string]string{"text": before + more}); err == nil {
				s.parts[n-1] = sum
				return
			}
		}
	}
	s.parts = append(s.parts, raw)
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

func (s *geminiSum) answer() answer {
	a := answer{whole: s.finished && !s.failed, open: s.calls}
	if len(s.parts) > 0 {
		a.message = said(transcript.FormatGemini, []any{map[string]any{"role": "model", "parts": s.parts}})
		a.open = a.open || a.message != nil && transcript.HasCalls(*a.message)
	}
	return a
}

func geminiAnswer(pieces [][]byte) answer {
	var s geminiSum
	for _, b := range pieces {
		s.add(b)
	}
	return s.answer()
}

// geminiFunction matches the member of a part that holds a call, or its result.
var geminiFunction = regexp.MustCompile(`"function_?[CcRr](?:all|esponse)"\s*:`)

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

// geminiAPI is Gemini's generateContent. Its paths are read by geminiCall.
var geminiAPI = providerAPI{format: transcript.FormatGemini, answer: geminiAnswer, elsewhere: []string{"cachedContent"},
	doubt: geminiDoubt}
