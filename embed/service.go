package embed

import (
	"net/url"
	"slices"
	"strings"

	"github.com/memkernel/memkernel/internal/endpoint"
)

// service is a provider that is a server: its address, its limits and its protocol.
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
	// maxBatch and batchBytes bound a request. Bytes bound tokens, since hardly a
	// vocabulary makes more than one token of a byte.
	maxBatch, batchBytes int
}

// openAI is any server with OpenAI's API. It takes 2,048 texts and 300,000 tokens
// in a request.
var openAI = &service{name: providerOpenAI, baseURL: defaultBaseURL, domain: "api.openai.com",
	keyEnvs: []string{defaultAPIKeyEnv}, model: defaultModel, families: []string{"text-embedding-"},
	dimensions: "dimensions", maxBatch: maxBatchSize, batchBytes: defaultBatchBytes}

// services are the providers that are servers, in the order in which "auto" looks for their keys;
// ollama is only taken by name. Limits are those of the providers' reference pages as of 2026-11:
// gemini takes 100 texts in a request, voyage 1,000 and 120,000 tokens, mistral 16,384 tokens,
// which 40 KiB of prose stay below (larger requests are halved by Fill).
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

// serviceOf finds a provider by name, nil if it is not one.
func serviceOf(name string) *service {
	i := slices.IndexFunc(services, func(s *service) bool { return s.name == name })
	if i < 0 {
		return nil
	}
	return services[i]
}

// own reports whether a base URL is the provider's own, its regional hosts
// too.
func (s *service) own(base *url.URL) bool { return endpoint.Own(base, s.domain) }

// knows reports whether a model's name is one of the provider's.
func (s *service) knows(model string) bool {
	return slices.ContainsFunc(s.families, func(f string) bool { return strings.HasPrefix(model, f) })
}

// keyEnv returns the usual variable that is set, else the first.
func (s *service) keyEnv() string {
	for _, env := range s.keyEnvs {
		if hasKey(env) {
			return env
		}
	}
	return s.keyEnvs[0]
}

// prefixes returns the words that a model expects before questions and texts, by its makers'
// model cards, and that no other client adds.
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
