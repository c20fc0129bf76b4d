// Package qmd lets the program QMD answer questions for one of our indexes. It starts QMD for
// each question, with a deadline, and takes the text of QMD's hits from our index.
//
//	question ──► qmd search --json ──► foreign.Parse ──► file and line
//	                                                         │ At
//	                     hits of index.sqlite, in QMD's order ◄┘
//
// QMD only returns places. The text comes from the index, which is synced as without QMD. The
// index masks secrets and knows headings and dates. A hit that the index doesn't hold is left out
// and counted. Such a hit may be from another collection, from a file that was not synced, or
// from a file that a shared session may not see.
//
// QMD ranks the hits, and the package keeps QMD's order, without decay, passages or mixed scores.
// If QMD can't be started, takes too long, fails, returns something other than its JSON, or finds
// nothing, the index answers, and the hits hold the reason.
//
// QMD has its own index, which "qmd update" brings up to date. The package never runs "qmd
// update", because it may run commands from QMD's configuration. Users must run it themselves.
//
// A question is plain text: quotes, a minus before a word and the prefixes of
// QMD's query language lose their meaning before it is sent.
package qmd
