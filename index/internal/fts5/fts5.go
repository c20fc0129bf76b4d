// Package fts5 is the full-text table of an index, chunks_fts, and the one place that knows how
// SQLite's FTS5 lays it out. It finds the rows that answer words best, in two ways that give the
// same rows and scores: by reading the word lists in the file, and through SQL. It uses no other
// table, and never writes to the word lists itself except for the totals that older versions of
// SQLite get wrong.
//
// The word lists are read in the format that fts5_index.c of SQLite describes at its head and has
// kept since version 4 (the version is in chunks_fts_config): every term's rows and places, in
// segments of pages. SQLite itself, computing bm25, reads a row of another table for each chunk
// that holds a word, which is most of its time. Data of another form, or damaged data, is left to
// SQLite.
//
//	page     first row u16 │ size u16 │ content │ where its terms begin
//	content  term  row  places  row  places ... term ...
//
// The first row of a term and of a page is written in full, the others by their distance; places
// are counted in bytes, and continue on the next page.
package fts5

import (
	"context"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// BM25 as FTS5 has it: its constants, the weight of a word that more than half of the chunks hold,
// and the weights of the columns of chunks_fts, in their order: body, trail, file, names. A word in
// a heading counts more for a chunk than one in its text, and so does one in the names of its file,
// or in its folder and keywords, though all chunks of the file share it.
var BM25 = struct {
	K1, B, Least float64
	Weights      [4]float64
}{k1, b, least, [...]float64{1, 3, 1.5, 3}}

const (
	k1    = 1.2
	b     = 0.75
	least = 1e-6
)

// create are the statements that make the table. It holds words that were analysed
// before, so its own tokenizer only splits at spaces; it stores no text.
//
// hashsize lets the words of a transaction fill 4 MB of memory before they are
// written as a segment. The default of 1 MB makes four times as many segments to
// merge; beyond 4 MB the table in memory outgrows the processor's caches, which
// costs more than the merges it saves (both measured).
var create = []string{
	"DROP TABLE IF EXISTS chunks_fts",
	`CREATE VIRTUAL TABLE chunks_fts USING fts5(body, trail, file, names,
	content='', contentless_delete=1, tokenize="ascii")`,
	"INSERT INTO chunks_fts(chunks_fts, rank) VALUES('hashsize', 4194304)",
}

// Make makes the table, empty.
func Make(ctx context.Context, tx drv.Conn) error {
	for _, q := range create {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// Statements on the table.
const (
	// Insert takes a row and the words of its columns, Delete a row.
	Insert = "INSERT INTO chunks_fts(rowid, body, trail, file, names) VALUES(?, ?, ?, ?, ?)"
	Delete = "DELETE FROM chunks_fts WHERE rowid=?"
	// MergeAt sets how many segments of a level are merged into one, MergedAt
	// reads it, with a default.
	MergeAt  = "INSERT INTO chunks_fts(chunks_fts, rank) VALUES('automerge', ?)"
	MergedAt = "SELECT CAST(ifnull((SELECT v FROM chunks_fts_config WHERE k='automerge'), ?) AS INTEGER)"
	// Rows are the numbers of the rows that there are.
	Rows = "SELECT id FROM chunks_fts_docsize"
	// Vocabulary makes temp.vocab, a row for each place of each word.
	Vocabulary = "CREATE VIRTUAL TABLE temp.vocab USING fts5vocab('main', 'chunks_fts', 'instance')"
)

// mergePages is how many pages are written by one call of Merge, about 8 MB.
const mergePages = 2000

// Merge merges segments of which there are many of one level, or continues to, in the transaction
// of tx. more is false when nothing was left to do.
func Merge(ctx context.Context, tx drv.Conn) (more bool, err error) {
	var before, after int64
	const changes = "SELECT total_changes()"
	if err = tx.QueryRowContext(ctx, changes).Scan(&before); err != nil {
		return false, err
	}
	if _, err = tx.ExecContext(ctx, "INSERT INTO chunks_fts(chunks_fts, rank) VALUES('merge', ?)", mergePages); err != nil {
		return false, err
	}
	err = tx.QueryRowContext(ctx, changes).Scan(&after)
	return after-before > 1, err // the insert itself is one
}
