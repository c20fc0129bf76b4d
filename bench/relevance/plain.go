package relevance

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/memkernel/memkernel/retrieval"
)

// plain is the baseline of a search: a bare FTS5 table of the same lines, porter and unicode61,
// any word of the question, ORDER BY bm25. Chinese, Japanese and Korean are cut into pairs of
// characters, because unicode61 would take a whole sentence for a word.
type plain struct{ db *sql.DB }

// newPlain makes the table in memory, with the SQLite driver that the index uses.
func newPlain(ctx context.Context, files map[string][]string) (p plain, err error) {
	driver := "sqlite"
	if !slices.Contains(sql.Drivers(), driver) {
		driver = "sqlite3"
	}
	if p.db, err = sql.Open(driver, ":memory:"); err != nil {
		return p, err
	}
	defer func() {
		if err != nil {
			p.db.Close()
		}
	}()
	p.db.SetMaxOpenConns(1)
	if _, err := p.db.ExecContext(ctx, `CREATE VIRTUAL TABLE f USING fts5(body, path UNINDEXED, line UNINDEXED, text UNINDEXED, tokenize='porter unicode61')`); err != nil {
		return p, err
	}
	tx, err := p.db.BeginTx(ctx, nil)
	if err != nil {
		return p, err
	}
	defer tx.Rollback()
	insert, err := tx.PrepareContext(ctx, "INSERT INTO f VALUES(?, ?, ?, ?)")
	if err != nil {
		return p, err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for i, l := range files[path] {
			if _, err := insert.ExecContext(ctx, strings.Join(plainWords(l), " "), path, i+1, l); err != nil {
				return p, err
			}
		}
	}
	return p, errors.Join(insert.Close(), tx.Commit())
}

// find returns the best lines for a question.
func (p plain) find(ctx context.Context, question string, limit int) (out []retrieval.Hit, err error) {
	words := plainWords(question)
	if len(words) == 0 {
		return nil, nil
	}
	rows, err := p.db.QueryContext(ctx, "SELECT path, line, text FROM f WHERE f MATCH ? ORDER BY bm25(f), rowid LIMIT ?", `"`+strings.Join(words, `" OR "`)+`"`, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		h := retrieval.Hit{Kind: retrieval.Memory}
		if err := rows.Scan(&h.Path, &h.StartLine, &h.Text); err != nil {
			return nil, err
		}
		h.EndLine = h.StartLine
		out = append(out, h)
	}
	return out, rows.Err()
}

// plainWords cuts a text into runs of letters and digits. It cuts runs of Chinese, Japanese and
// Korean into pairs of characters.
func plainWords(text string) []string {
	var out []string
	for _, s := range wordSpans(text) {
		out = append(out, text[s.from:s.to])
		// A span has each character once, but a search uses every pair of neighbouring
		// characters.
		if s.pairs {
			run := []rune(text[s.from:s.to])
			out = out[:len(out)-1]
			if len(run) == 1 {
				out = append(out, string(run))
			}
			for i := 0; i+1 < len(run); i++ {
				out = append(out, string(run[i:i+2]))
			}
		}
	}
	return out
}

// wordSpan is the byte range of a run of letters and digits in a text. If pairs is set, the run's
// script has no spaces, so each pair of characters counts as a word.
type wordSpan struct {
	from, to int
	pairs    bool
}

func wordSpans(text string) []wordSpan {
	var out []wordSpan
	inside := false
	for i, r := range text {
		word, pairs := unicode.In(r, unicode.L, unicode.M, unicode.N), paired(r)
		switch {
		case !word:
		case inside && out[len(out)-1].pairs == pairs:
			out[len(out)-1].to = i + len(string(r))
		default:
			out = append(out, wordSpan{i, i + len(string(r)), pairs})
		}
		inside = word
	}
	return out
}

func paired(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
