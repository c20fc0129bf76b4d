// Package recall measures how much a context policy keeps. It looks at the things that an
// assistant's message refers to and that appeared in the session long enough ago to be at risk.
// It counts how many of these things the message's prompt still showed.
//
// For each model call:
//
//	U          the message's text and the string leaves of its tool inputs
//	token      a path, file name, identifier, number, hash or quoted string
//	           of U; each counts once per call
//	reference  a token that occurs earlier in the session, found by the same
//	           extractor (quoted strings: as a substring), and not within
//	           the last 8,000 tokens before the call
//	shown      the trimmed line of an earlier occurrence, at most 80
//	           characters either side of it, is verbatim in the prompt
//	named      only the token itself is
//	pointer    neither is, but the page of an earlier occurrence is there
//	           by a pointer
//	missing    none of these
//
// Only shown references count. A session's recall is the number of its shown references over the
// number of its references, micro-averaged. The exclusion of the last 8,000 tokens keeps a policy
// that drops all but the newest page from a high score. The demand for the whole line keeps a bag
// of identifiers from scoring as well as the text.
//
// The last 8,000 tokens are counted in whole messages, at three characters a token. The message
// in which the count is reached is one of these messages.
//
// References leave out text that the model has just seen, and text that it only speaks of. An
// [Action] is judged without either exception. All input of a tool call that was seen before,
// however recently, must be in the prompt. So must each line that an edit replaces.
//
// Agents could refer only to text that their own host had left them, so a policy that keeps more
// text than the host did gains nothing here. Callers should print this caveat with any figure.
//
// Everything is pure. Histories and prompts are append-mostly. Both are indexed as they grow, so
// that a call costs the new part of its prompt plus its references, not its prompt's size.
package recall
