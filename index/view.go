package index

import (
	"context"
	"database/sql"
	"strconv"
	"sync/atomic"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
	"github.com/memkernel/memkernel/index/internal/vec"
	"github.com/memkernel/memkernel/internal/textutil"
)

// view holds the data that searches need, all of one state of the index's files, chunks and vectors.
type view struct {
	*meta
	langs []string
	// total counts the chunks.
	total int64
	// paths holds the paths of all files, by file number. It is nil until a search needs it.
	paths atomic.Pointer[map[int64]string]
	// labels are the labels of files. It is nil until a caller needs it.
	labels atomic.Pointer[map[string][]string]
	// spelt holds the spellings found for the unknown words that were searched last.
	spelt textutil.Recent[string, speltWord]
	// hits are the chunks found last.
	hits textutil.Recent[int64, *Hit]
	// block holds all vectors. It is nil if the vectors are not kept in memory.
	block atomic.Pointer[vec.Block]
	// compared counts the searches that compared all vectors and did not use block.
	compared atomic.Int32
}

// look returns the view of the present generation. If nothing has changed, it costs one small
// read.
func (h *handles) look(ctx context.Context) (*view, error) {
	v, _, err := h.lookBy(ctx, h.read, h.prepared[lookQuery])
	return v, err
}

// lookQuery reads the values that distinguish the states of an index.
const lookQuery = `SELECT value, ifnull((SELECT value FROM meta WHERE key='codes'), ''), ` + fts5.Structure + `
	FROM meta WHERE key='generation'`

// lookBy does the work of look on the connection db. It also returns the structure record of the
// word lists. looks is lookQuery prepared for db.
func (h *handles) lookBy(ctx context.Context, db drv.Conn, looks *sql.Stmt) (*view, []byte, error) {
	var gen, codes string
	var structure []byte
	err := looks.QueryRowContext(ctx).Scan(&gen, &codes, &structure)
	if err != nil {
		return nil, nil, err
	}
	v, err := h.viewOf(ctx, db, gen, codes)
	return v, structure, err
}

// viewOf returns the view of a state of meta. It reads the view from the file if the state
// differs from the state seen last.
func (h *handles) viewOf(ctx context.Context, db drv.Conn, gen, codes string) (*view, error) {
	h.seenMu.Lock()
	defer h.seenMu.Unlock()
	if v := h.seen; v != nil && strconv.FormatInt(v.generation, 10) == gen && v.codes.String() == codes {
		return v, nil
	}
	m, err := loadMeta(ctx, db)
	if err != nil {
		return nil, err
	}
	h.seen = &view{meta: m, langs: m.languages(), total: m.chunks()}
	return h.seen, nil
}

// chunks counts the chunks of all languages.
func (m *meta) chunks() int64 {
	var n int64
	for _, c := range m.langs {
		n += c
	}
	return n
}

// chunksWith counts the chunks that hold a word.
func (r *reader) chunksWith(ctx context.Context, term string) (int64, error) {
	n, err := r.holders(ctx, []string{term})
	if err != nil {
		return 0, err
	}
	return n[0], nil
}

// holders counts the chunks that hold each of the first MaxLookup words. It uses the word lists, or
// SQLite if the lists are not in memory or there are more than MaxTerms words.
func (r *reader) holders(ctx context.Context, terms []string) ([]int64, error) {
	terms = terms[:min(len(terms), MaxLookup)]
	if len(terms) <= MaxTerms {
		if out := r.words.Counts(ctx, r.tx, r.structure, terms); out != nil {
			return out, nil
		}
	}
	out := make([]int64, len(terms))
	for i, t := range terms {
		var err error
		if out[i], err = fts5.Count(ctx, r.tx, t); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// outdated reports whether the words or the chunks of the index were made by other rules than those
// of this program and of the caller.
func (v *view) outdated(chunker string) bool {
	return v.analysis != analysis.Version || v.chunker != chunker
}
