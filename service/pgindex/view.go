package pgindex

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
	"github.com/memkernel/memkernel/index/analysis"
)

// view is the part of the index that a query may see, and the figures about it that the query
// needs. It is valid for one generation of all its spaces.
type view struct {
	// scopes are the visible scopes. Statements must not decide this elsewhere.
	scopes []int32
	// key identifies the state of the spaces for which the view is valid.
	key string
	// space is this agent's space, 0 if it does not exist yet.
	space int32
	// agents are the owners of the other spaces, by space.
	agents map[int32]string
	// model is the model whose vectors this agent uses, and dim is their length.
	model   string
	dim     int
	chunker string
	// langs holds the languages of the visible chunks, the most frequent first.
	langs []string
	// total is the number of visible chunks.
	total int64
	// mean is the average number of words in a chunk.
	mean float64
	// mixed reports that the words of some files were made by other rules.
	mixed bool
}

// Each space has two scopes. Only its own agent sees the private scope.
func privateScope(space int32) int32 { return 2 * space }
func sharedScope(space int32) int32  { return 2*space + 1 }

// ownScopes returns both scopes of a space.
func ownScopes(space int32) []int32 { return []int32{privateScope(space), sharedScope(space)} }

// look returns the view of the current state. If nothing has changed since the last call, it makes
// only one small read.
func (st *site) look(ctx context.Context) (*view, error) {
	v, err := tryRead(ctx, st, func() (*view, error) {
		v, err := visibleScopes(ctx, st)
		if err != nil {
			return nil, err
		}
		st.mu.Lock()
		old := st.seen
		st.mu.Unlock()
		if old != nil && old.key == v.key {
			return old, nil
		}
		return v, countView(ctx, st, v)
	})
	if err != nil {
		return nil, err
	}
	st.mu.Lock()
	st.seen = v
	st.mu.Unlock()
	return v, nil
}

// visibleScopes is the rule of visibility: an agent sees everything in its own space, and the
// shared scopes of the workspace's other spaces.
func visibleScopes(ctx context.Context, st *site) (*view, error) {
	rows, _ := st.pool.Query(ctx, `SELECT id, agent, generation, chunker, model, dim FROM spaces WHERE workspace=$1::text ORDER BY id`, st.opts.Workspace)
	v := &view{agents: map[int32]string{}}
	var s view
	var agent string
	var generation int64
	_, err := pgx.ForEachRow(rows, []any{&s.space, &agent, &generation, &s.chunker, &s.model, &s.dim}, func() error {
		v.key += fmt.Sprintf("%d.%d ", s.space, generation)
		if agent != st.opts.Agent {
			v.agents[s.space] = agent
			v.scopes = append(v.scopes, sharedScope(s.space))
			return nil
		}
		v.space, v.chunker, v.model, v.dim = s.space, s.chunker, s.model, s.dim
		v.scopes = append(v.scopes, ownScopes(s.space)...)
		return nil
	})
	if err == nil && len(v.scopes) == 0 {
		err = index.Problem("open index", st.place, index.ErrMissing, nil)
	}
	return v, err
}

// countView reads the figures of the visible scopes.
func countView(ctx context.Context, st *site, v *view) error {
	err := st.pool.QueryRow(ctx, `SELECT array_agg(lang ORDER BY n DESC, lang), coalesce(sum(n), 0)::bigint, coalesce(sum(words) / sum(n), 0)::float8
		FROM (SELECT lang, count(*) AS n, sum(words) AS words FROM chunks WHERE scope = ANY($1::integer[]) GROUP BY lang) AS l`,
		v.scopes).Scan(&v.langs, &v.total, &v.mean)
	if err != nil {
		return err
	}
	return st.pool.QueryRow(ctx, `SELECT EXISTS(SELECT 1 FROM files WHERE scope = ANY($1::integer[]) AND analysis<>$2::integer)`,
		v.scopes, analysis.Version).Scan(&v.mixed)
}

// outdated reports whether words or chunks were made by other rules.
func outdated(st *site, v *view) bool {
	return v.mixed || v.space != 0 && v.chunker != st.index.Chunker
}
