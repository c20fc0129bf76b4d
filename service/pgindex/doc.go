// Package pgindex keeps indexes in a PostgreSQL database, so that several hosts
// and agents share one memory. It answers as package index does, by the same words
// and the same formula, and takes its types. Its rows are derived from Markdown too:
// deleting them loses nothing but time.
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
// A space belongs to one agent of one workspace. Its agent sees all of it. The
// other agents of the workspace see its shared files, under paths that begin with
// "@agent/". Nobody else sees anything. One function (look) decides which scopes a
// query may see, and every statement that reads files, chunks or postings has
// the condition "scope = ANY(those)"; a test holds all statements to that. This
// guards against mistakes, not against somebody who has the password: agents that
// must not trust each other need databases of their own. A text that is in several
// agents' files of the same path is found once, the agent's own first.
//
// # Words
//
// Chunks are analysed by index/analysis before they are stored. PostgreSQL's own
// ranking (ts_rank over a tsvector) knows neither how rare a word is nor how long
// a chunk, so its order would be another one than SQLite's. Instead each word of a
// chunk is a row with its weighted frequency and the chunk's length, found by a
// B-tree over word and scope, and one statement sums up BM25 exactly as FTS5 has
// it; the number of chunks, their mean length and the holders of a word are those
// of the scopes that are seen. It costs about 60 bytes for each distinct word of a
// chunk, some three times the text.
//
// # Vectors
//
// A vector is stored once for each text and found through an HNSW index of its
// model, by inner product, which for unit vectors is the cosine. Up to 2,000
// numbers the index holds them whole, up to 4,000 by halves, above that every
// vector is compared. With pgvector 0.8 the walk goes on until enough visible
// chunks were found. Without the extension only words are searched, and a
// search by vectors returns an error that says so.
//
// # Several writers
//
// One process syncs a space at a time, under an advisory lock of its connection. The
// server frees the lock when the connection ends. Spaces don't wait for each other. Files
// are written whole, many to a transaction. The transaction raises the space's generation
// and fails if somebody else did. A kill, or a connection that breaks, costs the open
// transaction; the next Sync does the rest. A query that meets a broken connection is
// tried once more.
package pgindex
