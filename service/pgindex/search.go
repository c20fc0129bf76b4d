package pgindex

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// Search searches by words and by vectors, as [index.Index.Search] does.
func (ix *Index) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	var out index.Hits
	v, err := ix.site.look(ctx)
	if err != nil {
		return out, ix.site.explain("search", err)
	}
	out.Outdated, out.Chunks = outdated(ix.site, v), v.total
	if q.KMany > 0 && v.total > 2*int64(q.K) {
		q.K = q.KMany
	}
	vectors := make(chan struct{})
	go func() {
		defer close(vectors)
		if q.Vector != nil {
			out.Vector, out.VectorErr = nearestHits(ctx, ix.site, v, q)
		}
	}()
	if out.Terms, err = questionTerms(ix.site, v, q.Text); err == nil {
		out.Keyword, err = keywordHits(ctx, ix.site, v, q.Words(out.Terms), q)
	}
	if err == nil && q.Holders && len(out.Keyword) > 0 {
		out.Holders, err = holdersOf(ctx, ix.site, v, out.Terms[:min(len(out.Terms), index.MaxLookup)])
	}
	<-vectors
	out.KeywordErr, out.VectorErr = ix.site.explain("search", err), ix.site.explain("search vectors", out.VectorErr)
	if out.KeywordErr != nil && (q.Vector == nil || out.VectorErr != nil) {
		return out, out.KeywordErr
	}
	return out, nil
}

func questionTerms(st *site, v *view, question string) ([]string, error) {
	a, err := st.analyzers.Lend()
	if err != nil {
		return nil, err
	}
	defer st.analyzers.Give(a)
	return a.Query(question, v.langs), nil
}

// holdersOf counts, for each word, the chunks that hold it.
func holdersOf(ctx context.Context, st *site, v *view, terms []string) ([]int64, error) {
	st.mu.Lock()
	var ask []string
	for _, t := range terms {
		if _, ok := v.holders[t]; !ok {
			ask = append(ask, t)
		}
	}
	st.mu.Unlock()
	found := map[string]int64{}
	if len(ask) > 0 {
		err := st.read(ctx, func() (err error) { found, err = countHolders(ctx, st, v, ask); return err })
		if err != nil {
			return nil, err
		}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(v.holders) > maxHolders {
		clear(v.holders)
	}
	for _, t := range ask {
		v.holders[t] = found[t]
	}
	out := make([]int64, len(terms))
	for i, t := range terms {
		n, ok := v.holders[t]
		if !ok {
			n = found[t]
		}
		out[i] = n
	}
	return out, nil
}

// maxHolders is the most words for which a view remembers the number of chunks.
const maxHolders = 1 << 14

func countHolders(ctx context.Context, st *site, v *view, terms []string) (map[string]int64, error) {
	rows, err := st.pool.Query(ctx, `SELECT term, count(*) FROM postings WHERE term = ANY($2::text[]) AND scope = ANY($1::integer[]) GROUP BY term`,
		v.scopes, terms)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := make(map[string]int64, len(terms))
	for rows.Next() {
		var t string
		var n int64
		if err := rows.Scan(&t, &n); err != nil {
			return nil, err
		}
		out[t] = n
	}
	return out, rows.Err()
}

// keywordHits finds the best chunks by words.
func keywordHits(ctx context.Context, st *site, v *view, terms []string, q index.Query) ([]index.Hit, error) {
	if q.K <= 0 || len(terms) == 0 || v.total == 0 {
		return nil, nil
	}
	terms = terms[:min(len(terms), index.MaxLookup)]
	held, err := holdersOf(ctx, st, v, terms)
	if err != nil {
		return nil, err
	}
	w := weigh(terms, held, v.total)
	hits, err := matchWords(ctx, st, v, w.selective(), q)
	if err == nil && len(hits) < q.K && len(w.selective()) < len(w) {
		hits, err = matchWords(ctx, st, v, w, q)
	}
	return hits, err
}

// weighted is a word with its weight.
type weighted struct {
	term string
	held int64
	idf  float64
	// common reports that more than half of the chunks hold the word.
	common bool
}

type words []weighted

// weigh returns the words that occur, with their weights in BM25. If there are too many words,
// only the rarest stay, in their order.
func weigh(terms []string, held []int64, total int64) words {
	var out words
	for i, t := range terms {
		if n := held[i]; n > 0 && !slices.ContainsFunc(out, func(w weighted) bool { return w.term == t }) {
			idf := math.Log((float64(total-n) + 0.5) / (float64(n) + 0.5))
			out = append(out, weighted{t, n, max(idf, index.BM25Least), 2*n > total})
		}
	}
	if len(out) <= index.MaxTerms {
		return out
	}
	rarest := slices.Clone(out)
	slices.SortStableFunc(rarest, func(a, b weighted) int { return int(a.held - b.held) })
	rarest = rarest[:index.MaxTerms]
	return slices.DeleteFunc(out, func(w weighted) bool { return !slices.Contains(rarest, w) })
}

// selective leaves out the words that more than half of the chunks hold, unless there are no
// other words. Such words weigh next to nothing and would be most of the work.
func (w words) selective() words {
	var out words
	for _, x := range w {
		if !x.common {
			out = append(out, x)
		}
	}
	if len(out) == 0 {
		return w
	}
	return out
}

// matchWords returns the best chunks. If hits are dropped, it fetches more until it has enough
// hits or no more are left.
func matchWords(ctx context.Context, st *site, v *view, w words, q index.Query) ([]index.Hit, error) {
	terms, idf := make([]string, len(w)), make([]float64, len(w))
	for i, x := range w {
		terms[i], idf[i] = x.term, x.idf
	}
	for limit := q.K + index.Ties; ; limit *= 4 {
		var hits []index.Hit
		err := st.read(ctx, func() (err error) {
			hits, err = readHits(ctx, st, st.pool, v, matchQuery, v.scopes, terms, idf, v.mean, limit)
			return err
		})
		if err != nil {
			return nil, err
		}
		found := len(hits)
		if hits = keep(hits, q.Want); found < limit || len(hits) >= q.K {
			return index.RankKeyword(hits, q.K), nil
		}
	}
}

// matchQuery sums up BM25 over the chunks with any of the words.
var matchQuery = fmt.Sprintf(`
WITH q AS (SELECT * FROM unnest($2::text[], $3::float8[]) AS t(term, idf)),
m AS MATERIALIZED (
	SELECT p.chunk, sum(q.idf * p.tf * %g / (p.tf + %g * (%g + %g * p.words / $4::float8))) AS score
	FROM q JOIN postings AS p ON p.term=q.term
	WHERE p.scope = ANY($1::integer[])
	GROUP BY p.chunk ORDER BY score DESC LIMIT $5::bigint)
SELECT %s, m.score::float8
FROM m JOIN chunks AS c ON c.row=m.chunk JOIN files AS f ON f.id=c.file
WHERE c.scope = ANY($1::integer[])`, index.BM25K1+1, index.BM25K1, 1-index.BM25B, index.BM25B, hitColumns)

const hitColumns = `c.seq, c.id, c.hash, c.start_line, c.end_line, c.tokens, c.date, c.trail, c.keywords, c.body, f.path, f.mtime, f.space`

// readHits runs a query that returns hitColumns and a score.
func readHits(ctx context.Context, st *site, db querier, v *view, query string, args ...any) ([]index.Hit, error) {
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []index.Hit
	for rows.Next() {
		h, err := v.scan(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	return out, rows.Err()
}

func (v *view) scan(rows pgx.Rows) (h index.Hit, err error) {
	var hash, trail, keywords, body []byte
	var mtime int64
	var space int32
	err = rows.Scan(&h.Seq, &h.ID, &hash, &h.StartLine, &h.EndLine, &h.Tokens, &h.Date, &trail, &keywords, &body, &h.Path, &mtime, &space, &h.Raw)
	copy(h.Hash[:], hash)
	_, h.Facts = index.SplitFacts(string(keywords), h.StartLine)
	h.Trail, h.Text, h.ModTime = index.SplitTrail(string(trail)), string(body), time.Unix(0, mtime)
	if agent := v.agents[space]; space != v.space {
		h.Path = index.OwnedPath(agent, h.Path)
		h.ID = agent + "/" + h.ID
	}
	return h, err
}

// keep drops hits in files that the caller doesn't want. If several agents' files of one path
// have the same text, it keeps the hit in the agent's own file, or else the first hit.
func keep(hits []index.Hit, want func(path string) bool) []index.Hit {
	type copied struct {
		path string
		seq  int
		hash index.Hash
	}
	owner := map[copied]string{}
	key := func(h *index.Hit) (copied, string) {
		agent, path := index.SplitOwner(h.Path)
		return copied{path, h.Seq, h.Hash}, agent
	}
	hits = slices.DeleteFunc(hits, func(h index.Hit) bool { return want != nil && !want(h.Path) })
	for i := range hits {
		k, agent := key(&hits[i])
		if first, ok := owner[k]; !ok || agent < first {
			owner[k] = agent
		}
	}
	return slices.DeleteFunc(hits, func(h index.Hit) bool {
		k, agent := key(&h)
		return owner[k] != agent
	})
}
