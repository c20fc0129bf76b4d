package pgindex

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// Search searches by words and by vectors, as [index.Index.Search] does.
func (ix *Index) Search(ctx context.Context, q index.Query) (index.Hits, error) {
	v, err := ix.site.look(ctx)
	if err != nil {
		return index.Hits{}, ix.site.explain("search", err)
	}
	out := index.Hits{Outdated: outdated(ix.site, v), Chunks: v.total}
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
	err = searchWords(ctx, ix.site, v, q, &out)
	<-vectors
	out.KeywordErr, out.VectorErr = ix.site.explain("search", err), ix.site.explain("search vectors", out.VectorErr)
	if out.KeywordErr != nil && (q.Vector == nil || out.VectorErr != nil) {
		return out, out.KeywordErr
	}
	return out, nil
}

// searchWords sets the terms, the hits by words and the holders of out.
func searchWords(ctx context.Context, st *site, v *view, q index.Query, out *index.Hits) error {
	a := st.analyzers.Lend()
	out.Terms = a.Query(q.Text, v.langs)
	st.analyzers.Give(a)
	terms := q.Words(out.Terms)
	terms = terms[:min(len(terms), index.MaxLookup)]
	if q.K <= 0 || len(terms) == 0 || v.total == 0 {
		return nil
	}
	words, err := tryRead(ctx, st, func() ([]word, error) { return countHolders(ctx, st, v, terms) })
	if err != nil {
		return err
	}
	if q.Holders {
		for _, w := range words[:min(len(words), len(out.Terms))] {
			out.Holders = append(out.Holders, w.held)
		}
	}
	if out.Keyword, err = keywordHits(ctx, st, v, words, q); len(out.Keyword) == 0 {
		out.Holders = nil
	}
	return err
}

// word is a word of a question, in the form of a tsquery.
type word struct {
	query string
	// held is the number of visible chunks that hold the word.
	held int64
}

// quoted writes a term between the quotes of a tsvector or tsquery.
var quoted = strings.NewReplacer(`'`, `''`, `\`, `\\`)

// countHolders counts, for each term, the chunks that hold it.
func countHolders(ctx context.Context, st *site, v *view, terms []string) ([]word, error) {
	words, queries := make([]word, len(terms)), make([]string, len(terms))
	for i, t := range terms {
		queries[i] = "'" + quoted.Replace(t) + "'"
	}
	rows, _ := st.pool.Query(ctx, `SELECT (SELECT count(*) FROM chunks WHERE scope = ANY($1::integer[]) AND terms @@ t.query::tsquery)
		FROM unnest($2::text[]) WITH ORDINALITY AS t(query, place) ORDER BY place`, v.scopes, queries)
	held, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	for i, n := range held {
		words[i] = word{queries[i], n}
	}
	return words, err
}

// keywordHits finds the best chunks by words. If there are too many words, it uses only the rarest.
// It leaves out words that more than half of the chunks hold, if the other words find enough
// chunks: such words have almost no weight, and cause most of the work.
func keywordHits(ctx context.Context, st *site, v *view, words []word, q index.Query) ([]index.Hit, error) {
	words = slices.DeleteFunc(words, func(w word) bool { return w.held == 0 })
	slices.SortStableFunc(words, func(a, b word) int { return cmp.Compare(a.held, b.held) })
	words = words[:min(len(words), index.MaxTerms)]
	rare := slices.IndexFunc(words, func(w word) bool { return 2*w.held > v.total })
	if rare <= 0 {
		rare = len(words)
	}
	hits, err := matchWords(ctx, st, v, words[:rare], q)
	if err == nil && len(hits) < q.K && rare < len(words) {
		hits, err = matchWords(ctx, st, v, words, q)
	}
	return index.RankKeyword(hits, q.K), err
}

// matchWords returns the chunks that hold any of the words, the best first.
func matchWords(ctx context.Context, st *site, v *view, words []word, q index.Query) ([]index.Hit, error) {
	queries, held := make([]string, len(words)), make([]int64, len(words))
	for i, w := range words {
		queries[i], held[i] = w.query, w.held
	}
	return wantedHits(q, func(limit int) ([]index.Hit, error) {
		return readHits(ctx, st, v, matchQuery, v.scopes, queries, held, v.total, v.mean, limit)
	})
}

// matchQuery computes the BM25 of each chunk with any of the words. For a single word ts_rank_cd
// returns the sum of the weights of its places, which is BM25's weighted frequency. ts_rank_cd takes
// no weights above 1, so each weight is divided by the largest.
var matchQuery = fmt.Sprintf(`
WITH q AS MATERIALIZED (
	SELECT query::tsquery, greatest(ln(($4::float8 - held + 0.5) / (held + 0.5)), %g) AS idf
	FROM unnest($2::text[], $3::float8[]) AS t(query, held)),
m AS MATERIALIZED (
	SELECT c.row, sum(q.idf * %g / (1 + (c.words / $5::float8 * %g + %g) / ts_rank_cd('{%g, %g, %g, 1}', c.terms, q.query))) AS score
	FROM q JOIN chunks AS c ON c.terms @@ q.query
	WHERE c.scope = ANY($1::integer[])
	GROUP BY c.row ORDER BY score DESC LIMIT $6::bigint)`+hitQuery,
	index.BM25.Least, index.BM25.K1+1, index.BM25.K1*index.BM25.B/largest, index.BM25.K1*(1-index.BM25.B)/largest,
	index.BM25.Weights[0]/largest, index.BM25.Weights[2]/largest, index.BM25.Weights[3]/largest)

var largest = slices.Max(index.BM25.Weights[:])

// nearestHits returns the chunks with the nearest vectors.
func nearestHits(ctx context.Context, st *site, v *view, q index.Query) ([]index.Hit, error) {
	if v.model != q.Model || q.Model == "" || v.dim != len(q.Vector) {
		return nil, index.Problem("search vectors", st.place, index.ErrModel,
			fmt.Errorf("the index has %q of %d, the question %q of %d", v.model, v.dim, q.Model, len(q.Vector)))
	}
	vec, err := index.Unit(q.Vector)
	if err != nil || q.K <= 0 {
		return nil, err
	}
	hits, err := wantedHits(q, func(limit int) ([]index.Hit, error) {
		return readHits(ctx, st, v, nearestQuery, v.scopes, st.opts.Workspace, v.model, v.dim, vec, limit)
	})
	return index.RankVector(hits, q.K), err
}

// nearestQuery compares every visible vector by inner product, which for unit vectors is the
// cosine.
const nearestQuery = `
WITH m AS MATERIALIZED (
	SELECT c.row, -(e.vector <#> $5::real[]::vector) AS score
	FROM embeddings AS e JOIN chunks AS c ON c.hash=e.hash
	WHERE c.scope = ANY($1::integer[]) AND e.workspace=$2::text AND e.model=$3::text AND vector_dims(e.vector)=$4::integer
	ORDER BY score DESC LIMIT $6::bigint)` + hitQuery

// hitQuery reads the chunks that a table m names.
const hitQuery = `
SELECT c.seq, c.seq=0 AND NOT EXISTS(SELECT 1 FROM chunks AS o WHERE o.file=c.file AND o.seq>0), c.id, c.hash, c.start_line, c.end_line, c.tokens, c.date, c.trail, c.keywords, c.body, f.path, f.mtime, f.space, m.score::float8
FROM m JOIN chunks AS c ON c.row=m.row JOIN files AS f ON f.id=c.file
WHERE c.scope = ANY($1::integer[])`

// wantedHits fetches more and more hits, until it has as many as the query asks for or no more
// are left.
func wantedHits(q index.Query, fetch func(limit int) ([]index.Hit, error)) ([]index.Hit, error) {
	for limit := q.K + index.Ties; ; limit *= 4 {
		hits, err := fetch(limit)
		found := len(hits)
		if hits = keep(hits, q.Want); err != nil || found < limit || len(hits) >= q.K {
			return hits, err
		}
	}
}

// readHits runs a statement that ends with hitQuery.
func readHits(ctx context.Context, st *site, v *view, query string, args ...any) ([]index.Hit, error) {
	return tryRead(ctx, st, func() ([]index.Hit, error) {
		rows, _ := st.pool.Query(ctx, query, args...)
		return pgx.CollectRows(rows, v.hit)
	})
}

func (v *view) hit(row pgx.CollectableRow) (h index.Hit, err error) {
	var hash, trail, keywords, body []byte
	var mtime int64
	var space int32
	err = row.Scan(&h.Seq, &h.Whole, &h.ID, &hash, &h.StartLine, &h.EndLine, &h.Tokens, &h.Date, &trail, &keywords, &body, &h.Path, &mtime, &space, &h.Raw)
	copy(h.Hash[:], hash)
	h.SetKeywords(string(keywords))
	h.Trail, h.Text, h.ModTime = index.SplitLines(string(trail)), string(body), time.Unix(0, mtime)
	if space != v.space {
		h.Path = index.OwnedPath(v.agents[space], h.Path)
		h.ID = v.agents[space] + "/" + h.ID
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
