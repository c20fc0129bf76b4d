// Package embed turns texts into vectors by means of a provider. It holds the interface of a
// provider, the choice of a provider from a configuration, the providers, and Fill, which makes
// vectors for all texts that lack a vector.
//
//	local     a model in this process (package static)
//	openai    OpenAI, and every server with the same API
//	gemini    Google's Gemini API; its second generation takes images and sounds too
//	voyage    Voyage AI
//	mistral   Mistral
//	ollama    Ollama's own API
//	auto      the first provider that is configured or has its usual key, in the order
//	          openai at a configured base URL, local, openai, gemini, voyage, mistral
//
// The package stores nothing. It knows no index and no prompt, logs nothing and leaves no goroutine
// running, except those of connections in net/http's shared pool.
//
// # Data that leaves the machine
//
// No data leaves the machine unless the configuration names a provider or is "auto". A key in the
// environment alone is not a choice. The key is sent only to the configured host. A provider's
// usual key is used without configuration only for the provider's own hosts. Redirects are not
// followed, since the texts would be sent along. Plain http is refused except for this machine.
// The key is never in an error, even if the server echoes it, nor in a print of the provider.
//
// # A request
//
//	texts ── cut to 8,191 bytes ──────────────── batch
//	                                              │
//	                                              ▼
//	              429, 408, 5xx, timeout, ◄── POST, each provider in its format,
//	              broken connection:          questions or documents
//	              wait, try again                 │
//	                                              ▼
//	vectors ◄── length, direction ◄── order by index ◄── bounded answer
//
// If waiting doesn't help (a bad key, an unknown model, an account without credit or without
// quota for the day), the error is returned at once.
//
// Sizes are in bytes. Nearly all tokenizers make at most one token of a byte, so a bound on bytes also
// bounds tokens. Estimates count tokens roughly (EstimateTokens). Reports count the tokens that the
// server billed. Vectors are returned as the server sent them. They need not have length 1.
package embed
