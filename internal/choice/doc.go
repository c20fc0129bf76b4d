// Package choice finds the question of an agent's text, makes a decision from the question and
// the person's reply, and reads such decisions. It does no I/O.
//
//	Ask(text)         the question of an agent's text, with the options that it lists
//	Asked.Answered    the question and the reply to it, word for word, as one line
//	Parts(text)       the question and the reply of a decision
//	Picked            the option that a reply names by its label
//
// The package recognises a question and its reply by their form, in any language. Readers judge
// which of the options a reply means. A long reply, and a reply that begins with a question or a
// doubt, is not an answer. Code and quotations are skipped.
package choice
