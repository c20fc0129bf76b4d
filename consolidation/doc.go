// Package consolidation decides what becomes of a workspace's Markdown: it reads the files as
// entries, finds errors in them, and chooses the entries that MEMORY.md gains or loses.
//
//	fs.FS ──► Read ──► Snapshot: files, entries ──┬──► Audit ───► Report
//	                                              ├──► Curate ──► Curation: entries for MEMORY.md
//	                                              └──► Prune ───► Pruning: what leaves which file
//
// Read takes an [io/fs.FS], which has no way to write. A reader of a workspace gets nothing else,
// so that no mistake in a check can change a byte. Changes of a workspace are computed from a
// Snapshot as well, and the caller must write them through the one journal and package
// markdownstore. Nothing in this package opens a file to be written.
//
// # Entries
//
// An entry is the smallest unit that is kept, moved or forgotten: a list item, a paragraph, a
// quote or a table of a memory file, under its headings. Headings, code, raw HTML and front
// matter are not entries. An entry may have these parts:
//
//   - [x] 14:05 **[decision]** [human] Ports move to 5433. <!-- from memory/2026-03-01.md#L3 -->
//     │   │     │                      │                  │
//     │   time  tags                   Plain              comment
//     state
//     <!-- mk:ID -->        the id of the block above it, as markdownstore appends it
//
// Tags are at the beginning or the end, in any case, in brackets or several in one pair. A tag in
// a heading holds for the entries under it. Comments are ours and are at a line's end, so that
// Markdown shows none of them:
//
//	<!-- from REF -->         where the entry comes from: file#L3-L5, or an entry's id
//	<!-- supersedes REF -->   the replaced entry; both stay, and the newer one holds.
//	                          REF may be the name of a line, k- and a hash of it
//
// An entry begins with its date, or takes the date of the nearest heading with one, or the date
// in the file's name.
//
// # Significance
//
// Five questions decide the worth of an entry: did it change a decision or a plan, was it
// surprising, did the user say that it matters, can it be used again, did it change the agent's
// knowledge of itself. Each yes is a tag. For a machine's captures, evidence answers these
// questions ([Captured]). A decision must have its subject and its outcome in the text. A failure
// must have a remedy that can be used and that was dear or needed before. A wish must be a
// person's words. A host or a model may answer where the evidence is not enough. Entries without
// a tag are the first to go.
//
// # Audit
//
// A check has an id, looks at a Snapshot, and yields findings: the place, the fault, and the
// remedy. Checks are independent. The order of checks and findings is fixed, so that two reports
// of equal files are equal bytes. Checks never guess. A contradiction is reported only where two
// entries that hold today claim different things about one subject in a form that is plain (see
// [CheckContradictions]).
//
// # Curation
//
// A log that others write is read as remarks, one for each thing that an item or a sentence says.
// A cause, its remedy and its lesson in neighbouring lines are one remark. The words of a remark
// show its sense (ledger/words.txt): a person's wish or rule, a decision, a lesson with cause or
// remedy, or a lasting fact with its value. The label and the headings add to this, but a heading
// alone makes nothing of a line. Tasks, statuses, reports of work, other people's studies, copies of
// talks and lines of a form are left out, and so is a remark whose subject is neither in it nor
// above it. A name that earlier or later days mention adds to the worth.
//
// A fact is written in its own words, with its subject, without day, time and label ([present]), at
// most 280 characters of it. A word for a day becomes the day. Short neighbours of one sense are one
// entry. An entry is passed over if memory holds it already, in the same words or nearly all of
// them, if it has a tombstone, and if it is superseded or an open task. A night gets at most eight
// entries, people's wishes first, and nothing if the day has nothing. For a tagged entry the tags
// speak, and repetition on other days adds to their worth.
//
// # Pruning
//
// See [PruneOptions] for the thresholds and [why] for the reasons. Text that memkernel wrote and
// nobody changed may leave, and so may named text. All other text stays, and is not counted in
// [MachineLines]. What leaves is in sight elsewhere: it is merged with an entry that says the same,
// or moves to the topic file that it is about, the newest day first. A bundle is the unit of
// a move: an item of a plain list with its nested blocks, or everything below one heading. A
// heading leaves with the last block that it names, if the heading may leave as well. A marker
// always leaves with the last block that it names.
//
// Lines are 1-based and inclusive. Days begin in the user's time zone. Characters are counted in
// the host's unit (UTF-16 units for hosts written in JavaScript).
package consolidation
