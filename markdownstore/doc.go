// Package markdownstore is the user's workspace of plain Markdown: the system of record. It lists
// the files that count as memory, reads them, cuts them into chunks that cite their place, and
// writes to them in the only two ways that lose nothing: appending, and replacing content that
// has not changed meanwhile.
//
// The package deletes a file only for a caller that names the file's current hash. It never
// rewrites a line unless a caller replaces the line, and never follows a path out of the
// workspace. It keeps no index, starts no goroutine and logs nothing.
//
// Lines are 1-based and end at a line feed. A lone carriage return does not end a line. Offsets
// and sizes are bytes of the file, counted from its first byte, including the byte-order mark.
// Tokens are counted by a fixed counter, never by a model's.
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
// MEMORY.md, USER.md and working-buffer.md, which quotes private sessions, do not exist for a
// shared session. They are neither listed nor read nor written, under any name or link.
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
// The three parts joined together are the file, byte for byte. Units (a heading, a paragraph, a
// list item, a fence) tile the body. Chunks are runs of lines of the body. Without their
// overlaps, chunks tile the body too. A body that is only white space has no chunks.
//
// # An entry that was appended
//
//	blank line
//	the text, one or more lines
//	<!-- mk:ID -->
//
// The marker is after the text, so an incomplete write is never taken for the whole entry. Before
// an entry is written, its marker is looked for, so the same entry is never written twice.
//
// # Several writers
//
// Processes that use this package take one lock per workspace for a write (Options.LockFile).
// People's editors do not take the lock. An append goes to the present end of the file. If an
// editor replaced the file meanwhile, the append is repeated in the new file. After a
// replacement, the package checks the replaced file again, and restores it if an editor had
// written to it. One case remains. If an editor saves by renaming within the few milliseconds in
// which a replacement is synced, the later rename wins. On Windows the replaced file is not
// checked again, because an open file cannot be replaced there.
package markdownstore
