package index

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Weights of the columns of chunks_fts: a word in a heading says more about a
// chunk than one in its text, and so does one in the file's name or keywords,
// though all chunks of the file share it.
const (
	weightBody  = 1.0
	weightTrail = 3.0
	weightFile  = 1.5
)

// halfScore is the −bm25 that becomes a score of one half.
const halfScore = 10.0

// maxTerms bounds the words of one keyword search, whose time grows with each.
// A longer question (a pasted log) is reduced to its rarest words.
const (
	maxTerms  = 32
	maxLookup = 512 // words whose rarity is looked up for that
)

// grain is what scores are rounded to: their last bits depend on whose logarithm
// made them, and must not decide an order.
const grain = 1e-9

// ties is how many hits are fetched beyond those asked for, so that among equal
// scores at the edge their place decides and not their row.
const ties = 16

// Terms analyses a question for this index: its words as Keyword takes them.
// A question without a letter, digit or emoji has none.
func (ix *Index) Terms(ctx context.Context, question string) ([]string, error) {
	h, done, err := ix.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil {
		return nil, explain("search", ix.path, err)
	}
	return ix.terms(v, question)
}

func (ix *Index) terms(v *view, question string) ([]string, error) {
	a, err := ix.analyzer()
	if err != nil {
		return nil, explain("search", ix.path, err)
	}
	defer ix.give(a)
	return a.Query(question, v.langs), nil
}

// Keyword finds the k chunks that match the words best: every chunk with any of
// them is a candidate, and BM25 orders them. Words are taken as they are, as
// Terms returns them. want, if not nil, says which files may be among the hits.
// A hit's Raw is −bm25 (k1 1.2, b 0.75, as FTS5 has them), its Score
// Raw/(Raw+10).
func (ix *Index) Keyword(ctx context.Context, terms []string, k int, want func(path string) bool) ([]Hit, error) {
	h, done, err := ix.use(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	r, err := h.reader(ctx)
	if err == nil {
		defer r.tx.Rollback()
		var out []Hit
		if out, err = r.keyword(ctx, terms, k, want); err == nil {
			return out, nil
		}
	}
	return nil, explain("search", ix.path, err)
}

// reader reads for one search, all in one transaction.
type reader struct {
	*handles
	tx *sql.Tx
	v  *view
	// structure is the structure record of the word lists.
	structure []byte
}

// reader begins one. The caller ends its transaction.
func (h *handles) reader(ctx context.Context) (*reader, error) {
	tx, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	v, structure, err := h.lookBy(ctx, tx)
	if err != nil {
		tx.Rollback()
		return nil, err
	}
	return &reader{h, tx, v, structure}, nil
}

func (r *reader) keyword(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	if k <= 0 || len(terms) == 0 {
		return nil, nil
	}
	terms, err := r.reduce(ctx, terms)
	if err != nil {
		return nil, err
	}
	telling, err := r.telling(ctx, terms)
	if err != nil {
		return nil, err
	}
	hits, err := r.match(ctx, telling, k, want)
	if err == nil && len(hits) < k && len(telling) < len(terms) {
		hits, err = r.match(ctx, terms, k, want)
	}
	return hits, err
}

// reduce picks the rarest words of a long question, in their order.
func (r *reader) reduce(ctx context.Context, terms []string) ([]string, error) {
	if len(terms) <= maxTerms {
		return terms, nil
	}
	terms = terms[:min(len(terms), maxLookup)]
	count := make(map[string]int64, len(terms))
	var present []string
	for _, t := range terms {
		n, err := r.chunksWith(ctx, t)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			count[t] = n
			present = append(present, t)
		}
	}
	if len(present) <= maxTerms {
		return present, nil
	}
	rarest := slices.Clone(present)
	slices.SortStableFunc(rarest, func(a, b string) int { return int(count[a] - count[b]) })
	limit := rarest[:maxTerms]
	return slices.DeleteFunc(present, func(t string) bool { return !slices.Contains(limit, t) }), nil
}

// telling leaves out the words that more than half of the chunks hold, unless
// no others are there. BM25 gives those a weight of zero (FTS5: one millionth),
// while reading their chunks would be most of the work.
func (r *reader) telling(ctx context.Context, terms []string) ([]string, error) {
	var out []string
	for _, t := range terms {
		if r.v.isCommon(t) {
			n, err := r.chunksWith(ctx, t)
			if err != nil {
				return nil, err
			}
			if 2*n > r.v.total {
				continue
			}
		}
		out = append(out, t)
	}
	if len(out) == 0 {
		return terms, nil
	}
	return out, nil
}

// match runs one search: by the word lists if they can be read, which takes a
// fraction of the time that SQLite takes and gives the same scores.
func (r *reader) match(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	hits, err := r.fromLists(ctx, terms, k, want)
	if errors.Is(err, errStrange) {
		hits, err = r.fromSQLite(ctx, terms, k, want)
	}
	if err != nil {
		return nil, err
	}
	hits = rank(hits, k)
	for i := range hits {
		hits[i].Score = hits[i].Raw / (hits[i].Raw + halfScore)
	}
	return hits, nil
}

// fromSQLite asks for the best chunks; where want refuses hits, for more until there
// are enough or no more are left.
func (r *reader) fromSQLite(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	for limit := min(k, math.MaxInt32) + ties; ; limit *= 4 {
		hits, err := readHits(ctx, r.tx, matchQuery, weightBody, weightTrail, weightFile, matchExpr(terms), limit)
		if err != nil {
			return nil, err
		}
		for i := range hits {
			hits[i].Raw = rounded(hits[i].Raw)
		}
		found := len(hits)
		if hits = keep(hits, want); found < limit || len(hits) >= k {
			return hits, nil
		}
	}
}

func rounded(score float64) float64 { return math.Round(score/grain) * grain }

// fromLists is the same by the word lists.
func (r *reader) fromLists(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	if !allPlain(terms) {
		return nil, errStrange
	}
	lists, err := r.words.get(ctx, r.tx, r.structure)
	if err != nil {
		return nil, err
	}
	for limit := min(k, math.MaxInt32) + ties; ; limit *= 4 {
		top, err := lists.top(ctx, r.tx, terms, limit, func(t string, chunks int) { r.remember(r.v, t, int64(chunks)) })
		if err != nil {
			return nil, err
		}
		hits, err := readBest(ctx, r.tx, top, k, want)
		if err != nil || len(top) < limit || len(hits) >= k {
			return hits, err
		}
	}
}

// readBest reads of rows, which come best first, as many as it takes for k wanted
// hits, and those that are as good as the last.
func readBest(ctx context.Context, db execer, top []scoredRow, k int, want func(string) bool) ([]Hit, error) {
	for i := range top {
		top[i].score = rounded(top[i].score)
	}
	var out []Hit
	for len(top) > 0 && len(out) < k {
		n := min(k-len(out), len(top))
		for n < len(top) && top[n].score >= top[n-1].score {
			n++
		}
		hits, err := rowHits(ctx, db, top[:n])
		if err != nil {
			return nil, err
		}
		out, top = append(out, keep(hits, want)...), top[n:]
	}
	return out, nil
}

// rowHits reads the hits of rows.
func rowHits(ctx context.Context, db execer, top []scoredRow) ([]Hit, error) {
	score := make(map[int64]float64, len(top))
	rows := make([]int64, len(top))
	for i, r := range top {
		rows[i], score[r.row] = r.row, r.score
	}
	hits, err := readHits(ctx, db, rowsQuery, jsonList(rows))
	for i := range hits {
		hits[i].Raw = score[hits[i].row]
	}
	return hits, err
}

const rowsQuery = `SELECT ` + hitColumns + `, 0.0 FROM chunks AS c JOIN files AS f ON f.id=c.file
WHERE c.row IN (SELECT value FROM json_each(?))`

// jsonList is a list of numbers as SQLite's json_each reads it.
func jsonList(numbers []int64) string {
	b := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

// matchQuery sorts by the expression and not by the hidden column rank, which
// would sort every match before the limit applies.
const matchQuery = `
WITH m AS MATERIALIZED (
	SELECT rowid AS row, bm25(chunks_fts, ?, ?, ?) AS score
	FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score LIMIT ?)
SELECT ` + hitColumns + `, max(0.0, -m.score)
FROM m JOIN chunks AS c ON c.row=m.row JOIN files AS f ON f.id=c.file`

// quoted makes a word fit to stand between quotes. A zero byte would end the
// whole expression.
var quoted = strings.NewReplacer(`"`, `""`, "\x00", " ")

// matchExpr is a full-text expression that any of the words satisfies. Every
// word is a quoted string, so nothing in it is an operator.
func matchExpr(terms []string) string {
	var b strings.Builder
	for i, t := range terms {
		if i > 0 {
			b.WriteString(" OR ")
		}
		b.WriteByte('"')
		quoted.WriteString(&b, t)
		b.WriteByte('"')
	}
	return b.String()
}
