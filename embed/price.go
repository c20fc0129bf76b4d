package embed

import "strings"

// Price is the price of a model's tokens.
type Price struct {
	// USD is the price in US dollars of a million tokens of text.
	USD float64
	// Source is where the price was published, and AsOf when.
	Source, AsOf string
}

// prices are list prices by model, without discounts and free tiers.
var prices = []struct {
	provider, model string
	Price
}{
	{providerOpenAI, "text-embedding-3-small", Price{0.02, "platform.openai.com/docs/pricing", "2026-04"}},
	{providerOpenAI, "text-embedding-3-large", Price{0.13, "platform.openai.com/docs/pricing", "2026-04"}},
	{providerOpenAI, "text-embedding-ada-002", Price{0.10, "platform.openai.com/docs/pricing", "2026-04"}},
	{providerGemini, "gemini-embedding-001", Price{0.15, "ai.google.dev/gemini-api/docs/pricing", "2026-04"}},
	{providerGemini, "gemini-embedding-2", Price{0.20, "ai.google.dev/gemini-api/docs/pricing", "2026-04"}},
	{providerGemini, "gemini-embedding-2-preview", Price{0.20, "ai.google.dev/gemini-api/docs/pricing", "2026-04"}},
	{providerVoyage, "voyage-4-large", Price{0.12, "docs.voyageai.com/docs/pricing", "2026-07"}},
	{providerVoyage, "voyage-4", Price{0.06, "docs.voyageai.com/docs/pricing", "2026-07"}},
	{providerVoyage, "voyage-4-lite", Price{0.02, "docs.voyageai.com/docs/pricing", "2026-07"}},
	{providerMistral, "mistral-embed", Price{0.10, "mistral.ai/pricing", "2026-04"}},
}

// description describes a provider for reports.
type description struct {
	// Provider is the provider's name in a configuration. Model is the model's name at the
	// server.
	Provider, Model string
	// Endpoint is the address to which texts are sent, or "" if the texts stay in this process.
	Endpoint string
	// Dim is the length of the vectors, or 0 if only the server knows it.
	Dim int
	// Free reports whether no tokens are billed: the model runs on this
	// machine.
	Free bool
	// Price is the price of tokens. It is nil if the price is unknown or zero.
	Price *Price
	// Note is further information for a user, or "".
	Note string
}

// Describe describes a provider. For a provider of another package it returns only the model.
func Describe(p Provider) description {
	if d, ok := p.(interface{ describe() description }); ok {
		return d.describe()
	}
	return description{Model: p.Model()}
}

func (o *remote) describe() description {
	d := description{Provider: o.name, Model: o.cfg.Model, Endpoint: o.base, Free: o.loopback}
	for _, p := range prices {
		if o.own && p.provider == o.name && p.model == strings.TrimPrefix(o.cfg.Model, "models/") {
			d.Price = &p.Price
		}
	}
	return d
}
