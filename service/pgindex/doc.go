// Package pgindex keeps indexes in a PostgreSQL database, so that several hosts and agents share
// one memory. It answers as package index does, with the same words and the same formula, and
// uses the types of that package. Its rows are derived from Markdown too, so deleting them loses
// nothing but time.
//
//	┌ schema memkernel ─────────────────────────────────────────────────────┐
//	│ settings    schema version                                            │
//	│ spaces      a row per workspace and agent: generation, rules, model    │
//	│   └─ scopes two rows per space: one private, one shared                │
//	│ files       path, size, time, hash          ┐                          │
//	│ chunks      place, lines, headings, text    ├ each row names its scope │
//	│ postings    word, chunk, weighted frequency ┘                          │
//	│ models      name and length of vectors                                 │
//	│ embeddings  a unit vector per workspace, model and text (pgvector)     │
//	└────────────────────────────────────────────────────────────────────────┘
//
// # Visibility
//
// A space belongs to one agent of one workspace. Its agent sees all of it. The other agents of
// the workspace see its shared files, under paths that begin with "@agent/". Nobody else sees
// anything. One function (look) decides which scopes a query may see. Every statement that reads
// files, chunks or postings has the condition "scope = ANY(…)" with these scopes, and a test
// checks all statements for that condition. This guards against mistakes, not against somebody
// who has the password. Agents that must not trust each other need separate databases. A text
// that is in several agents' files of the same path is found once, in the agent's own file if it
// has one.
//
// # Words
//
// Chunks are analysed by index/analysis before they are stored. PostgreSQL's own ranking (ts_rank
// over a tsvector) knows neither how rare a word is nor how long a chunk, so its order would be
// another one than SQLite's. Instead each word of a chunk is a row with its weighted frequency
// and the chunk's length, found by a B-tree over word and scope. One statement sums up BM25
// exactly as FTS5 does. The number of chunks, their mean length and the number of chunks with a
// word are counted over the visible scopes. The rows take about 60 bytes for each distinct word
// of a chunk, some three times the size of the text.
//
// # Vectors
//
// A vector is stored once for each text and found through an HNSW index of its model, by inner
// product, which for unit vectors is the cosine. Vectors of up to 2,000 numbers are indexed in
// full precision, and vectors of up to 4,000 numbers in half precision. Longer vectors are not
// indexed, and a search compares every one of them. With pgvector 0.8 the walk through the index
// continues until enough visible chunks were found. Without the extension only words are
// searched, and a search by vectors returns an error that says so.
//
// # Several writers
//
// Only one process at a time syncs a space, under an advisory lock of its connection. The server
// frees the lock when the connection ends. Spaces don't wait for each other. A transaction writes
// many files, and each file as a whole. It raises the space's generation, and fails if somebody
// else has raised the generation. If the process is killed or the connection breaks, only the
// open transaction is lost, and the next Sync does the rest. A query that meets a broken
// connection is tried once more.
package pgindex
