// Package summary summarises a session's past in about a thousand tokens: a text with fixed keys
// that is updated from the messages that arrived since the last update. This mechanical summary
// calls no model and reads no clock and no file, and equal input gives equal text. So the text is
// never empty, never late, and byte-identical when nothing that it shows has changed.
//
//	┌ the text ────────────────────────────────────────────────────────────┐
//	│ [SESSION_SUMMARY v1]                                                 │
//	│ goal: <first substantial request> | now: <latest request>            │
//	│ constraints:                                                         │
//	│   - <rule-like line of a user message>                               │
//	│ corrections:                                                         │
//	│   - <refused call> → <words with the refusal>                        │
//	│ decisions:                                                           │
//	│   - <question> → <reply>                                             │
//	│ said, by turn:                                                       │
//	│   <turn>: <a person's words that left the prompt, word for word>     │
//	│ done:                                                                │
//	│   +<N> older: get <ID>                                               │
//	│   - <commit, or the words that ended a turn of the assistant>        │
//	│ state: in <directory>; branch <branch>; last check <command> → <end> │
//	│ open:                                                                │
//	│   - <unanswered question, unfinished plan item, failing check>       │
//	│ files:                                                               │
//	│   - <path>                                                           │
//	└──────────────────────────────────────────────────────────────────────┘
//
// An empty list is left out. Lists are oldest first, except open threads and files. Entries
// beyond the cap are counted in one "+N older" line per list. Words of persons are in the list
// that they belong to ([Beside]).
//
// Everything is derived from the structure of the conversation (who spoke, how long, which tool
// with which fields, how a line ends), not from English words. The exceptions are small
// documented tables. One has words of obligation in seven languages (rules.go). The others have
// the fixed formats of git, shells, test runners and hosts, which are machine output in any
// language of the user.
//
// Excerpts are one line each, cut at a rune boundary and free of control characters. They never
// begin a line, so that no text of a tool or a user can pass for a key of the summary.
//
// # Notes by a model
//
// A [Model] may add to the mechanical summary. [PromptFor] shows the model the notes so far and a
// delta of masked one-line excerpts. The model answers with operations ([ParseOperations]). They
// become typed updates of a notes page ([Answered.Updates], [NotesSpec], [Answered.Policy]), which
// the journal checks. [ReadNotes] reads the page, and [RenderNoted] shows it after the mechanical
// lines. The package itself never calls a model. The kernel calls a model through package
// summary/model.
//
// Caps are in tokens by the caller's counter. Excerpt lengths are in runes.
package summary
