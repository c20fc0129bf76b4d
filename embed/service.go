package embed

import (
	"net/url"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// service describes a provider with a server: its address, limits and protocol.
type service struct {
	name    string
	baseURL string
	// domain is the provider's own domain, or "". Without configuration, the usual key is sent
	// only to this domain.
	domain  string
	keyEnvs []string // the usual variables, the first that is set counts
	model   string
	// families are the beginnings of the names of the provider's models.
	families []string
	// dimensions is the member of a request for the length of vectors.
	dimensions string
	// maxBatch is the largest number of texts in a request. batchBytes bounds their size, and thereby
	// their tokens, because nearly all tokenizers make at most one token of a byte.
	maxBatch, batchBytes int
}

// openAI stands for every server with OpenAI's API. OpenAI's own takes 2,048 texts and 300,000 tokens
// in a request.
var openAI = &service{name: providerOpenAI, baseURL: defaultBaseURL, domain: "api.openai.com",
	keyEnvs: []string{defaultAPIKeyEnv}, model: defaultModel, families: []string{"text-embedding-"},
	dimensions: "dimensions", maxBatch: maxBatchSize, batchBytes: defaultBatchBytes}

// services are the providers with servers, in the order in which "auto" looks for their keys. "auto"
// never takes ollama. The limits are from the providers' reference pages as of 2026-11. Gemini takes
// 100 texts in a request. Voyage takes 1,000 texts and 120,000 tokens. Mistral takes 16,384 tokens, and
// 40 KiB of prose have fewer. Fill halves requests that are too large.
var services = []*service{
	openAI,
	{name: providerGemini, baseURL: "https://generativelanguage.googleapis.com/v1beta", domain: "generativelanguage.googleapis.com",
		keyEnvs: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, model: "gemini-embedding-001", families: []string{"gemini-embedding-", "models/"},
		maxBatch: 100, batchBytes: defaultBatchBytes},
	{name: providerVoyage, baseURL: "https://api.voyageai.com/v1", domain: "api.voyageai.com",
		keyEnvs: []string{"VOYAGE_API_KEY"}, model: "voyage-4-large", families: []string{"voyage-"},
		dimensions: "output_dimension", maxBatch: 1000, batchBytes: 120_000},
	{name: providerMistral, baseURL: "https://api.mistral.ai/v1", domain: "api.mistral.ai",
		keyEnvs: []string{"MISTRAL_API_KEY"}, model: "mistral-embed", families: []string{"mistral-embed", "codestral-embed"},
		dimensions: "output_dimension", maxBatch: 512, batchBytes: 40 << 10},
	{name: providerOllama, baseURL: "http://localhost:11434", model: "nomic-embed-text",
		dimensions: "dimensions", maxBatch: maxBatchSize, batchBytes: defaultBatchBytes},
}

// serviceOf returns the service with a name, or nil.
func serviceOf(name string) *service {
	i := slices.IndexFunc(services, func(s *service) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return services[i]
}

// own reports whether a base URL is on a host of the provider, including its regional hosts.
func (s *service) own(base *url.URL) bool { return endpoint.Own(base, s.domain) }

// knows reports whether a model's name is one of the provider's.
func (s *service) knows(model string) bool {
	return slices.ContainsFunc(s.families, func(f string) bool { return strings.HasPrefix(model, f) })
}

// keyEnv returns the first of the usual variables that is set. If none is set, it returns the first.
func (s *service) keyEnv() string {
	for _, env := range s.keyEnvs {
		if hasKey(env) {
			return env
		}
	}
	return s.keyEnvs[0]
}

// prefixes returns the texts that a model expects before questions and documents, as its model card
// says, and that the server does not add.
func (s *service) prefixes(model string) (query, document string) {
	switch {
	case s.name == providerGemini && geminiTwo(model):
		return "task: search result | query: ", "title: none | text: "
	case s.name != providerOllama:
		return "", ""
	}
	switch name, _, _ := strings.Cut(model, ":"); name[strings.LastIndexByte(name, '/')+1:] {
	case "nomic-embed-text", "nomic-embed-text-v2-moe":
		return "search_query: ", "search_document: "
	case "embeddinggemma":
		return "task: search result | query: ", "title: none | text: "
	case "mxbai-embed-large", "snowflake-arctic-embed":
		return "Represent this sentence for searching relevant passages: ", ""
	}
	return "", ""
}
