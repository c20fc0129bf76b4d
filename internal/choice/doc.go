// Package choice finds the question of an agent's text, reports whether a person's reply
// answers it, and finds the sentences in which somebody states a decision. It is the one
// place that knows the words of these, in every language of package index/analysis that
// writes words. It is pure.
//
//	Ask(text)         the question of an agent's text, with the options that it lists
//	Asked.Answered    the question and a reply that answers it, word for word, as one line
//	Statements(text)  the sentences that state a decision
//	DecisionLabel     "Decision: …", as people and agents head their decisions
//	Chat, AsksOn      messages that ask nothing, or nothing without the one before
//
// Which of the options a reply means is left to its reader. A question or a doubt answers
// nothing, and neither does a long text. Code and quotations neither ask nor state anything.
package choice
