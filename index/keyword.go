package index

import (
	"context"
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
	v, err := h.look(ctx)
	if err == nil {
		var out []Hit
		if out, err = h.keyword(ctx, v, terms, k, want); err == nil {
			return out, nil
		}
	}
	return nil, explain("search", ix.path, err)
}

func (h *handles) keyword(ctx context.Context, v *view, terms []string, k int, want func(string) bool) ([]Hit, error) {
	if k <= 0 || len(terms) == 0 {
		return nil, nil
	}
	terms, err := h.reduce(ctx, v, terms)
	if err != nil {
		return nil, err
	}
	telling, err := h.telling(ctx, v, terms)
	if err != nil {
		return nil, err
	}
	hits, err := h.match(ctx, v, telling, k, want)
	if err == nil && len(hits) < k && len(telling) < len(terms) {
		hits, err = h.match(ctx, v, terms, k, want)
	}
	return hits, err
}

// reduce picks the rarest words of a long question, in their order.
func (h *handles) reduce(ctx context.Context, v *view, terms []string) ([]string, error) {
	if len(terms) <= maxTerms {
		return terms, nil
	}
	terms = terms[:min(len(terms), maxLookup)]
	count := make(map[string]int64, len(terms))
	var present []string
	for _, t := range terms {
		n, err := h.chunksWith(ctx, v, t)
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
func (h *handles) telling(ctx context.Context, v *view, terms []string) ([]string, error) {
	var out []string
	for _, t := range terms {
		if v.isCommon(t) {
			n, err := h.chunksWith(ctx, v, t)
			if err != nil {
				return nil, err
			}
			if 2*n > v.total {
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

// match runs one search. Where want refuses hits, it fetches more until there
// are enough or no more are left.
func (h *handles) match(ctx context.Context, v *view, terms []string, k int, want func(string) bool) ([]Hit, error) {
	for limit := min(k, math.MaxInt32) + ties; ; limit *= 4 {
		hits, err := h.best(ctx, v, terms, limit)
		if err != nil {
			return nil, err
		}
		for i := range hits {
			hits[i].Raw = math.Round(hits[i].Raw/grain) * grain
		}
		found := len(hits)
		hits = keep(hits, want)
		if found < limit || len(hits) >= k {
			hits = rank(hits, k)
			for i := range hits {
				hits[i].Score = hits[i].Raw / (hits[i].Raw + halfScore)
			}
			return hits, nil
		}
	}
}

// best finds the n best chunks for the words, from the word lists if they can
// be read, which takes a fraction of the time that SQLite takes and gives the
// same scores.
func (h *handles) best(ctx context.Context, v *view, terms []string, n int) ([]Hit, error) {
	hits, err := h.fromLists(ctx, v, terms, n)
	if errors.Is(err, errStrange) {
		return readHits(ctx, h.read, matchQuery, weightBody, weightTrail, weightFile, matchExpr(terms), n)
	}
	return hits, err
}

// fromLists is best by the word lists. All is read in one transaction.
func (h *handles) fromLists(ctx context.Context, v *view, terms []string, n int) ([]Hit, error) {
	if !allPlain(terms) {
		return nil, errStrange
	}
	tx, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	lists, err := h.words.get(ctx, tx)
	if err != nil {
		return nil, err
	}
	top, err := lists.top(ctx, tx, terms, n, func(t string, chunks int) { h.remember(v, t, int64(chunks)) })
	if err != nil {
		return nil, err
	}
	score := make(map[int64]float64, len(top))
	rows := make([]int64, len(top))
	for i, r := range top {
		rows[i], score[r.row] = r.row, r.score
	}
	hits, err := readHits(ctx, tx, rowsQuery, jsonList(rows))
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
