// Package fts5 is the full-text table of an index, chunks_fts, and the one place that knows how
// SQLite's FTS5 lays it out. It finds the rows that answer words best, in two ways that give the
// same rows and scores: by reading the word lists in the file, and through SQL. It uses no other
// table, and never writes to the word lists itself except for the totals that older versions of
// SQLite get wrong.
//
// The word lists hold the rows and places of every term, in segments of pages. Their format is
// described at the beginning of SQLite's fts5_index.c. The package reads version 4 of it; the version
// of a file is in chunks_fts_config. Reading the lists is faster than SQLite's bm25, which reads a row
// of another table for each chunk that holds a word. If the data has another form or is damaged,
// SQLite searches.
//
//	page     first row u16 │ size u16 │ content │ where its terms begin
//	content  term  row  places  row  places ... term ...
//
// The first row of a term and of a page is written in full, and each later row as the distance to the
// previous row. The size of the places is in bytes. Places may continue on the next page.
package fts5

import (
	"context"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// BM25 holds the numbers of FTS5's bm25. K1 and B are its constants. Least is the weight of a word that
// more than half of the chunks hold. Weights are the weights of the columns body, trail, file and
// names. A word in a heading, in the names of the file, or in its folder and keywords counts more
// than a word in the text.
var BM25 = struct {
	K1, B, Least float64
	Weights      [4]float64
}{k1, b, least, [...]float64{1, 3, 1.5, 3}}

const (
	k1    = 1.2
	b     = 0.75
	least = 1e-6
)

// create holds the statements that make the table. The table gets words that are already analysed, so
// its tokenizer only splits at spaces. It stores no text.
//
// hashsize lets the words of a transaction fill 4 MB of memory before they are written as a segment.
// The default of 1 MB makes four times as many segments to merge. With more than 4 MB, the table in
// memory outgrows the processor's caches, which costs more than the merges it saves (both measured).
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
	// Insert takes a row number and the words of the columns. Delete takes a row number.
	Insert = "INSERT INTO chunks_fts(rowid, body, trail, file, names) VALUES(?, ?, ?, ?, ?)"
	Delete = "DELETE FROM chunks_fts WHERE rowid=?"
	// MergeAt sets how many segments of a level are merged into one. MergedAt reads this number and
	// takes a default for it.
	MergeAt  = "INSERT INTO chunks_fts(chunks_fts, rank) VALUES('automerge', ?)"
	MergedAt = "SELECT CAST(ifnull((SELECT v FROM chunks_fts_config WHERE k='automerge'), ?) AS INTEGER)"
	// Rows returns the numbers of all rows.
	Rows = "SELECT id FROM chunks_fts_docsize"
	// Vocabulary makes the table temp.vocab, which has a row for each place of each word.
	Vocabulary = "CREATE VIRTUAL TABLE temp.vocab USING fts5vocab('main', 'chunks_fts', 'instance')"
)

// mergePages is the number of pages that one call of Merge writes, about 8 MB.
const mergePages = 2000

// Merge merges segments of a level that has many of them, up to mergePages pages, in the transaction of
// tx. more is false if nothing was left to merge.
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
