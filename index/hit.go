package index

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

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
		h.Trail, h.ModTime = SplitTrail(trail), time.Unix(0, mtime)
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

// cost is the size of a chunk that is kept, in bytes.
func (h *Hit) cost() int {
	const entry = 400 // rough size of the struct and its place in the map
	return len(h.Text) + len(h.Path) + len(h.ID) + entry
}
