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
	Error json.RawMessage `json:"error"`
}

// geminiAnswer puts an answer together from its pieces.
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
			parts[n], _ = encode(map[string]string{"text": before + more}) // strings always can
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
