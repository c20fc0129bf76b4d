package index

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// reliance holds how well the vectors of a model find chunks, as Measure found.
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

// probes is the largest number of passages that are used as questions. leastProbes is the least
// number. The chunk of a passage must be among the nearest probeHits chunks, or fewer in a small
// index. probeLength is the length of a question.
const (
	probes      = 24
	probeHits   = 5
	leastProbes = 4
	probeLength = 48 // bytes
)

// Measure measures the reliability of the vectors of the model in use. It embeds passages of the
// index itself as questions with embed, and searches for them by vectors. It stores the share of
// the passages whose chunk is among the nearest, less the share that chance would find. Every
// later search returns this share in Hits.Reliance. The share is about 0 for a model that doesn't
// know the language, or if the stored vectors were made in another way than the questions'.
// Measure keeps an earlier measurement for the model until the index has twice as many chunks. It
// measures nothing in an index of fewer than four chunks.
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
	return explain(op, ix.door.path, h.update(ctx, func(_ *sql.Tx, m *meta) error {
		if m.model == v.model {
			m.reliance = reliance{share, v.total, v.model}
			m.generation++
		}
		return nil
	}))
}

// passages returns parts of the longest lines of some chunks. The chunks are spread over the
// index.
func (h *handles) passages(ctx context.Context, total int64) ([]string, error) {
	var out []string
	var body string
	err := drv.Each(ctx, h.read, []any{&body}, func() error {
		longest := ""
		for line := range strings.SplitSeq(body, "\n") {
			if line = strings.TrimSpace(line); len(line) > len(longest) {
				longest = line
			}
		}
		// The part is as long as a question and from the middle of the line. Any model finds a
		// text by that very text, and most models find it by a long part of it.
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
		return nil
	}, `SELECT body FROM (SELECT body, row_number() OVER (ORDER BY row) AS n FROM chunks)
		WHERE n % ? = 0 LIMIT ?`, max(total/probes, 1), probes)
	return out, err
}
