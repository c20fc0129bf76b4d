// Package ledger reads the statements of people and hosts in sessions: names, facts, corrections, wishes,
// prohibitions and decisions, sentence by sentence.
//
//	a person's own words ──► Read ──► Statements: the sentence as it was typed, its kind, and
//	                                  whether it is meant to last
//	a question and its answer ──► Settled ──► whether the answer holds beyond the next step
//	a host's summary ──► ReadSummary ──► its points
//
// A statement holds a value (a name, a path, an address, a number, a date, a quoted word) and words
// that bind it to a subject, or words by which people state rules and decisions. Questions,
// conditions, drafts, quotations, examples, reports of others' words and orders for the moment
// state nothing. The subject must be in the sentence or in the sentence before it, which is then
// part of the statement.
//
// It also reads the claims of a line: the values that its sentences give to subjects, in a form in
// which audits, curation and search compare them:
//
//	a line ──► Claims ──► Claim: the words of the subject, and a value of a kind
//
// The package never writes, never asks a model, keeps nothing, and never rewords a sentence.
package ledger
