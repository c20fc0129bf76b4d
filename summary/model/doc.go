// Package model asks language models for a session's notes: it implements [summary.Model] for
// every endpoint that speaks OpenAI's chat completions, and for the Anthropic Messages API. It
// sends a prompt, bounds the answer and returns errors as one word. Package summary decides the
// questions and reads the answers. The kernel decides when to ask, and when to leave a server
// alone.
//
// # Data that leaves the machine
//
// No data leaves the machine unless the configuration names a provider. A key in the environment
// alone does not choose a provider. The key is sent only to the configured host. OPENAI_API_KEY
// and ANTHROPIC_API_KEY are used by default only for their providers' own hosts. Redirects are
// not followed, since the texts would be sent along. Plain http is refused except for this
// machine. No error contains the key, even if the server echoes it.
//
// # One request
//
//	prompt ── POST {base_url}/chat/completions or /v1/messages ── deadline
//	                            │
//	text ◄── not cut off ◄── bounded answer ◄── status 2xx
//
// A request is sent once. It keeps no state, writes no file and logs nothing.
package model
