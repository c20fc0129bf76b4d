package index

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// hitColumns are read by scanHit, from chunks AS c and files AS f.
const hitColumns = `c.row, c.file, c.seq, c.seq=0 AND NOT EXISTS(SELECT 1 FROM chunks AS o WHERE o.file=c.file AND o.seq>0),
	c.id, c.hash, c.start_line, c.end_line, c.tokens, c.date, c.trail, c.keywords, c.body, f.path, f.mtime`

func scanHit(rows *sql.Rows, more ...any) (Hit, error) {
	var h Hit
	var hash, keywords sql.RawBytes
	var trail string
	var mtime int64
	err := rows.Scan(append([]any{&h.row, &h.file, &h.Seq, &h.Whole, &h.ID, &hash, &h.StartLine, &h.EndLine, &h.Tokens,
		&h.Date, &trail, &keywords, &h.Text, &h.Path, &mtime}, more...)...)
	if err != nil {
		return h, err
	}
	copy(h.Hash[:], hash)
	h.Trail, h.ModTime = splitTrail(trail), time.Unix(0, mtime)
	h.SetKeywords(string(keywords))
	return h, nil
}

// readHits runs a query whose columns are hitColumns and a score.
func readHits(ctx context.Context, db drv.Conn, query string, args ...any) ([]Hit, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []Hit
	for rows.Next() {
		var raw float64
		hit, err := scanHit(rows, &raw)
		if err != nil {
			return nil, err
		}
		hit.Raw = raw
		out = append(out, hit)
	}
	return out, rows.Err()
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

// cost is the size of a chunk that is kept, in bytes.
func (h *Hit) cost() int {
	const entry = 400 // rough size of the struct and its place in the map
	return len(h.Text) + len(h.Path) + len(h.ID) + entry
}
