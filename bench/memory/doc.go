// Command memory judges the upkeep of memory and prints one table: lines of people that left
// MEMORY.md unasked in sixty nights, blocks that CommonMark renders differently, planted
// contradictions found and false alarms, questions that memory answers after thirty nights,
// and curated entries that a reader called useful.
//
//	memory [-sealed] [-whole] [-sessions DIR] [-draw N] [-pairs]
//
// The sets are the project's own (CC0): pairs of statements in four languages, made from
// forms by rules; five workspaces in the manners of different people, each with two months
// of notes; questions with their gold strings on recorded sessions. A question is answered
// when one entry holds all of its gold. Half of the pairs and of the questions is sealed:
// -sealed judges that half and no other. Use it once at the end, and never make a rule from it.
//
// Recorded sessions are replayed through the kernel as hooks do, with a clock that is set:
// each is cut into days, observed turn by turn, and flushed at the end of a day. Without
// -sessions only the bundled one is replayed. Run the command at the root of the source. It
// calls no model and writes only to temporary folders.
package main
