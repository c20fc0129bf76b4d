// Package embed turns texts into vectors by asking a provider. It holds the
// interface of a provider, the choice of one from a configuration, the providers,
// and Fill, which gives vectors to all texts that lack one.
//
//	local     a model in this process (package static)
//	openai    OpenAI, and every server with the same API
//	gemini    Google's Gemini API; its second generation takes images and sounds too
//	voyage    Voyage AI
//	mistral   Mistral
//	ollama    Ollama's own API
//	auto      the first that is configured or whose usual key is there, in the order
//	          openai at a configured base URL, local, openai, gemini, voyage,
//	          mistral; ollama is only taken by name
//
// It stores nothing but the count of a day's tokens, if a day has a limit. It knows no index and
// no prompt, logs nothing and leaves no goroutine of its own running (connections stay in
// net/http's shared pool).
//
// # Data that leaves the machine
//
// Nothing, unless the configuration names a provider or is "auto"; a key in the environment alone
// is not a choice. The key is sent to the configured host and nowhere else. Usual keys are taken
// unasked only for their providers' own hosts, redirects are not followed (the texts would be
// sent along), and plain http is refused except for this machine. The key is in no error,
// whatever the server echoes, and in no print of the provider.
//
// # A request
//
//	texts ── cut to MaxTextBytes ── batch ── limits of a minute and a day
//	                                              │
//	                                              ▼
//	              429, 408, 5xx, timeout, ◄── POST, each provider in its format,
//	              broken connection:          questions and documents apart
//	              wait, try again                 │
//	                                              ▼
//	vectors ◄── length, direction ◄── order by index ◄── bounded answer
//
// Errors that waiting doesn't mend (a bad key, an unknown model, an account without credit or
// without quota for the day) are returned at once.
//
// Sizes are bytes: hardly a vocabulary makes more than one token of a byte, so a bound on bytes
// bounds tokens without counting any. Budgets and estimates count tokens roughly
// (EstimateTokens). The server's bill takes precedence. Vectors are returned as the server sent
// them. They need not have length 1.
package embed
