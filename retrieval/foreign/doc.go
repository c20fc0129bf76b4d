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
// The text of a record is read strictly. A record without a text, or whose text is not a string, is
// refused, and the error names the record. All other members are read leniently: if one is missing
// or has another shape, its field stays empty. A bad record does not affect the others. Only a
// document that is not an answer of these systems is an error.
//
// The records keep the order of the answer. Scores are kept only for the reader. Some of these
// systems report similarities, some report distances, and some have changed between versions. So
// neither this package nor the kernel compares the scores.
//
// A record is private unless its system assigns it to an agent or an application, and to no person
// and no run. QMD and Cognee record no owners, so their records are private. A host that knows the
// owners can set the scope itself.
//
// The package reads no file, opens no connection and has nothing to do with prompts. The content of
// a record is data: nothing in it is treated as an instruction to the host or the kernel.
package foreign
