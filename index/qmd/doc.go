// Package qmd lets the program QMD answer questions next to an index of ours: it is started for
// each, within a deadline, and the text of its hits is taken from our index.
//
//	question ──► qmd search --json ──► foreign.Parse ──► file and line
//	                                                         │ At
//	                     hits of index.sqlite, in QMD's order ◄┘
//
// QMD only returns places. The text comes from the index, which is kept as it is without QMD:
// secrets are masked in it, it knows headings and dates, and a hit that it doesn't hold (another
// collection, a file that was not synced, one that a shared session may not see) is left out and
// counted.
//
// QMD ranks by itself, and its order is kept: no decay, no passages, no mixing of
// scores. When it can't be started, takes too long, fails, answers something else
// than its JSON, or finds nothing, the index answers, and the hits hold the
// reason.
//
// QMD keeps an index of its own, which it brings up to date by "qmd update". That
// may run commands that its configuration names, so it is left to the user.
//
// A question is plain text: quotes, a minus before a word and the prefixes of
// QMD's query language lose their meaning before it is sent.
package qmd
