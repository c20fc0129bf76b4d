package index

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// createCodes is the table of slabs; slab −1 is the centre of the vectors.
const createCodes = `CREATE TABLE IF NOT EXISTS chunk_codes(
	slab INTEGER PRIMARY KEY, stamp INTEGER NOT NULL, codes BLOB NOT NULL)`

const centreSlab = -1

// errCodes says that chunk_codes is not as it was written. It never leaves a search:
// every vector is compared instead, and Check tells of it.
var errCodes = errors.New("the codes of vectors are damaged")

// codesMeta is what meta says of chunk_codes. Where of is 0, the vectors were never
// measured, and there are no codes.
type codesMeta struct {
	// planes is 0 where codes were found not to do.
	planes int
	// among is how many are compared by all their planes for each of rescore
	// compared exactly; both count for a search of tunedK hits and grow with it.
	among, rescore int
	// exactly: signs are compared with the question's numbers, not with their signs.
	exactly bool
	// of counts the vectors at the time of measuring, now those in chunk_codes.
	of, now int64
	// recall is what was measured.
	recall float64
	// stamp counts the transactions that changed vectors without changing files.
	stamp int64
}

const codesForm = "planes=%d among=%d rescore=%d exactly=%t of=%d now=%d recall=%f stamp=%d"

func (c codesMeta) String() string {
	if c == (codesMeta{}) {
		return ""
	}
	return fmt.Sprintf(codesForm, c.planes, c.among, c.rescore, c.exactly, c.of, c.now, c.recall, c.stamp)
}

func parseCodes(s string) (c codesMeta, err error) {
	if s == "" {
		return c, nil
	}
	_, err = fmt.Sscanf(s, codesForm, &c.planes, &c.among, &c.rescore, &c.exactly, &c.of, &c.now, &c.recall, &c.stamp)
	if err == nil && (c.planes < 0 || c.planes >= len(step) || c.stamp <= 0 || c.planes > 0 && (c.among < 1 || c.rescore < 1)) {
		err = errors.New("a number is out of its range")
	}
	return c, err
}

// codeTable is chunk_codes in memory, as one transaction left it.
type codeTable struct {
	codesMeta
	coder *coder
	slabs []*slab
	n     int
}

// codeCache holds the table last seen.
type codeCache struct {
	mu    sync.Mutex
	table *codeTable
	// dists lends room for one distance per row.
	dists sync.Pool
}

// get is the table as db sees it; nil if there is none. Of a table that was seen
// before, only the slabs that changed are read.
func (c *codeCache) get(ctx context.Context, db execer, m codesMeta) (*codeTable, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if m.planes == 0 {
		c.table = nil
		return nil, nil
	}
	old := c.table
	if old != nil && old.codesMeta == m {
		return old, nil
	}
	t, err := loadCodes(ctx, db, m, old)
	if err != nil {
		return nil, err
	}
	c.table = t
	return t, nil
}

// loadCodes reads the table; what old has of it is taken from there.
func loadCodes(ctx context.Context, db execer, m codesMeta, old *codeTable) (*codeTable, error) {
	t := &codeTable{codesMeta: m}
	have := map[[2]int64]*slab{}
	if old != nil && old.planes == m.planes {
		for _, s := range old.slabs {
			have[[2]int64{s.number, s.stamp}] = s
		}
	}
	rows, err := db.QueryContext(ctx, "SELECT slab, stamp FROM chunk_codes WHERE slab>=0 ORDER BY slab")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var missing []int64
	for rows.Next() {
		s := &slab{}
		if err := rows.Scan(&s.number, &s.stamp); err != nil {
			return nil, err
		}
		if h := have[[2]int64{s.number, s.stamp}]; h != nil {
			s = h
		} else {
			missing = append(missing, s.number)
		}
		t.slabs = append(t.slabs, s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	if t.coder, err = loadCoder(ctx, db, m.planes); err != nil {
		return nil, err
	}
	return t, t.fill(ctx, db, missing)
}

// fill reads slabs that are not in memory yet.
func (t *codeTable) fill(ctx context.Context, db execer, missing []int64) error {
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
	if int64(t.n) != t.now {
		return fmt.Errorf("%w: there are %d rows, not %d", errCodes, t.n, t.now)
	}
	return nil
}

func readSlabs(ctx context.Context, db execer, numbers []int64, planes, words int) (map[int64]*slab, error) {
	out := make(map[int64]*slab, len(numbers))
	if len(numbers) == 0 {
		return out, nil
	}
	rows, err := db.QueryContext(ctx, "SELECT slab, stamp, codes FROM chunk_codes WHERE slab IN (SELECT value FROM json_each(?))", jsonList(numbers))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var number, stamp int64
		var b sql.RawBytes
		if err := rows.Scan(&number, &stamp, &b); err != nil {
			return nil, err
		}
		if out[number], err = decodeSlab(number, stamp, b, planes, words); err != nil {
			return nil, err
		}
	}
	return out, rows.Err()
}

// loadCoder reads the centre.
func loadCoder(ctx context.Context, db execer, planes int) (*coder, error) {
	var b []byte
	err := db.QueryRowContext(ctx, "SELECT codes FROM chunk_codes WHERE slab=?", centreSlab).Scan(&b)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the centre of the vectors: %w", err)
	}
	if len(b) == 0 || len(b)%4 != 0 {
		return nil, fmt.Errorf("%w: the centre has %d bytes", errCodes, len(b))
	}
	return newCoder(planes, floats(b)), nil
}

// floats reads float32 numbers, little-endian.
func floats(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

func floatBytes(v []float32) []byte {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// codeEdits collects what one transaction changes of chunk_codes.
type codeEdits struct {
	coder *coder
	slabs map[int64][]slabEdit
}

// slabEdit puts an entry, or takes its row out where it has no planes.
type slabEdit struct{ slabEntry }

// editCodes returns edits for a transaction on an index with codes, else nil.
func editCodes(ctx context.Context, tx execer, m *meta) (*codeEdits, error) {
	if m.codes.planes == 0 {
		return nil, nil
	}
	c, err := loadCoder(ctx, tx, m.codes.planes)
	if errors.Is(err, errCodes) {
		return nil, dropCodes(ctx, tx, m)
	}
	return &codeEdits{c, map[int64][]slabEdit{}}, err
}

// put notes that a row has a vector now, drop that it has none. Both do nothing
// where there are no codes.
func (e *codeEdits) put(row, file, id int64, vector []byte) {
	if e != nil {
		e.add(slabEntry{row, file, id, e.coder.encode(floats(vector))})
	}
}

func (e *codeEdits) drop(row int64) {
	if e != nil {
		e.add(slabEntry{row: row})
	}
}

func (e *codeEdits) add(x slabEntry) {
	n := x.row / slabRows
	e.slabs[n] = append(e.slabs[n], slabEdit{x})
}

// save writes the changed slabs, and notes in m that it did.
func (e *codeEdits) save(ctx context.Context, tx execer, m *meta) error {
	if e == nil || len(e.slabs) == 0 {
		return nil
	}
	numbers := make([]int64, 0, len(e.slabs))
	for n := range e.slabs {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	words := e.coder.words
	slabs, err := readSlabs(ctx, tx, numbers, m.codes.planes, words)
	if errors.Is(err, errCodes) {
		return dropCodes(ctx, tx, m)
	}
	if err != nil {
		return err
	}
	m.codes.stamp++
	for _, n := range numbers {
		s := slabs[n]
		if s == nil {
			s = &slab{number: n}
		}
		m.codes.now -= int64(len(s.rows))
		for _, x := range e.slabs[n] {
			if x.planes == nil {
				s.drop(x.row, words)
			} else {
				s.put(x.slabEntry, words)
			}
		}
		m.codes.now += int64(len(s.rows))
		if err := writeSlab(ctx, tx, n, m.codes.stamp, s.encode()); err != nil {
			return err
		}
	}
	clear(e.slabs)
	return nil
}

// writeSlab stores a slab; an empty one goes.
func writeSlab(ctx context.Context, tx execer, number, stamp int64, codes []byte) error {
	if len(codes) == 0 {
		_, err := tx.ExecContext(ctx, "DELETE FROM chunk_codes WHERE slab=?", number)
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO chunk_codes(slab, stamp, codes) VALUES(?, ?, ?)
		ON CONFLICT(slab) DO UPDATE SET stamp=excluded.stamp, codes=excluded.codes`, number, stamp, codes)
	return err
}

// dropCodes forgets the codes and what was measured with them. The count of
// transactions goes on, so that nothing made later is taken for what is gone.
func dropCodes(ctx context.Context, tx execer, m *meta) error {
	had := m.codes.planes > 0
	m.codes = codesMeta{stamp: m.codes.stamp + 1}
	if !had {
		return nil
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM chunk_codes")
	return err
}
