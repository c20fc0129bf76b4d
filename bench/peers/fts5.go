package main

import (
	"context"
	"database/sql"
	"strings"
	"unicode"

	_ "modernc.org/sqlite"
)

// fts5 is a bare table in memory.
type fts5 struct{}

func (fts5) name() string { return "fts5 (modernc)" }

func (fts5) open(ctx context.Context, dir string) (searcher, error) {
	files, err := lines(dir)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, `CREATE VIRTUAL TABLE f USING fts5(body, path UNINDEXED, line UNINDEXED, tokenize='porter unicode61')`); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	for _, path := range sortedKeys(files) {
		for i, l := range files[path] {
			if _, err := tx.ExecContext(ctx, "INSERT INTO f VALUES(?, ?, ?)", l, path, i+1); err != nil {
				return nil, err
			}
		}
	}
	return table5{db}, tx.Commit()
}

type table5 struct{ db *sql.DB }

func (t table5) ask(ctx context.Context, question string) ([]hit, error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := t.db.QueryContext(ctx, "SELECT path, line FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", `"`+strings.Join(words, `" OR "`)+`"`, asked)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []hit
	for rows.Next() {
		var h hit
		if err := rows.Scan(&h.path, &h.from); err != nil {
			return nil, err
		}
		h.to = h.from
		out = append(out, h)
	}
	return out, rows.Err()
}

func (t table5) close() error { return t.db.Close() }
