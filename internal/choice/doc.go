// Package choice reads what an agent offers, what a person chooses of it, and what an
// agent states that was decided: the one place that knows the shapes and words of choices,
// in every language of package index/analysis that writes words. It is pure.
//
//	Offered(text)     the options of an agent's text, and the question that it asks
//	Offer.Answer      which of them a reply chooses or rejects
//	Offer.Decision    that as one line; Words finds the person's own in one
//	Statements(text)  the sentences in which an agent states that something is decided
//	DecisionLabel     "Decision: …", as people and agents head what they decided
//
// It would rather miss a choice than make one up: a reply that holds anything else than
// a choice before it, a condition, a doubt or a question chooses nothing, and its words
// stand for themselves. What is in code, or quoted, offers and chooses nothing.
package choice
