// Package markdownstore is the user's workspace of plain Markdown: the system of record. It lists
// the files that count as memory, reads them, cuts them into chunks that cite their place, and
// writes to them in the only two ways that lose nothing: appending, and replacing content that
// has not changed meanwhile.
//
// It deletes a file only for a caller that names its current hash, never rewrites a line unless a
// caller replaces it, never follows a path out of the workspace, and keeps no index; everything
// that it derives can be derived again. It starts no goroutine and logs nothing.
//
// Lines are 1-based and end at a line feed; a lone carriage return ends none.
// Offsets and sizes are bytes of the file, counted from its first byte, the
// byte-order mark included. Tokens are those of the one fixed counter of
// Options, never a model's.
//
// # Tiers
//
//	MEMORY.md, else memory.md      evergreen   private
//	memory/**/*.md without a date  evergreen
//	memory/2026-03-01.md           dated       the log of a day
//	memory/**/*2026-03-01*.md      dated       a note of a day
//	memory/observations.md         recent      ages by its modification time
//	USER.md                        evergreen   private
//	what Options.Include names     evergreen   read, never written to
//
// MEMORY.md and USER.md do not exist for a shared session, nor does
// working-buffer.md, which quotes private ones: they are neither listed nor read
// nor written, whatever name or link leads to them.
//
// # What a file is made of
//
//	┌────────────┬──────────────┬──────────────────────────────────────┐
//	│ order mark │ front matter │ body                                 │
//	│ 0 or 3 B   │ to its close │ unit unit unit unit unit unit unit … │
//	└────────────┴──────────────┴──────────────────────────────────────┘
//	                             [ chunk          ]
//	                                         [ chunk          ]
//	                                          ^^^^^ overlap
//
// The three parts side by side are the file, byte for byte. Units (a heading, a
// paragraph, a list item, a fence) tile the body. Chunks are runs of lines over
// the body; without their overlaps they tile it too. A body of nothing but
// white space has no chunks.
//
// # An entry that was appended
//
//	blank line
//	the text, one or more lines
//	<!-- mk:ID -->
//
// The marker is after the text, so a torn write is never taken for the whole entry. An entry is
// looked for by its marker before it is written, hence it is never there twice.
//
// # Several writers
//
// Processes that use this package take one lock per workspace for a write (Options.LockFile).
// People's editors do not: an append goes to the end of the file as it is by then, and if an
// editor put a new file in its place meanwhile the append is repeated there. A replacement looks
// again, after the fact, at the file it replaced, and puts it back if it had been written to.
// One case remains: an editor that saves by renaming within the few milliseconds in which a
// replacement is being synced: the later rename wins. On Windows there is no second look: an open
// file cannot be replaced there.
package markdownstore
