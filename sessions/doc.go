// Package sessions makes searchable documents of past conversations: the
// transcripts that hosts wrote, and whatever else can be read as turns.
//
//	transcript, growing ── from the offset ──► turns ── masked ──► parts ──► index
//	                                             │                   │
//	                                       tombstones            log.json: how far
//
// A conversation becomes Markdown, a turn under a heading that has its time and its
// line in the transcript, labelled with who speaks. A part holds one day at most and
// partBytes about, so that an index reads again only the last part of what grew:
//
//	<dir>/<agent>/<conversation>/0001-2026-03-09.md     sessions/<agent>/… to who searches
//	<dir>/<agent>/<conversation>/marks                  what its turns are known again by
//	<dir>/<agent>/<conversation>/log.json               what was read, written last
//	<dir>/forgotten.json                                tombstones
//	<dir>/lock                                          held while parts are written
//
// All but the tombstones is derived: without it the transcripts are read anew.
//
// # Growing, rewritten, gone
//
// A conversation is read when it is first seen, and then when [Options.DeltaBytes]
// or [Options.DeltaMessages] have been added, or when it has rested for
// [Options.Settle]. What was read is known by the hash of all bytes up to the
// offset: where they are no longer the same, or fewer, it is read anew. Documents of
// a transcript that is gone go too. A last line that is cut off is left for later.
//
// # Forgetting
//
// Forget writes tombstones first, durably: of the conversation, by agent and name,
// and of its turns, by their content. From there on nobody sees it. Then the
// documents go; a kill between the two is made good by the next [Store.Update].
// Neither the transcript nor a copy of it under another name comes back. Equal turns
// of at least sameBytes are the same turn, wherever they are; a shorter one only
// if time and speaker are the same.
//
// # Who sees what
//
// The first folder of every path is an agent's. Whoever searches for an agent is to
// be shown paths [Under] that agent's folder and no others, and in a session that
// several people read, none at all.
package sessions
