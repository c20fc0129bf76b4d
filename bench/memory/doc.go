// Command memory judges what the upkeep of memory makes of workspaces, and prints one
// table: what people wrote and left MEMORY.md unasked in sixty nights, blocks that
// CommonMark renders differently, planted contradictions found and false alarms,
// questions that memory answers after thirty nights, and drawn entries that a reader
// called useful.
//
//	memory [-sealed] [-whole] [-sessions DIR] [-draw N] [-pairs]
//
// The sets are the project's own (CC0): statements in pairs in four languages, made
// from forms by rules; five workspaces in the manners of different people, each with
// two months of notes; questions with their gold strings on recorded sessions. A
// question is answered when one entry holds all of its gold. Half of the pairs and of
// the questions is sealed: -sealed judges that half and no other, at the end, when
// nothing is chosen by it any more. Rules are not made by reading it.
//
// Recorded sessions are replayed through the kernel as hooks do, with a clock that is
// set: each is cut into days, observed turn by turn, and flushed at the end of a day.
// Without -sessions the bundled one is replayed alone. Run it at the root of the source.
package main
