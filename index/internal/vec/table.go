package vec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// createCodes makes the table of slabs. Slab −1 holds the centre of the vectors.
const createCodes = `CREATE TABLE IF NOT EXISTS chunk_codes(
	slab INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, codes BLOB NOT NULL)`

const centreSlab = -1

// errDamaged means that chunk_codes is damaged. A search never returns it, but compares every vector.
// Check reports it.
var errDamaged = errors.New("the codes of vectors are damaged")

// Meta describes chunk_codes. The index stores it in its table meta. If Of is 0, the vectors were never
// measured, and there are no codes.
type Meta struct {
	// planes is 0 if there are no codes, because none reached goodRecall or none were measured.
	planes int
	// among is the number of vectors that the signs select in a search for tunedK hits. rescore is
	// the number of these that all planes select. A search for more hits selects proportionally more.
	among, rescore int
	// exactly reports whether signs are compared with the question's numbers and not with the signs
	// of these numbers.
	exactly bool
	// Of is the number of vectors when they were measured. Now is the number in chunk_codes.
	Of, Now int64
	// recall is the measured recall.
	recall float64
	// Stamp counts the transactions that changed vectors without changing files.
	Stamp int64
}

const codesForm = "planes=%d among=%d rescore=%d exactly=%t of=%d now=%d recall=%f stamp=%d"

func (c Meta) String() string {
	if c == (Meta{}) {
		return ""
	}
	return fmt.Sprintf(codesForm, c.planes, c.among, c.rescore, c.exactly, c.Of, c.Now, c.recall, c.Stamp)
}

// Coded reports whether there are codes.
func (c Meta) Coded() bool { return c.planes > 0 }

// Parse reads a Meta that String wrote.
func (c *Meta) Parse(s string) error {
	if s == "" {
		return nil
	}
	_, err := fmt.Sscanf(s, codesForm, &c.planes, &c.among, &c.rescore, &c.exactly, &c.Of, &c.Now, &c.recall, &c.Stamp)
	if err == nil && (c.planes < 0 || c.planes >= len(step) || c.Stamp <= 0 || c.planes > 0 && (c.among < 1 || c.rescore < 1)) {
		err = errors.New("a number is out of its range")
	}
	return err
}

// table is the content of chunk_codes in memory, in the state after one transaction.
type table struct {
	Meta
	coder *coder
	slabs []*slab
	n     int
	// dists is a pool of slices with one distance per row.
	dists sync.Pool
}

// Cache holds the table that was read last.
type Cache struct {
	mu    sync.Mutex
	table *table
}

// dim returns the length of the vectors.
func (t *table) dim() int { return len(t.coder.centre) }

// Nearest returns vectors that probably include the k nearest to v, as the codes estimate that db
// reads. v must have length 1. allowed, if not nil, reports whether the vectors of a file may be
// returned. ok is false if there are no codes or the codes are damaged.
func (c *Cache) Nearest(ctx context.Context, db drv.Conn, m Meta, v []float32, k int, allowed func(file int64) bool) (picks []Pick, ok bool, err error) {
	t, err := c.get(ctx, db, m)
	if errors.Is(err, errDamaged) || err == nil && (t == nil || t.dim() != len(v)) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return t.nearest(v, k, allowed), true, nil
}

// get returns the table, or nil if there are no codes. It reads only the slabs that have changed since
// the table was read last.
func (c *Cache) get(ctx context.Context, db drv.Conn, m Meta) (*table, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.planes == 0 {
		c.table = nil
		return nil, nil
	}
	old := c.table
	if old != nil && old.Meta == m {
		return old, nil
	}
	t, err := load(ctx, db, m, old)
	if err != nil {
		return nil, err
	}
	c.table = t
	return t, nil
}

// load reads the table. It reuses the unchanged slabs of old.
func load(ctx context.Context, db drv.Conn, m Meta, old *table) (*table, error) {
	t := &table{Meta: m}
	have := map[[2]int64]*slab{}
	if old != nil && old.planes == m.planes {
		for _, s := range old.slabs {
			have[[2]int64{s.number, s.stamp}] = s
		}
	}
	var missing []int64
	var number, stamp int64
	err := drv.Each(ctx, db, []any{&number, &stamp}, func() error {
		s := have[[2]int64{number, stamp}]
		if s == nil {
			s = &slab{number: number, stamp: stamp}
			missing = append(missing, number)
		}
		t.slabs = append(t.slabs, s)
		return nil
	}, "SELECT slab, stamp FROM chunk_codes WHERE slab>=0 ORDER BY slab")
	if err != nil {
		return nil, err
	}
	if t.coder, err = loadCoder(ctx, db, m.planes); err != nil {
		return nil, err
	}
	return t, t.fill(ctx, db, missing)
}

// add appends an entry. The caller must add entries in the order of their rows.
func (t *table) add(e slabEntry) {
	n := e.row / slabRows
	if len(t.slabs) == 0 || t.slabs[len(t.slabs)-1].number != n {
		t.slabs = append(t.slabs, &slab{number: n})
	}
	t.slabs[len(t.slabs)-1].put(e, t.coder.words)
	t.n++
}

// fill reads the slabs with the numbers in missing.
func (t *table) fill(ctx context.Context, db drv.Conn, missing []int64) error {
	loaded, err := readSlabs(ctx, db, missing, t.planes, t.coder.words)
	if err != nil {
		return err
	}
	for i, s := range t.slabs {
		if l := loaded[s.number]; l != nil {
			t.slabs[i] = l
		}
		t.n += len(t.slabs[i].rows)
	}
	if int64(t.n) != t.Now {
		return fmt.Errorf("%w: there are %d rows, not %d", errDamaged, t.n, t.Now)
	}
	return nil
}

func readSlabs(ctx context.Context, db drv.Conn, numbers []int64, planes, words int) (map[int64]*slab, error) {
	out := make(map[int64]*slab, len(numbers))
	var number, stamp int64
	var b sql.RawBytes
	err := drv.Each(ctx, db, []any{&number, &stamp, &b}, func() (err error) {
		out[number], err = decodeSlab(number, stamp, b, planes, words)
		return err
	}, "SELECT slab, stamp, codes FROM chunk_codes WHERE slab IN (SELECT value FROM json_each(?))", drv.JSONList(numbers))
	return out, err
}

// loadCoder reads the centre and returns the coder for it.
func loadCoder(ctx context.Context, db drv.Conn, planes int) (*coder, error) {
	var b []byte
	err := db.QueryRowContext(ctx, "SELECT codes FROM chunk_codes WHERE slab=?", centreSlab).Scan(&b)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the centre of the vectors: %w", err)
	}
	if len(b) == 0 || len(b)%4 != 0 {
		return nil, fmt.Errorf("%w: the centre has %d bytes", errDamaged, len(b))
	}
	return newCoder(planes, Floats(b)), nil
}

// Edits collects the changes of one transaction to chunk_codes. An entry without planes removes its
// row.
type Edits struct {
	coder *coder
	slabs map[int64][]slabEntry
}

// Edit returns edits for a transaction on an index with codes, else nil.
func (m *Meta) Edit(ctx context.Context, tx drv.Conn) (*Edits, error) {
	if m.planes == 0 {
		return nil, nil
	}
	c, err := loadCoder(ctx, tx, m.planes)
	if errors.Is(err, errDamaged) {
		return nil, m.Drop(ctx, tx)
	}
	return &Edits{c, map[int64][]slabEntry{}}, err
}

// Put records the vector of a row. Drop records that a row has no vector. Both do nothing if there are
// no codes.
func (e *Edits) Put(row, file, id int64, vector []byte) {
	if e != nil {
		e.add(slabEntry{row, file, id, e.coder.encode(Floats(vector))})
	}
}

func (e *Edits) Drop(row int64) {
	if e != nil {
		e.add(slabEntry{row: row})
	}
}

func (e *Edits) add(x slabEntry) {
	n := x.row / slabRows
	e.slabs[n] = append(e.slabs[n], x)
}

// Save writes the changed slabs, and updates Stamp and Now of m.
func (e *Edits) Save(ctx context.Context, tx drv.Conn, m *Meta) error {
	if e == nil || len(e.slabs) == 0 {
		return nil
	}
	numbers := slices.Sorted(maps.Keys(e.slabs))
	words := e.coder.words
	slabs, err := readSlabs(ctx, tx, numbers, m.planes, words)
	if errors.Is(err, errDamaged) {
		return m.Drop(ctx, tx)
	}
	if err != nil {
		return err
	}
	m.Stamp++
	for _, n := range numbers {
		s := slabs[n]
		if s == nil {
			s = &slab{number: n}
		}
		m.Now -= int64(len(s.rows))
		for _, x := range e.slabs[n] {
			if x.planes == nil {
				s.drop(x.row, words)
			} else {
				s.put(x, words)
			}
		}
		m.Now += int64(len(s.rows))
		if err := writeSlab(ctx, tx, n, m.Stamp, s.encode()); err != nil {
			return err
		}
	}
	clear(e.slabs)
	return nil
}

// writeSlab stores a slab. It deletes the slab if codes is empty.
func writeSlab(ctx context.Context, tx drv.Conn, number, stamp int64, codes []byte) error {
	if len(codes) == 0 {
		_, err := tx.ExecContext(ctx, "DELETE FROM chunk_codes WHERE slab=?", number)
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO chunk_codes(slab, stamp, codes) VALUES(?, ?, ?)
		ON CONFLICT(slab) DO UPDATE SET stamp=excluded.stamp, codes=excluded.codes`, number, stamp, codes)
	return err
}

// Drop deletes the codes and the measurement. It increases Stamp, so that later codes are not mistaken
// for the deleted ones.
func (m *Meta) Drop(ctx context.Context, tx drv.Conn) error {
	had := m.planes > 0
	*m = Meta{Stamp: m.Stamp + 1}
	if !had {
		return nil
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM chunk_codes")
	return err
}

// Write replaces the stored codes and m by the result of the measurement.
func (t *measurement) Write(ctx context.Context, tx drv.Conn, m *Meta) error {
	stamp := m.Stamp + 1
	*m = t.found
	m.Stamp = stamp
	for _, q := range []string{createCodes, "DELETE FROM chunk_codes"} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if t.best == nil {
		return nil
	}
	if err := writeSlab(ctx, tx, centreSlab, stamp, floatBytes(t.centre)); err != nil {
		return err
	}
	for _, s := range t.best.slabs {
		if err := writeSlab(ctx, tx, s.number, stamp, s.encode()); err != nil {
			return err
		}
	}
	return nil
}

// Check reports the faults of chunk_codes to found: the table must hold the code of every vector
// in use. It returns an error only if reading fails.
func (m Meta) Check(ctx context.Context, db drv.Conn, dim int, each each, found func(format string, args ...any)) error {
	t, err := load(ctx, db, m, nil)
	if err == nil && t.dim() != dim {
		err = errDamaged
	}
	if errors.Is(err, errDamaged) {
		found("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	want := map[int64]slabEntry{}
	err = each(nil, func(row, file, id int64, v []byte) error {
		want[row] = slabEntry{row, file, id, t.coder.encode(Floats(v))}
		return nil
	})
	if err != nil {
		return err
	}
	for _, s := range t.slabs {
		for i := range s.rows {
			row := s.row(i)
			if w, ok := want[row]; !ok || !s.same(i, w, t.coder.words) {
				found("the code of row %d is not that of its vector", row)
			}
			delete(want, row)
		}
	}
	for row := range want {
		found("the vector of row %d has no code", row)
		break
	}
	return nil
}
