// Package sessions makes searchable documents of past conversations: the
// transcripts that hosts wrote, and whatever else can be read as turns.
//
//	transcript, growing ── from the offset ──► turns ── masked ──► parts ──► index
//	                                             │                   │
//	                                       tombstones            log.json: how far
//
// A conversation becomes Markdown, a turn under a heading that has its time, its line in the
// transcript, and its speaker. A part holds one day at most and about partBytes, so that an index
// reads again only the last part of a conversation that grew:
//
//	<dir>/<agent>/<conversation>/0001-2026-03-09.md     sessions/<agent>/… in search results
//	<dir>/<agent>/<conversation>/marks                  the hashes that identify its turns
//	<dir>/<agent>/<conversation>/log.json               the bytes read, written last
//	<dir>/forgotten.json                                tombstones
//	<dir>/lock                                          held while parts are written
//
// Everything except the tombstones is derived. If it is deleted, the transcripts are read anew.
//
// # Growing, rewritten, gone
//
// A conversation is read when it is first seen, and then when [Options.DeltaBytes] or
// [Options.DeltaMessages] have been added, or when it has rested for [Options.Settle]. The log
// has the hash of all bytes up to the offset. If they changed, or there are fewer, the
// conversation is read anew. Documents of a transcript that is gone go too. A last line that is
// cut off is left for later.
//
// # Forgetting
//
// Forget first writes tombstones, durably: one of the conversation, by agent and name, and one of
// each turn, by its content. From then on the conversation is hidden. Then Forget removes the
// documents. After a kill between the two the next [Store.Update] removes them. Neither the
// transcript nor a copy of it under another name comes back. Equal turns of at least sameBytes
// are the same turn, wherever they are. Shorter ones are the same only if time and speaker are.
//
// # Access
//
// The first folder of every path is an agent's. Callers that search for an agent must show only
// paths [Under] that agent's folder, and none at all in a session that several people read.
package sessions
