package main

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	_ "modernc.org/sqlite"

	"github.com/memkernel/memkernel/kernel"
	"github.com/memkernel/memkernel/kernel/api"
)

// now is the time of the questions to memkernel. A later day would age all notes alike.
var now = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

type kernelSearch struct {
	*kernel.Kernel
	state string
}

func openKernel(ctx context.Context, dir string, _ map[string][]string) (searcher, error) {
	state, err := os.MkdirTemp("", "memkernel-peers-")
	if err != nil {
		return nil, err
	}
	k, err := kernel.Open(ctx, dir, &kernel.Options{StateDir: state})
	if err != nil {
		return nil, err
	}
	_, err = k.Reindex(ctx, nil)
	return kernelSearch{k, state}, err
}

func (k kernelSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := k.Search(ctx, api.SearchRequest{Query: question, Private: true, MaxResults: asked, Lines: true, Now: now}) // lines, because a peer has no places
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, h := range r.Hits {
		out = append(out, hit{h.Path, h.StartLine, h.EndLine})
	}
	return out, r.Err
}

func (k kernelSearch) Close() error { return errors.Join(k.Kernel.Close(), os.RemoveAll(k.state)) }

type table5 struct{ *sql.DB }

func openFTS5(ctx context.Context, _ string, files map[string][]string) (searcher, error) {
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
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for i, l := range files[path] {
			if _, err := tx.ExecContext(ctx, "INSERT INTO f VALUES(?, ?, ?)", l, path, i+1); err != nil {
				return nil, err
			}
		}
	}
	return table5{db}, tx.Commit()
}

func (t table5) ask(ctx context.Context, question string) ([]hit, error) {
	words := strings.FieldsFunc(question, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := t.QueryContext(ctx, "SELECT path, line FROM f WHERE f MATCH ? ORDER BY bm25(f) LIMIT ?", `"`+strings.Join(words, `" OR "`)+`"`, asked)
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

type bleveSearch struct{ bleve.Index }

func openBleve(_ context.Context, _ string, files map[string][]string) (searcher, error) {
	m := bleve.NewIndexMapping()
	m.ScoringModel = "bm25"
	ix, err := bleve.NewMemOnly(m)
	if err != nil {
		return nil, err
	}
	b := ix.NewBatch()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for i, l := range files[path] {
			if err := b.Index(path+"#"+strconv.Itoa(i+1), map[string]string{"body": l}); err != nil {
				return nil, err
			}
		}
		if b.Size() > 2000 {
			if err := ix.Batch(b); err != nil {
				return nil, err
			}
			b.Reset()
		}
	}
	return bleveSearch{ix}, ix.Batch(b)
}

func (s bleveSearch) ask(ctx context.Context, question string) ([]hit, error) {
	r, err := s.SearchInContext(ctx, bleve.NewSearchRequestOptions(bleve.NewMatchQuery(question), asked, 0, false))
	if err != nil {
		return nil, err
	}
	var out []hit
	for _, d := range r.Hits {
		path, line, _ := strings.Cut(d.ID, "#")
		n, _ := strconv.Atoi(line) // the engine wrote line as a number
		out = append(out, hit{path, n, n})
	}
	return out, nil
}
