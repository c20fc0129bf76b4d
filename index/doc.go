// Package index keeps the data that makes a workspace searchable in one SQLite file: the chunks
// of its Markdown files, their words and their vectors. All of this data is derived from the
// files. If the index is deleted, making it again costs only time, and the price of vectors from
// a paid provider.
//
// The package finds candidates by words and by vectors. Each candidate has its own score. The
// package does not merge the two kinds of candidates, does not know the worth of a memory, reads
// no Markdown and never writes to the workspace. The caller lists the files and cuts them into
// chunks. Searching never changes the index and never calls Sync. Lag and Hits.Outdated report
// an index that is out of date.
//
//	┌ index.sqlite ────────────────────────────────────────────────────────┐
//	│ meta             key, value: generation, stamp, languages, model ... │
//	│ files            a row per file: path, size, mtime, content hash     │
//	│ chunks           a row per chunk: file, place, lines, trail, text    │
//	│   │ row                                                              │
//	│   ├─ chunks_fts  its analysed words: body, trail, file, names        │
//	│   └─ chunks_vec  its unit vector, of the model in use                │
//	│ embedding_cache  a unit vector per model and content hash            │
//	│ chunk_codes      a few bits of each of their numbers, if they are many│
//	└──────────────────────────────────────────────────────────────────────┘
//	  index.sqlite.lock  held by the process that syncs or rebuilds
//	  index.sqlite-wal, index.sqlite-shm  SQLite's own, while it is open
//
// # Syncing
//
// Sync does not open a file whose size and modification time are as recorded. It compares one sum
// over the sizes and times of all files with the recorded sum. If the sums are equal, no file has
// changed, and Sync does not even read the table of files. Sync reads a changed file, and the
// names and contents of its chunks decide which rows are removed, added and kept. A kept chunk
// keeps its row and its vector. Sync writes whole files, several in a transaction. A kill loses
// at most the last transaction, and the next Sync does only the rest. If a modification time is
// so recent that the file may change again within the clock's grain, the next Sync reads the file
// once more.
//
// # Days
//
// A chunk whose file or heading has a date is also found by the days that its text names relative
// to that date. If a text of 8 May 2023 says "yesterday", the words of its chunk include 20230507
// and 202305. A Query has such words in Days. The index makes these words again when the date
// changes, or when the rules for finding them change.
//
// # Searching words
//
// A search finds the best chunks, and besides them some that hold every word of the question, and
// the first chunks of files that have every word in their names, however far below these are.
//
// Scores are equal to the scores of FTS5's bm25. FTS5 itself runs only the first search after a
// change. Later searches read the word lists straight from the tables of FTS5, in the format that
// SQLite documents, which takes a quarter of the time. The positions of the lists stay in memory,
// as do the lengths of the chunks (4 bytes for each chunk) and the lists of the words searched
// for last (two bytes for each row). If a list has a form that this package does not know, FTS5
// runs the search.
//
// A searched word that no chunk holds is compared with the words of the index, except words with
// digits, names, and words in scripts without spaces. The words of the index are read for the
// first such comparison after a change. They stay in memory, up to 8 MB. In an index with more
// words, no word is corrected.
//
// # Searching vectors
//
// In an index of at most Options.ExactVectors vectors, a search compares every vector. sqlite-vec
// compares the vectors in the first search of a state of the index. Later searches compare them
// in memory, with the same scores, if the vectors take no more than 16 MiB. If there are more
// than ExactVectors vectors, the writer that stores them makes codes from the randomly rotated
// vectors: one bit for each number of a vector, or four bits if one bit does not suffice. The
// codes are held in memory and take 1/32 or 1/8 of the vectors' size. Counting the bits that
// differ selects the vectors worth comparing, which are then read from embedding_cache. The
// writer measures the codes against comparing all vectors when it makes the codes, and whenever
// the number of vectors has doubled. The test questions are stored vectors and the middles
// between two stored vectors. The writer takes the cheapest codes that keep .995 of the nearest
// 24 vectors. If no codes do so, or if the table of codes is damaged, every vector is compared.
// Files that Want refuses are left out before any choice.
//
// # Several processes
//
// One process syncs at a time. The other processes wait for the lock or get ErrBusy. Searches
// continue meanwhile and see only whole transactions. An open Index notices that Rebuild has
// replaced the file, and opens the new file. When an Index sees a new state of the index, it
// drops its cached data of the old state: vectors, the chunks found last, and the spellings of
// unknown words.
package index
