package index

import (
	"cmp"
	"context"
	"database/sql"
	"math"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
)

// halfScore is the −bm25 of a hit whose score is one half.
const halfScore = 10.0

// MaxTerms bounds the words of one keyword search, because each word takes time. A longer
// question, such as a pasted log, is reduced to its rarest words.
const (
	MaxTerms  = 32
	MaxLookup = 512 // words of a long question whose rarity is looked up
)

// grain is the unit to which scores are rounded. The last bits of a score depend on the
// implementation of the logarithm and must not decide the order of hits.
const grain = 1e-9

// Ties is the number of hits fetched in addition to the requested ones. With them, the place of
// hits and not their row decides between equal scores at the limit.
const Ties = 16

// terms analyses a question for this index and returns its words. A question without a letter, digit
// or emoji has no words.
func terms(ix *Index, v *view, question string) []string {
	a := ix.analyzers.Lend()
	defer ix.analyzers.Give(a)
	return a.Query(question, v.langs)
}

// reader makes all reads of one search, in one transaction.
type reader struct {
	*handles
	tx readTx
	v  *view
	// structure is FTS5's record of its segments. It changes with every write to the word lists.
	structure []byte
}

// readTx is a transaction that uses the prepared queries.
type readTx struct {
	*sql.Tx
	prepared map[string]*sql.Stmt
}

func (t readTx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if s := t.prepared[query]; s != nil {
		return t.StmtContext(ctx, s).QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, query, args...)
}

// reader returns a new reader. The caller must end its transaction.
func (h *handles) reader(ctx context.Context) (*reader, error) {
	begun, err := h.read.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	tx := readTx{begun, h.prepared}
	v, structure, err := h.lookBy(ctx, tx, tx.StmtContext(ctx, h.prepared[lookQuery]))
	if err != nil {
		tx.Rollback()
		return nil, err
	}
	return &reader{h, tx, v, structure}, nil
}

// keyword finds the k chunks that match the words best. Every chunk that holds any of the words is a
// candidate, and BM25 orders the candidates. A hit's Raw is −bm25 (k1 1.2, b 0.75, as in FTS5). Its
// Score is Raw/(Raw+10).
func (r *reader) keyword(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	if k <= 0 || len(terms) == 0 {
		return nil, nil
	}
	terms, err := r.reduce(ctx, terms)
	if err != nil {
		return nil, err
	}
	selective, err := r.selective(ctx, terms)
	if err != nil {
		return nil, err
	}
	hits, err := r.match(ctx, selective, k, want)
	if err == nil && len(hits) < k && len(selective) < len(terms) {
		hits, err = r.match(ctx, terms, k, want)
	}
	return hits, err
}

// reduce returns the rarest words of a long question, in the order of the question.
func (r *reader) reduce(ctx context.Context, terms []string) ([]string, error) {
	if len(terms) <= MaxTerms {
		return terms, nil
	}
	terms = terms[:min(len(terms), MaxLookup)]
	held, err := r.holders(ctx, terms)
	if err != nil {
		return nil, err
	}
	var at []int
	for i, n := range held {
		if n > 0 {
			at = append(at, i)
		}
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(held[a], held[b]) })
	at = at[:min(len(at), MaxTerms)]
	slices.Sort(at)
	out := make([]string, len(at))
	for i, j := range at {
		out[i] = terms[j]
	}
	return out, nil
}

// selective leaves out the words that more than half of the chunks hold, unless the question has
// no other words. BM25 gives such common words a weight of zero (FTS5: one millionth), while
// reading their chunks would be most of the work.
func (r *reader) selective(ctx context.Context, terms []string) ([]string, error) {
	if r.v.total < leastCommon {
		return terms, nil
	}
	held, err := r.holders(ctx, terms)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, t := range terms {
		if 2*held[i] <= r.v.total {
			out = append(out, t)
		}
	}
	if len(out) == 0 {
		return terms, nil
	}
	return out, nil
}

// leastCommon is the number of chunks below which all words are searched.
const leastCommon = 200

// match runs one search. If want refuses rows, match fetches more rows until it has enough wanted
// rows or no rows are left. It reads the text only of wanted rows.
func (r *reader) match(ctx context.Context, terms []string, k int, want func(string) bool) ([]Hit, error) {
	search := r.words.Search(ctx, r.tx, r.structure, terms)
	for limit := min(k, math.MaxInt32) + Ties; ; limit *= 16 {
		top, err := search.Best(ctx, limit)
		if err != nil {
			return nil, err
		}
		found := len(top)
		if top, err = r.wanted(ctx, top, want); err != nil {
			return nil, err
		}
		if found < limit || len(top) >= k {
			hits, err := r.readBest(ctx, top, k)
			return keywordScores(rank(hits, k)), err
		}
	}
}

// completeHits bounds the hits that complete adds of each kind.
const completeHits = 16

// complete adds the chunks that hold every word of the question to the hits, and the first chunks
// of files whose names hold every word, if they are not among the hits. words are the terms of
// each word.
func (r *reader) complete(ctx context.Context, words [][]string, q *Query, hits []Hit) ([]Hit, error) {
	if len(words) == 0 || len(words) > MaxTerms {
		return hits, nil
	}
	search := r.words.Search(ctx, r.tx, r.structure, slices.Concat(words...))
	all, named, err := search.Complete(ctx, words, 4*completeHits)
	if err != nil || len(all) == 0 {
		return hits, err
	}
	if named, err = r.firsts(ctx, named); err != nil {
		return nil, err
	}
	for _, rows := range [][]fts5.Row{named, all} {
		rows = slices.DeleteFunc(rows, func(row fts5.Row) bool {
			return slices.ContainsFunc(hits, func(h Hit) bool { return h.row == row.Row })
		})
		if rows, err = r.wanted(ctx, rows, q.Want); err != nil {
			return nil, err
		}
		more, err := r.rowHits(ctx, rows[:min(len(rows), completeHits)])
		if err != nil {
			return nil, err
		}
		hits = append(hits, more...)
	}
	return keywordScores(rank(hits, len(hits))), nil
}

// firsts replaces rows by the first chunks of their files, each with the score of the best row.
func (r *reader) firsts(ctx context.Context, rows []fts5.Row) ([]fts5.Row, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	score, ids := map[int64]float64{}, make([]int64, len(rows))
	for i, row := range rows {
		ids[i], score[row.Row] = row.Row, row.Score
	}
	best := map[int64]float64{}
	var row, first int64
	err := drv.Each(ctx, r.tx, []any{&row, &first}, func() error {
		best[first] = max(best[first], score[row])
		return nil
	}, firstsQuery, drv.JSONList(ids))
	out := make([]fts5.Row, 0, len(best))
	for row, s := range best {
		out = append(out, fts5.Row{Row: row, Score: rounded(s)})
	}
	slices.SortFunc(out, fts5.Row.Compare)
	return out, err
}

const firstsQuery = `SELECT c.row, f.row FROM chunks AS c JOIN chunks AS f ON f.file=c.file AND f.seq=0
WHERE c.row IN (SELECT value FROM json_each(?))`

// keywordScores sets the scores of hits from their −bm25.
func keywordScores(hits []Hit) []Hit {
	for i := range hits {
		hits[i].Score = hits[i].Raw / (hits[i].Raw + halfScore)
	}
	return hits
}

func rounded(score float64) float64 { return math.Round(score/grain) * grain }

// readBest reads the k best of rows, and the rows whose score equals the last of these. rows must
// be sorted, best first.
func (r *reader) readBest(ctx context.Context, top []fts5.Row, k int) ([]Hit, error) {
	for i := range top {
		top[i].Score = rounded(top[i].Score)
	}
	n := min(k, len(top))
	for n < len(top) && top[n].Score >= top[n-1].Score {
		n++
	}
	return r.rowHits(ctx, top[:n])
}

// rowHits returns the hits of rows. It takes the cached hits from memory and reads the other hits
// from the file.
func (r *reader) rowHits(ctx context.Context, top []fts5.Row) ([]Hit, error) {
	out := make([]Hit, 0, len(top))
	score := make(map[int64]float64, len(top))
	var missing []int64
	for _, t := range top {
		score[t.Row] = t.Score
		if h, ok := r.v.hits.Get(t.Row); ok {
			out = append(out, *h)
		} else {
			missing = append(missing, t.Row)
		}
	}
	if len(missing) > 0 {
		more, err := readHits(ctx, r.tx, rowsQuery, drv.JSONList(missing))
		if err != nil {
			return nil, err
		}
		for _, h := range more {
			r.v.hits.Put(h.row, &h, h.cost(), keptHits/2)
		}
		out = append(out, more...)
	}
	for i := range out {
		out[i].Raw = score[out[i].row]
	}
	return out, nil
}

const rowsQuery = `SELECT ` + hitColumns + ` FROM chunks AS c JOIN files AS f ON f.id=c.file
WHERE c.row IN (SELECT value FROM json_each(?))`

// hitColumns are the columns of a hit, from chunks AS c and files AS f.
const hitColumns = `c.row, c.file, c.seq, c.seq=0 AND NOT EXISTS(SELECT 1 FROM chunks AS o WHERE o.file=c.file AND o.seq>0),
	c.id, c.hash, c.start_line, c.end_line, c.tokens, c.date, c.trail, c.keywords, c.body, f.path, f.mtime`

// readHits runs a query for hitColumns.
func readHits(ctx context.Context, db drv.Conn, query string, args ...any) (out []Hit, err error) {
	var row Hit
	var keywords, trail string
	var mtime int64
	err = drv.Each(ctx, db, []any{&row.row, &row.file, &row.Seq, &row.Whole, &row.ID, &row.Hash, &row.StartLine, &row.EndLine, &row.Tokens,
		&row.Date, &trail, &keywords, &row.Text, &row.Path, &mtime}, func() error {
		h := row
		h.Trail, h.ModTime = SplitLines(trail), time.Unix(0, mtime)
		h.SetKeywords(keywords)
		out = append(out, h)
		return nil
	}, query, args...)
	return out, err
}

// rank sorts hits, best first, and numbers the first k. Hits with equal scores are sorted by
// their place, so that the order does not depend on the index's history.
func rank(hits []Hit, k int) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Raw, a.Raw), cmp.Compare(a.Path, b.Path), cmp.Compare(a.Seq, b.Seq))
	})
	hits = hits[:min(k, len(hits))]
	for i := range hits {
		hits[i].Rank = i + 1
	}
	return hits
}

// keptHits bounds the chunks that are kept in memory, in bytes. The chunks found last are kept,
// because the questions of a session are often about the same subject.
const keptHits = 4 << 20 // 4 MiB

// cost returns the bytes of memory that a kept chunk takes.
func (h *Hit) cost() int {
	const entry = 400 // rough size of the struct and its place in the map
	return len(h.Text) + len(h.Path) + len(h.ID) + entry
}
