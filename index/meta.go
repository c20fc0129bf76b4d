package index

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/index/analysis"
	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// meta holds the facts that the index stores about itself.
type meta struct {
	// generation counts the transactions that changed files, chunks or the
	// model.
	generation int64
	// nextRow is the next chunk's row. A row number is never used again, so a hit whose chunk was
	// removed can't be mistaken for another chunk.
	nextRow int64
	// stamp is the sum over the stats of all files. If the sum is unchanged, a Sync has nothing
	// to do.
	stamp uint64
	// analysis is the version of the rules that made the words.
	analysis int
	// chunker names the rules that made the chunks.
	chunker string
	// langs counts chunks by language.
	langs map[string]int64
	// model is the model of the vectors in chunks_vec, or "" if there are no vectors.
	model string
	// dim is the length of the vectors in chunks_vec, or 0 if there are no vectors.
	dim int
	// codes describes chunk_codes.
	codes vec.Meta
	// reliance is the result of Measure, empty before.
	reliance reliance
}

func newMeta(o *Options) *meta {
	return &meta{nextRow: 1, analysis: analysis.Version, chunker: o.Chunker, langs: map[string]int64{}}
}

// pairs returns the stored form of m.
func (m *meta) pairs() map[string]string {
	var langs []string
	for _, l := range slices.Sorted(maps.Keys(m.langs)) {
		if n := m.langs[l]; n > 0 {
			langs = append(langs, l+"="+strconv.FormatInt(n, 10))
		}
	}
	out := map[string]string{
		"generation": strconv.FormatInt(m.generation, 10),
		"next_row":   strconv.FormatInt(m.nextRow, 10),
		"stamp":      strconv.FormatUint(m.stamp, 16),
		"analysis":   strconv.Itoa(m.analysis),
		"chunker":    m.chunker,
		"langs":      strings.Join(langs, " "),
		"model":      m.model,
		"dim":        strconv.Itoa(m.dim),
	}
	if c := m.codes.String(); c != "" {
		out["codes"] = c
	}
	if r := m.reliance.String(); r != "" {
		out["reliance"] = r
	}
	return out
}

// clone returns a copy. save later compares the changed values with it.
func (m *meta) clone() *meta {
	c := *m
	c.langs = maps.Clone(m.langs)
	return &c
}

// save writes the values that differ from old, or all of them if old is nil.
func (m *meta) save(ctx context.Context, tx drv.Conn, old *meta) error {
	var before map[string]string
	if old != nil {
		before = old.pairs()
	}
	now := m.pairs()
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if was, ok := before[k]; ok && was == now[k] {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT INTO meta(key, value) VALUES(?, ?)
			ON CONFLICT(key) DO UPDATE SET value=excluded.value`, k, now[k]); err != nil {
			return err
		}
	}
	if _, still := now["codes"]; !still && before["codes"] != "" {
		_, err := tx.ExecContext(ctx, "DELETE FROM meta WHERE key='codes'")
		return err
	}
	return nil
}

// loadMeta reads meta. It returns an error for a missing value and for a value that save can't have
// written.
func loadMeta(ctx context.Context, db drv.Conn) (*meta, error) {
	m, known := &meta{langs: map[string]int64{}}, 0
	var k, v string
	err := drv.Each(ctx, db, []any{&k, &v}, func() error {
		ok, err := m.set(k, v)
		if err != nil {
			return fmt.Errorf("read meta %s=%q: %w", k, v, err)
		}
		if ok {
			known++
		}
		return nil
	}, "SELECT key, value FROM meta")
	if err != nil {
		return nil, err
	}
	if want := len(m.pairs()); known != want {
		return nil, fmt.Errorf("read meta: %d of %d keys are there", known, want)
	}
	return m, nil
}

// set takes one stored pair. It skips a key that this version doesn't know.
func (m *meta) set(k, v string) (known bool, err error) {
	switch k {
	case "generation":
		m.generation, err = strconv.ParseInt(v, 10, 64)
	case "next_row":
		m.nextRow, err = strconv.ParseInt(v, 10, 64)
	case "stamp":
		m.stamp, err = strconv.ParseUint(v, 16, 64)
	case "analysis":
		m.analysis, err = strconv.Atoi(v)
	case "chunker":
		m.chunker = v
	case "langs":
		err = m.setLangs(v)
	case "model":
		m.model = v
	case "dim":
		m.dim, err = strconv.Atoi(v)
	case "codes":
		err = m.codes.Parse(v)
	case "reliance":
		m.reliance, err = parseReliance(v)
	default:
		return false, nil
	}
	return true, err
}

func (m *meta) setLangs(v string) error {
	for _, f := range strings.Fields(v) {
		code, n, _ := strings.Cut(f, "=")
		count, err := strconv.ParseInt(n, 10, 64)
		if err != nil {
			return err
		}
		m.langs[code] = count
	}
	return nil
}

// maxLangs bounds the number of languages for which the words of a question are stemmed. Further
// languages belong to chunks whose language was misread.
const maxLangs = 6

// languages lists the languages of the chunks, the commonest first.
func (m *meta) languages() []string {
	codes := slices.Collect(maps.Keys(m.langs))
	codes = slices.DeleteFunc(codes, func(c string) bool { return c == "" || m.langs[c] <= 0 })
	slices.SortFunc(codes, func(a, b string) int {
		return cmp.Or(cmp.Compare(m.langs[b], m.langs[a]), cmp.Compare(a, b))
	})
	return codes[:min(len(codes), maxLangs)]
}
