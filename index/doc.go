// Package index keeps the data that makes a workspace searchable in one SQLite file: the chunks
// of its Markdown files, their words, their vectors. Everything in it is derived from the files;
// deleting it loses nothing but the time to make it again (and, for vectors from a paid provider,
// their price).
//
// It finds candidates, by words and by vectors, each with its own score. It does not merge them,
// does not know the worth of a memory, reads no Markdown and never writes to the workspace: the
// caller lists the files and cuts them into chunks. Searching never changes the index, whatever
// it finds; a search that finds it out of date reports that (Behind, Hits.Outdated); it never
// calls Sync.
//
//	┌ index.sqlite ────────────────────────────────────────────────────────┐
//	│ meta             key, value: generation, stamp, languages, model ... │
//	│ files            a row per file: path, size, mtime, content hash     │
//	│ chunks           a row per chunk: file, place, lines, trail, text    │
//	│   │ row                                                              │
//	│   ├─ chunks_fts  its analysed words: body, trail, file (contentless) │
//	│   └─ chunks_vec  its unit vector, of the model in use                │
//	│ embedding_cache  a unit vector per model and content hash            │
//	│ chunk_codes      a few bits of each of their numbers, if they are many│
//	└──────────────────────────────────────────────────────────────────────┘
//	  index.sqlite.lock  held by the process that syncs or rebuilds
//	  index.sqlite-wal, index.sqlite-shm  SQLite's own, while it is open
//
// # Syncing
//
// A file whose size and modification time are as recorded is not opened; if no file differs, one
// sum over all of them shows it, and not even the table of files is read. Otherwise a file is
// read, and the names and contents of its chunks decide which rows go, come and stay; a chunk
// that stays keeps its row and its vector. Files are written whole, several to a transaction: a
// kill costs at most the last transaction, and the next Sync does only the rest. A modification
// time so young that the file may change again within the clock's grain is not trusted; such a
// file is read once more next time.
//
// # Days
//
// A chunk that has a date, of its file or of a heading, is also found by the days that
// its text names by their distance from it: its words have 20230507 and 202305 where the
// text of 8 May 2023 says "yesterday". A Query has such words in Days. They are made anew
// when the date changes, or the rules by which they are found.
//
// # Searching words
//
// Scores are those of FTS5's bm25. FTS5 itself runs the first search after a
// change only: then the word lists are read straight from its tables, in the
// format that SQLite documents, which takes a fourth of the time. Of these stay
// in memory where the lists lie, how long each chunk is, 4 bytes each, and
// packed into two bytes a row the lists of the words searched for last. Lists
// of a form that this package does not know are left to FTS5.
//
// Words that no chunk holds are compared with those that some do, without digits, names
// and writing without spaces. These are read when such a word is first asked for after a
// change, and stay in memory, up to 8 MB; of an index with more, no word is corrected.
//
// # Searching vectors
//
// Up to Options.ExactVectors, every vector is compared: by sqlite-vec, or, from the second search
// of a state of the index on and if they take no more than 16 MiB, in memory, with the scores
// that sqlite-vec would give. Of more, the writer that stores them makes codes, turned by a
// random rotation: one bit a number, or four where one does not do. They are held in memory, 1/32
// or 1/8 of the vectors' size, and counting their bits selects the vectors worth comparing; those
// are read from embedding_cache. The result is measured against comparing all vectors when the
// codes are made, and whenever the vectors have doubled: the cheapest way is taken that leaves in
// .995 of the nearest 24, both of questions taken from stored vectors and of middles of two. If
// none does, or the table is damaged, every vector is compared. Files that Want refuses are left
// out before any choice.
//
// # Several processes
//
// One syncs at a time; the others wait for the lock or get ErrBusy. Searches continue meanwhile
// and see whole transactions. A handle notices that Rebuild put a new file in the old one's
// place, and opens that. When a handle sees another state of the index, it drops the data of the
// old state that it keeps in memory (vectors, the chunks found last, the spellings of unknown
// words).
package index
