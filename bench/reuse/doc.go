// Package reuse measures on recorded sessions how often what a prompt shows is
// needed again: the priors behind the worth of a page at a cut (pagevm.Select).
//
// A session is walked call by call. At every call each page that was there before
// it (the words and tool inputs of a message, a tool result) and each name in them
// (a path, file, identifier or hash) is exposed once, in the cell of its features
// at that time; what the call refers to counts as a hit there. A reference is that
// of package recall: a name or quoted string that stood earlier, and not in the
// last 8,000 tokens. One that is on several pages is shared out evenly among them.
// A page is also read again when a later call reads its path.
//
//	session ──Measure──► Counts (cell -> exposure, hits) ──┐
//	session ──Measure──► Counts ───────────────────────────┼──Rates──► a table
//	session ──Measure──► Counts ───────────────────────────┘
//
// Rates pools sessions, each cell with its range when any one session is left out,
// so that a figure that hangs on one file shows. Ages are calls, sizes characters
// over three. Everything is a function of the messages.
//
//	go test -C bench -run TestPriors -v ./reuse
//
// prints the table of the transcripts beside the repository.
package reuse
