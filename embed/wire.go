package embed

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// task is the purpose of a vector. Models that distinguish questions from texts give them
// different vectors.
type task int

const (
	forDocument task = iota
	forQuery
)

// input is the source of one vector: a text, or media with a name.
type input struct {
	text  string
	media *Media
}

// members is a JSON object of a request.
type members map[string]any

// body returns the path below the base URL and the body to send there as JSON, in the service's
// format:
//
//	openai   platform.openai.com/docs/api-reference/embeddings, which many servers speak
//	mistral  docs.mistral.ai/api: only some models can choose the length of vectors
//	voyage   docs.voyageai.com/reference/embeddings-api
//	ollama   docs.ollama.com/api/embed: unlike Ollama's API for OpenAI's clients, it can cut
//	         texts that are too long for the model
//	gemini   ai.google.dev/api/embeddings: it numbers no vectors
func (s *service) body(c *Config, t task, inputs []input) (path string, body members) {
	if s.name == providerGemini {
		return geminiBody(c, t, inputs)
	}
	body = members{"model": c.Model, "input": texts(inputs)}
	if c.Dimensions != 0 {
		body[s.dimensions] = c.Dimensions
	}
	switch s.name {
	case providerVoyage:
		body["input_type"], body["truncation"] = "document", true
		if t == forQuery {
			body["input_type"] = "query"
		}
	case providerOllama:
		body["truncate"] = true
		return "/api/embed", body
	}
	return "/embeddings", body
}

func geminiBody(c *Config, t task, inputs []input) (path string, body members) {
	model := "models/" + strings.TrimPrefix(c.Model, "models/")
	requests := make([]members, len(inputs))
	for i, in := range inputs {
		var parts []members
		if in.text != "" {
			parts = append(parts, members{"text": in.text})
		}
		if in.media != nil {
			parts = append(parts, members{"inlineData": members{"mimeType": in.media.Type, "data": in.media.Data}})
		}
		requests[i] = members{"model": model, "content": members{"parts": parts}}
		if c.Dimensions != 0 {
			requests[i]["outputDimensionality"] = c.Dimensions
		}
		// The second generation takes the task as words before the text (Config.QueryPrefix).
		if !geminiTwo(model) {
			requests[i]["taskType"] = [...]string{forDocument: "RETRIEVAL_DOCUMENT", forQuery: "RETRIEVAL_QUERY"}[t]
		}
	}
	return "/" + model + ":batchEmbedContents", members{"requests": requests}
}

func geminiTwo(model string) bool {
	return strings.HasPrefix(strings.TrimPrefix(model, "models/"), "gemini-embedding-2")
}

// authorize puts the key into a request's header.
func (s *service) authorize(h http.Header, key string) {
	if s.name == providerGemini {
		h.Set("X-Goog-Api-Key", key)
		return
	}
	h.Set("Authorization", "Bearer "+key)
}

// answer is a server's answer. It has the members of all services.
type answer struct {
	Data  []row `json:"data"` // of OpenAI's API and the APIs modelled on it
	Usage struct {
		Prompt int `json:"prompt_tokens"`
		Total  int `json:"total_tokens"`
	} `json:"usage"`
	Embeddings []vector `json:"embeddings"` // of gemini and ollama
	Ollama     int      `json:"prompt_eval_count"`
	Gemini     struct {
		Tokens int `json:"promptTokenCount"`
	} `json:"usageMetadata"`
}

// row is a vector and the number of its text. Servers that don't number texts have zeros only.
type row struct {
	Index     int    `json:"index"`
	Embedding vector `json:"embedding"`
}

// rows returns the vectors of the answer in its order.
func (a *answer) rows() []row {
	for _, v := range a.Embeddings {
		a.Data = append(a.Data, row{Embedding: v})
	}
	return a.Data
}

// tokens returns the number of billed tokens, or 0 if the server doesn't report the number.
func (a *answer) tokens() int {
	return max(0, a.Usage.Prompt, a.Usage.Total, a.Ollama, a.Gemini.Tokens)
}

// vector is a list of numbers, which Gemini puts into an object. A null among the numbers is an
// error: some servers write null for NaN, and encoding/json would read null as 0.
type vector []float32

func (v *vector) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		var in struct{ Values vector }
		err := json.Unmarshal(b, &in)
		*v = in.Values
		return err
	}
	if len(b) > len("null") && bytes.Contains(b, []byte("null")) {
		return &Error{Texts: true, Err: errors.New("a vector has null for a number"), Hint: "the model fails on this text: choose another model"}
	}
	return json.Unmarshal(b, (*[]float32)(v))
}

func texts(inputs []input) []string {
	out := make([]string, len(inputs))
	for i, in := range inputs {
		out[i] = in.text
	}
	return out
}
