// Package consolidation keeps files that agents write to every day good. It reads a
// workspace's Markdown as entries, decides what each is worth keeping for, and
// finds what is wrong with them.
//
//	fs.FS ──► Read ──► Snapshot: files, entries ──┬──► Audit ───► Report
//	                                              ├──► Curate ──► Curation: what MEMORY.md gets
//	                                              └──► Prune ───► Pruning: what leaves which file
//
// Read takes an [io/fs.FS], which has no way to write: whatever only looks at a
// workspace is given nothing else, so that no mistake in a check can change a byte.
// What changes a workspace is worked out from a Snapshot as well, and written by the
// caller through the one journal and package markdownstore; nothing in this package
// opens a file to be written.
//
// # Entries
//
// An entry is the least that is kept, moved or forgotten as one: a list item, a
// paragraph, a quote or a table of a memory file, under its headings. Headings,
// code, raw HTML and front matter are none. Its parts, where they are there:
//
//   - [x] 14:05 **[decision]** [human] Ports move to 5433. <!-- from memory/2026-03-01.md#L3 -->
//     │   │     │                      │                  │
//     │   time  tags                   Plain              comment
//     state
//     <!-- mk:ID -->        the id of the block above it, as markdownstore appends it
//
// Tags are at the beginning or the end, in any case, in brackets or several in one
// pair; a tag in a heading holds for the entries under it. Comments are ours and are
// at a line's end, so that Markdown shows none of them:
//
//	<!-- from REF -->         where the entry comes from: file#L3-L5, or an entry's id
//	<!-- supersedes REF -->   what it replaces; both stay, and the newer one holds.
//	                          REF may be the name of a line, k- and a hash of it
//
// An entry's date is the one that it begins with, else that of the nearest heading
// that holds one, else the one in the file's name.
//
// # Significance
//
// Five questions decide what is worth keeping: did it change a decision or a plan, was
// it surprising, did the user say that it matters, can it be used again, did it change
// what the agent is. Each yes is a tag. Of what a machine captured they are answered by
// evidence ([Capture]): a decision has its subject and its outcome in the text, a failure
// a remedy that can be used and that was dear or needed before, a wish a person's words.
// A host or a model may answer where that is not enough. Entries without a tag are the
// first to go.
//
// # Audit
//
// A check has an id, looks at a Snapshot, and yields findings: where, what, and what
// to do. Checks are independent, and their order and that of what they find is
// fixed, so that two reports of equal files are equal bytes. What can't be decided
// by looking is not guessed: a contradiction is reported only where two entries that
// hold today claim different things about one subject in a form that is plain (see
// [CheckContradictions]).
//
// # Curation
//
// Of a day's log, the working buffer and the checkpoints those entries are worth a
// place in MEMORY.md that a tag speaks for, the user's words first; in what others write,
// a label, a lead or a heading that means the same ("Lessons learned"), a sentence that
// says what was decided or learned, and that later days needed a name which an entry
// introduced. Repetition on other days adds to a tag, and alone is routine; what files
// have from a form is left out. What memory holds already, in the same words or nearly,
// what has a tombstone, what is superseded or an open task is passed over. A fact is
// written without day, time and label ([Present]), at most 280 characters of it. A
// night gets at most eight; what little speaks for is left out of more than three.
//
// # Pruning
//
// See [PruneOptions] for the thresholds and [Why] for the reasons. What
// memkernel wrote and nobody changed may leave, and what is named; all else
// stays. A bundle is what moves: an item of a plain list with all that is
// nested in it, or all that is below one heading. Headings go with the last
// block that they name if they may leave as well, markers with any.
//
// Lines are 1-based and inclusive. Days begin in the user's time zone. Characters
// are what the host counts (UTF-16 units for hosts written in JavaScript).
package consolidation
