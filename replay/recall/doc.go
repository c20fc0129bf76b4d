// Package recall measures how much a context policy keeps: of the things that an assistant's
// message refers to, and that were in the session long enough ago to be at risk, how many did its
// prompt still show?
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
// Only shown counts. A session's recall is its shown over its references,
// micro-averaged. Without the exclusion and the line the measure means little:
// a policy that drops all but the newest page would score high, and a bag of
// identifiers would do as well as the text.
//
// The last 8,000 tokens are counted as characters over three by whole
// messages: the message in which the count is reached belongs to them.
//
// References leave out text that the model has just seen, and text that it only speaks of. An
// [Action] is judged without either exception. All input of a tool call that was seen before,
// however recently, must be in the prompt, and so must each line that an edit replaces.
//
// Agents could refer only to text that their own host had left them, so a policy that keeps more
// than that host did gains nothing here. Print that with any figure.
//
// Everything is pure. Histories and prompts are append-mostly. Both are indexed as they grow, so
// that a call costs the new part of its prompt plus its references, not its prompt's size.
package recall
