package pgindex

import (
	"context"
	"fmt"
	"strings"

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
	// modelRow is the row of the model whose vectors this agent uses.
	modelRow int32
	// model is the name of that model.
	model string
	// dim is the length of its vectors.
	dim     int
	chunker string
	// langs holds the languages of the visible chunks.
	langs []string
	// total is the number of visible chunks.
	total int64
	// mean is the average number of words in a chunk.
	mean float64
	// mixed reports that the words of some files were made by other rules.
	mixed bool
	// holders holds the number of chunks with a word, for words that were looked up.
	holders map[string]int64
}

// lookQuery is the rule of visibility: an agent sees everything in its own space, and the shared
// scopes of the workspace's other spaces.
const lookQuery = `SELECT s.id, s.agent, s.generation, s.chunker, coalesce(s.model, 0), c.id
	FROM spaces AS s JOIN scopes AS c ON c.space=s.id
	WHERE s.workspace=$1::text AND (s.agent=$2::text OR NOT c.private) ORDER BY s.id, c.id`

// look returns the view of the present state. If nothing has changed, it costs one small read.
func (st *site) look(ctx context.Context) (*view, error) {
	var v *view
	err := st.read(ctx, func() (err error) {
		if v, err = visibleScopes(ctx, st); err != nil {
			return err
		}
		st.mu.Lock()
		old := st.seen
		st.mu.Unlock()
		if old != nil && old.key == v.key {
			v = old
			return nil
		}
		return countView(ctx, st, v)
	})
	if err != nil {
		return nil, err
	}
	st.mu.Lock()
	st.seen = v
	st.mu.Unlock()
	return v, nil
}

func visibleScopes(ctx context.Context, st *site) (*view, error) {
	rows, err := st.pool.Query(ctx, lookQuery, st.opts.Workspace, st.opts.Agent)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	v := &view{scopes: []int32{}, agents: map[int32]string{}, holders: map[string]int64{}}
	var key strings.Builder
	for rows.Next() {
		var space, model, scope int32
		var agent, chunker string
		var generation int64
		if err := rows.Scan(&space, &agent, &generation, &chunker, &model, &scope); err != nil {
			return nil, err
		}
		v.scopes = append(v.scopes, scope)
		fmt.Fprintf(&key, "%d.%d ", scope, generation)
		if agent == st.opts.Agent {
			v.space, v.modelRow, v.chunker = space, model, chunker
			continue
		}
		v.agents[space] = agent
	}
	v.key = key.String()
	if rows.Err() == nil && len(v.scopes) == 0 {
		return nil, index.Problem("open index", st.place, index.ErrMissing, nil)
	}
	return v, rows.Err()
}

// countView reads the figures of the visible scopes.
func countView(ctx context.Context, st *site, v *view) error {
	rows, err := st.pool.Query(ctx, `SELECT lang, count(*), sum(words) FROM chunks WHERE scope = ANY($1::integer[]) GROUP BY lang`, v.scopes)
	if err != nil {
		return err
	}
	defer rows.Close()
	var words int64
	for rows.Next() {
		var lang string
		var n, w int64
		if err := rows.Scan(&lang, &n, &w); err != nil {
			return err
		}
		v.langs, v.total, words = append(v.langs, lang), v.total+n, words+w
	}
	if rows.Err() != nil {
		return rows.Err()
	}
	v.mean = float64(words) / float64(max(v.total, 1))
	err = st.pool.QueryRow(ctx, `SELECT EXISTS(SELECT 1 FROM files WHERE scope = ANY($1::integer[]) AND analysis<>$2::integer)`,
		v.scopes, analysis.Version).Scan(&v.mixed)
	if err != nil || v.modelRow == 0 || !st.vectors {
		return err
	}
	return st.pool.QueryRow(ctx, `SELECT name, dim FROM models WHERE id=$1::integer`, v.modelRow).Scan(&v.model, &v.dim)
}

// outdated reports whether words or chunks were made by other rules.
func outdated(st *site, v *view) bool {
	return v.mixed || v.space != 0 && v.chunker != st.index.Chunker
}
