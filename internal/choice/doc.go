// Package choice finds the question of an agent's text, makes a decision of it and of the
// person's reply, and finds the sentences in which somebody states a decision. It is pure.
//
//	Ask(text)         the question of an agent's text, with the options that it lists
//	Asked.Answered    the question and the reply to it, word for word, as one line
//	Statements(text)  the sentences that state a decision
//	DecisionLabel     "Decision: …", as people and agents head their decisions
//
// A question and its reply are known by their form, in any language. Readers judge which of
// the options a reply means. A reply that begins with a question or a doubt answers nothing,
// and neither does a long text. Code and quotations neither ask nor state anything.
package choice
