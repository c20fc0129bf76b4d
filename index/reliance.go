package index

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// reliance is how far the vectors of a model were found to be relied on.
type reliance struct {
	share float64
	total int64 // chunks at the time
	model string
}

func (r reliance) String() string {
	if r.model == "" {
		return ""
	}
	return fmt.Sprintf("%.3f %d %s", r.share, r.total, r.model)
}

func parseReliance(s string) (r reliance, err error) {
	f := strings.SplitN(s, " ", 3)
	if len(f) < 3 {
		return r, fmt.Errorf("%q is not a share, a number of chunks and a model", s)
	}
	r.model = f[2]
	if r.share, err = strconv.ParseFloat(f[0], 64); err == nil {
		r.total, err = strconv.ParseInt(f[1], 10, 64)
	}
	return r, err
}

// probes is how many passages of the index are asked for, probeHits among how many of the
// nearest their chunk should be: fewer in an index of which these would be much.
const (
	probes      = 24
	probeHits   = 5
	leastProbes = 4
	probeLength = 48 // bytes
)

// Measure asks the vectors of the model in use for passages of the index itself, each embedded by
// embed as a question, and keeps which share of them is found among the chunks nearest to it,
// less the share that chance would find: Hits.Reliance of every search from then on. A model that
// doesn't know the language, or whose vectors were made by other means than the questions' are,
// finds none. An earlier measurement for the model stays until the index has twice as many
// chunks. With fewer than four chunks nothing is measured.
func (ix *Index) Measure(ctx context.Context, embed func(ctx context.Context, text string) ([]float32, error)) error {
	const op = "measure vectors"
	h, done, err := ix.door.writer(ctx, op)
	if err != nil {
		return err
	}
	defer done()
	v, err := h.look(ctx)
	if err != nil || v.model == "" || v.total < leastProbes || v.reliance.model == v.model && v.total < 2*v.reliance.total {
		return explain(op, ix.door.path, err)
	}
	asked, err := h.passages(ctx, v.total)
	if err != nil || len(asked) < leastProbes {
		return explain(op, ix.door.path, err)
	}
	k := int(max(1, min(probeHits, v.total/12)))
	found := 0
	for _, text := range asked {
		q, err := embed(ctx, text)
		if err != nil {
			return fmt.Errorf("%s of %s: %w", op, ix.door.path, err)
		}
		hits, err := ix.Vector(ctx, v.model, q, k, nil)
		if err != nil {
			return explain(op, ix.door.path, err)
		}
		for i := range hits {
			if strings.Contains(hits[i].Text, text) {
				found++
				break
			}
		}
	}
	chance := float64(k) / float64(v.total)
	share := max((float64(found)/float64(len(asked))-chance)/(1-chance), 0)
	return explain(op, ix.door.path, h.transact(ctx, func(tx *sql.Tx) error {
		old, err := loadMeta(ctx, tx)
		if err != nil || old.model != v.model {
			return err
		}
		m := old.clone()
		m.reliance = reliance{share, v.total, v.model}
		m.generation++
		return m.save(ctx, tx, old)
	}))
}

// passages returns the beginnings of the longest lines of some chunks, spread over the index.
func (h *handles) passages(ctx context.Context, total int64) ([]string, error) {
	rows, err := h.read.QueryContext(ctx, `SELECT body FROM (SELECT body, row_number() OVER (ORDER BY row) AS n FROM chunks)
		WHERE n % ? = 0 LIMIT ?`, max(total/probes, 1), probes)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []string
	for rows.Next() {
		var body string
		if err := rows.Scan(&body); err != nil {
			return nil, err
		}
		longest := ""
		for line := range strings.SplitSeq(body, "\n") {
			if line = strings.TrimSpace(line); len(line) > len(longest) {
				longest = line
			}
		}
		// As long as a question is, from its middle: whatever makes vectors finds the very
		// text that it made one of, and most find a long part of it by its spelling.
		from := len(longest) / 3
		for from > 0 && !utf8.RuneStart(longest[from]) {
			from--
		}
		if at := strings.IndexByte(longest[from:], ' '); at >= 0 && at < probeLength/2 {
			from += at + 1
		}
		n := min(len(longest)-from, probeLength)
		for n > 0 && from+n < len(longest) && !utf8.RuneStart(longest[from+n]) {
			n--
		}
		if n > 0 {
			out = append(out, longest[from:from+n])
		}
	}
	return out, rows.Err()
}
