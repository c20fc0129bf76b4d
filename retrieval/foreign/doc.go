// Package foreign reads the results of other memory systems: the search results of QMD, Mem0 and
// Cognee, as JSON, become records of one shape, which the kernel shows next to its own search
// results.
//
//	JSON ──Parse──► answer{Format, Records, Bad}
//	         │
//	         ├─ unwrap   the envelope of a tool result (MCP), of a page of results
//	         ├─ detect   which system speaks, by the members of its records
//	         └─ read     one record after the other, by that system's rules
//
// The text of a record is read strictly: a record without a text, or with one that is no string,
// is refused, and the error names the record. The rest is read leniently: a member that is
// missing or has another shape leaves its field empty. One bad record does not take the others with it; only a document
// that is no such answer at all is an error.
//
// The order of an answer is its system's own and is kept. Scores are kept for the
// reader alone: of these systems some give similarities and some distances, between
// versions even the same system does, so nothing here or in the kernel compares
// them.
//
// A record's scope errs towards private: it is shared only if its system assigns
// it to an agent or an application and to no person and no run. QMD and Cognee
// record neither; a host that knows better sets the scope itself.
//
// The package reads no file, opens no connection and knows nothing of prompts. A
// record's content stays data: nothing in it is ever treated as an instruction
// to the host or the kernel.
package foreign
