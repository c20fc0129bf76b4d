package embed

// ollamaWire is Ollama's own API, docs.ollama.com/api/embed. Unlike the API that Ollama shares
// with OpenAI, it can cut texts that are too long for the model.
type ollamaWire struct{ bearer }

type ollamaRequest struct {
	Model      string   `json:"model"`
	Input      []string `json:"input"`
	Truncate   bool     `json:"truncate"`
	Dimensions int      `json:"dimensions,omitempty"`
}

func (ollamaWire) request(c *Config, _ task, inputs []input) (string, any) {
	return "/api/embed", ollamaRequest{Model: c.Model, Input: texts(inputs), Truncate: true, Dimensions: c.Dimensions}
}

func (ollamaWire) answer() answer { return new(ollamaAnswer) }

type ollamaAnswer struct {
	Embeddings []vector `json:"embeddings"`
	Tokens     int      `json:"prompt_eval_count"`
}

func (a *ollamaAnswer) tokens() int { return max(0, a.Tokens) }

func (a *ollamaAnswer) rows() []row {
	out := make([]row, len(a.Embeddings))
	for i, v := range a.Embeddings {
		out[i] = row{Index: i, Embedding: v}
	}
	return out
}
