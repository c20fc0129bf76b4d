package embed

import (
	"net/http"
	"strings"
)

// geminiWire is Google's Gemini API, ai.google.dev/api/embeddings. It numbers no
// vectors and gives them in the order of the texts.
type geminiWire struct{}

type geminiBatch struct {
	Requests []geminiRequest `json:"requests"`
}

type geminiRequest struct {
	Model      string        `json:"model"`
	Content    geminiContent `json:"content"`
	Task       string        `json:"taskType,omitempty"`
	Dimensions int           `json:"outputDimensionality,omitempty"`
}

type geminiContent struct {
	Parts []geminiPart `json:"parts"`
}

// geminiPart is a text or a file's bytes. JSON has them as base64.
type geminiPart struct {
	Text string      `json:"text,omitempty"`
	Data *geminiBlob `json:"inlineData,omitempty"`
}

type geminiBlob struct {
	Type string `json:"mimeType"`
	Data []byte `json:"data"`
}

func (geminiWire) request(c *Config, t task, inputs []input) (string, any) {
	model := "models/" + strings.TrimPrefix(c.Model, "models/")
	b := geminiBatch{Requests: make([]geminiRequest, len(inputs))}
	for i, in := range inputs {
		r := geminiRequest{Model: model, Task: geminiTask(c.Model, t), Dimensions: c.Dimensions}
		if in.text != "" {
			r.Content.Parts = append(r.Content.Parts, geminiPart{Text: in.text})
		}
		if in.media != nil {
			r.Content.Parts = append(r.Content.Parts, geminiPart{Data: &geminiBlob{Type: in.media.Type, Data: in.media.Data}})
		}
		b.Requests[i] = r
	}
	return "/" + model + ":batchEmbedContents", b
}

// geminiTask names the task. From its second generation on the model takes it as
// words before the text (Config.QueryPrefix), and no longer as a field.
func geminiTask(model string, t task) string {
	switch {
	case geminiTwo(model):
		return ""
	case t == forQuery:
		return "RETRIEVAL_QUERY"
	}
	return "RETRIEVAL_DOCUMENT"
}

func geminiTwo(model string) bool {
	return strings.HasPrefix(strings.TrimPrefix(model, "models/"), "gemini-embedding-2")
}

func (geminiWire) authorize(h http.Header, key string) { h.Set("X-Goog-Api-Key", key) }

func (geminiWire) answer() answer { return new(geminiAnswer) }

type geminiAnswer struct {
	Embeddings []struct {
		Values vector `json:"values"`
	} `json:"embeddings"`
	Usage struct {
		Tokens int `json:"promptTokenCount"`
	} `json:"usageMetadata"`
}

func (a *geminiAnswer) tokens() int { return max(0, a.Usage.Tokens) }

func (a *geminiAnswer) rows() []row {
	out := make([]row, len(a.Embeddings))
	for i, e := range a.Embeddings {
		out[i] = row{Index: i, Embedding: e.Values}
	}
	return out
}
