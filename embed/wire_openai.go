package embed

// openAIWire is OpenAI's API, platform.openai.com/docs/api-reference/embeddings,
// which many servers speak. It doesn't distinguish questions from texts.
type openAIWire struct{ bearer }

type openAIRequest struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Dimensions int      `json:"dimensions,omitempty"`
}

func (openAIWire) request(c *Config, _ task, inputs []input) (string, any) {
	return "/embeddings", openAIRequest{Input: texts(inputs), Model: c.Model, Dimensions: c.Dimensions}
}

func (openAIWire) answer() answer { return new(list) }

// mistralWire is Mistral's, docs.mistral.ai/api: OpenAI's with another name for
// the length, which only some of its models can choose.
type mistralWire struct{ bearer }

type mistralRequest struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Dimensions int      `json:"output_dimension,omitempty"`
}

func (mistralWire) request(c *Config, _ task, inputs []input) (string, any) {
	return "/embeddings", mistralRequest{Input: texts(inputs), Model: c.Model, Dimensions: c.Dimensions}
}

func (mistralWire) answer() answer { return new(list) }

// voyageWire is Voyage AI's, docs.voyageai.com/reference/embeddings-api.
type voyageWire struct{ bearer }

type voyageRequest struct {
	Input      []string `json:"input"`
	Model      string   `json:"model"`
	Kind       string   `json:"input_type"`
	Truncation bool     `json:"truncation"`
	Dimensions int      `json:"output_dimension,omitempty"`
}

func (voyageWire) request(c *Config, t task, inputs []input) (string, any) {
	kind := "document"
	if t == forQuery {
		kind = "query"
	}
	return "/embeddings", voyageRequest{Input: texts(inputs), Model: c.Model, Kind: kind, Truncation: true, Dimensions: c.Dimensions}
}

func (voyageWire) answer() answer { return new(list) }
