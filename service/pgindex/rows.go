package pgindex

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// chunkRows collects chunks and their words by column, in the form in which one statement inserts
// them.
type chunkRows struct {
	file                         []int64
	scope                        []int32
	seq, start, end, tokens, len []int32
	id, lang, date               []string
	hash, trail, keywords, body  [][]byte

	// of holds, for each posting, the number of its chunk here.
	of   []int32
	tf   []float32
	term []string
}

// add adds a chunk.
func (c *chunkRows) add(file int64, scope int32, seq int, r *index.ReadyChunk) {
	n := len(c.file)
	c.file, c.scope = append(c.file, file), append(c.scope, scope)
	c.seq, c.start, c.end, c.tokens = append(c.seq, int32(seq)), append(c.start, int32(r.StartLine)), append(c.end, int32(r.EndLine)), append(c.tokens, int32(r.Tokens))
	c.id, c.lang, c.date = append(c.id, r.ID), append(c.lang, r.Words.Lang), append(c.date, r.Date)
	c.hash, c.trail = append(c.hash, r.Hash[:]), append(c.trail, []byte(r.TrailText))
	c.keywords, c.body = append(c.keywords, []byte(r.Keywords)), append(c.body, []byte(r.Text))
	order, tf, words := frequencies(r.Words)
	c.len = append(c.len, int32(words))
	for _, t := range order {
		c.of, c.term = append(c.of, int32(n)), append(c.term, t)
		c.tf = append(c.tf, float32(tf[t]))
	}
}

// frequencies counts each word of a chunk, weighted by the word's places. words is the number of
// words in the chunk.
func frequencies(w *index.Words) (order []string, tf map[string]float64, words int) {
	tf = map[string]float64{}
	for _, field := range []struct {
		text   string
		weight float64
	}{{w.Body, index.WeightBody}, {w.Trail, index.WeightTrail}, {w.File, index.WeightFile}} {
		for t := range strings.FieldsSeq(field.text) {
			if _, ok := tf[t]; !ok {
				order = append(order, t)
			}
			tf[t] += field.weight
			words++
		}
	}
	return order, tf, words
}

// postingsStep bounds the rows of one statement.
const postingsStep = 20000

// insert writes all rows.
func (c *chunkRows) insert(ctx context.Context, tx pgx.Tx) error {
	if len(c.file) == 0 {
		return nil
	}
	// The chunks' row numbers are assigned first, so that the postings can name their chunk.
	var rows []int64
	err := tx.QueryRow(ctx, `SELECT ARRAY(SELECT nextval('chunk_row') FROM generate_series(1, $1::integer))`, len(c.file)).Scan(&rows)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO chunks(row, file, scope, seq, id, hash, start_line, end_line, tokens, words, lang, date, trail, keywords, body)
		SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::integer[], $5::text[], $6::bytea[], $7::integer[], $8::integer[],
			$9::integer[], $10::integer[], $11::text[], $12::text[], $13::bytea[], $14::bytea[], $15::bytea[])`,
		rows, c.file, c.scope, c.seq, c.id, c.hash, c.start, c.end, c.tokens, c.len, c.lang, c.date, c.trail, c.keywords, c.body)
	if err != nil {
		return err
	}
	return c.insertWords(ctx, tx, rows)
}

// insertWords writes the postings, in steps.
func (c *chunkRows) insertWords(ctx context.Context, tx pgx.Tx, rows []int64) error {
	for first := 0; first < len(c.of); first += postingsStep {
		end := min(first+postingsStep, len(c.of))
		n := end - first
		chunk, scope, words := make([]int64, n), make([]int32, n), make([]int32, n)
		for i, of := range c.of[first:end] {
			chunk[i], scope[i], words[i] = rows[of], c.scope[of], c.len[of]
		}
		_, err := tx.Exec(ctx, `INSERT INTO postings(chunk, scope, tf, words, term)
			SELECT * FROM unnest($1::bigint[], $2::integer[], $3::real[], $4::integer[], $5::text[])`, chunk, scope, c.tf[first:end], words, c.term[first:end])
		if err != nil {
			return err
		}
	}
	return nil
}
