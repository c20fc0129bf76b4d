// Package pgindex keeps indexes in a PostgreSQL database, so that several hosts and agents share
// one memory. It answers as package index does, with the same words and the same formula, and
// uses the types of that package. Its rows are derived from Markdown too, so deleting them loses
// nothing but time.
//
//	┌ schema memkernel ─────────────────────────────────────────────────────┐
//	│ settings    schema version                                            │
//	│ spaces      a row per workspace and agent: generation, rules, model   │
//	│ files       path, size, time, hash            ┐ each row names        │
//	│ chunks      place, lines, headings, text,     │ its scope             │
//	│             and terms: a tsvector             ┘                       │
//	│ embeddings  a unit vector per workspace, model and text (pgvector)    │
//	└───────────────────────────────────────────────────────────────────────┘
//
// # Visibility
//
// A space belongs to one agent of one workspace. Its agent sees all of it. The other agents of
// the workspace see its shared files, under paths that begin with "@agent/". Nobody else sees
// anything. One function (look) decides which scopes a query may see. Every statement that reads
// files or chunks has the condition "scope = ANY(…)" with these scopes, and a test checks all
// statements for that condition. This guards against mistakes, not against somebody who has the
// password. Agents that must not trust each other need separate databases. If several agents'
// files of the same path have the same text, a search finds it once: in the searching agent's own
// file if there is one.
//
// # Words
//
// The server's full-text search finds and ranks the chunks. The server's own parsers are not
// used: index/analysis makes the words of a chunk, and they are stored as a tsvector, with their
// places and the weights of headings, file name and text. A GIN index finds the chunks with a
// word. PostgreSQL's ranking knows neither how rare a word is nor how long the chunks are on
// average, and its ranking of whole questions finds fewer of the right chunks. So each word is
// ranked alone: for one word, ts_rank_cd is the weighted number of its places. One statement
// counts the visible chunks with each word. A second statement computes BM25 from these numbers,
// as FTS5 does. A tsvector holds at most 256 places of a word, so a word that a chunk holds more
// often counts as 256. The tsvectors and their index take about two times the space of the text.
//
// # Vectors
//
// A vector is stored once for each text, and a search compares every visible vector by inner
// product, which for unit vectors is the cosine. The result is exact. Its time grows with the
// number of vectors. Without the extension pgvector only words are searched, and a search by
// vectors returns an error that says so.
//
// # Several writers
//
// Only one process at a time syncs a space, under an advisory lock of its connection. The server
// frees the lock when the connection ends. Spaces don't wait for each other. A transaction writes
// many files, and each file as a whole. It raises the space's generation, and fails if another
// process has raised the generation. If the process is killed or the connection breaks, only the
// open transaction is lost, and the next Sync does the rest. A query that meets a broken
// connection is tried once more.
package pgindex
