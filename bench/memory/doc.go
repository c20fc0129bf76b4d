// Command memory judges the upkeep of memory and prints one table. The table has the lines of people
// that upkeep removed from MEMORY.md in sixty nights, and the blocks of people's files that
// CommonMark renders differently afterwards. It has the planted contradictions that the audit found,
// and the false alarms. It has the questions that memory answers after thirty nights, and the
// curated entries that a reader called useful.
//
//	memory [-sealed] [-whole] [-sessions DIR] [-draw N]
//
// The sets are the project's own (CC0). They are pairs of statements in four languages, made from
// forms by rules; five workspaces in the styles of different people, each with two months of
// notes; and questions about recorded sessions, with gold strings. A question is answered when
// one entry holds all of its gold strings. Half of the pairs and of the questions is sealed, and
// -sealed judges only that half. Use -sealed once at the end, and never make a rule from its
// results.
//
// Recorded sessions are replayed through the kernel as hooks would pass them, with an artificial
// clock. Each session is cut into days, observed turn by turn, and flushed at the end of each
// day. Without -sessions only the bundled one is replayed. Run the command at the root of the
// source. It calls no model and writes only to temporary folders.
package main
