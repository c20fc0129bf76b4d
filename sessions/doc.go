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
// Everything except the tombstones is derived from the transcripts. If the documents are deleted,
// the transcripts are read again.
//
// # Growing, rewritten, gone
//
// A conversation is read when it is first seen. It is read again when it has grown by
// [Options.DeltaBytes] or [Options.DeltaMessages], or when it has grown less and then rested for an
// hour. The log has the hash of all bytes up to the offset, or the sum of all records up to it. If
// these changed, or the file is shorter, the conversation is read from the beginning. The documents
// of a deleted transcript are removed. An incomplete last line is left for later.
//
// # Forgetting
//
// Forget first writes tombstones, durably. It writes a tombstone for the conversation, by agent
// and name, and a tombstone for each turn, by its content. From then on the conversation is
// hidden. Then Forget removes the documents. After a kill between these two steps, the next
// [Store.Update] removes the documents. Neither the transcript nor a copy of it under another
// name comes back. Two turns with equal text of at least sameBytes count as the same turn,
// wherever they are. Two shorter turns are the same only if their times and speakers are also the
// same.
//
// # Access
//
// The first folder of every path is an agent's. Callers that search for an agent must show only
// paths [Under] that agent's folder. In a session that several people read, they must show no
// paths at all.
package sessions
