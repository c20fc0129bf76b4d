// Package embed turns texts into vectors by asking a provider. It holds the
// interface of a provider, the choice of one from a configuration, the one that
// speaks to OpenAI and to every server with the same API, and Fill, which gives
// vectors to all texts that lack one.
//
// It stores nothing, knows no index, no file and no prompt, keeps no state
// beside the length of the vectors that it saw, logs nothing and leaves no
// goroutine of its own behind (connections stay in net/http's shared pool).
//
// # What leaves the machine
//
// Nothing, unless the configuration names a provider or says "auto"; a key in
// the environment alone is not a choice. The key goes to the configured host
// and nowhere else: OPENAI_API_KEY is taken unasked only for api.openai.com,
// redirects are not followed (the texts would go along), plain http is refused
// but for this machine. The key is in no error, whatever the server echoes, and
// in no print of the provider.
//
// # A request
//
//	texts ── cut to MaxTextBytes ── batch ── POST {base_url}/embeddings
//	                                            │
//	              429, 408, 5xx, timeout, ◄─────┤
//	              broken connection:            │
//	              wait, try again               ▼
//	vectors ◄── length, direction ◄── order by index ◄── bounded answer
//
// Sizes are bytes: a byte-level vocabulary, which all models of OpenAI have,
// makes at most one token of a byte, so a bound on bytes is a bound on tokens
// without counting any. Vectors are handed out as the server gave them; they
// need not have length 1.
package embed
