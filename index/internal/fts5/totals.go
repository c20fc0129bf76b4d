package fts5

import (
	"context"
	"database/sql"
	"errors"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// When a row is deleted from a contentless full-text table, SQLite before 3.54 does not subtract its
// words from the totals (fts5StorageContentlessDelete). bm25 computes the number and the mean length
// of the chunks from these totals, so scores would differ more and more from those of a new index. If
// such a version writes, the totals are corrected in the same transaction.

// Mend corrects the totals if the SQLite version of tx needs it. The totals are in the first row of
// chunks_fts_data: varints with the number of rows and the number of words in each column.
// chunks_fts_docsize has the number of words for every row. Releasing a savepoint makes the full-text
// module write its data from memory.
func Mend(ctx context.Context, tx drv.Conn) error {
	var old bool
	err := tx.QueryRowContext(ctx, `SELECT CAST(substr(v, 1, instr(v, '.')-1) AS INTEGER)*1000
		+ CAST(substr(v, instr(v, '.')+1) AS REAL) < 3054 FROM (SELECT sqlite_version() AS v)`).Scan(&old)
	if err != nil || !old {
		return err
	}
	return mendTotals(ctx, tx)
}

func mendTotals(ctx context.Context, tx drv.Conn) error {
	for _, q := range []string{"SAVEPOINT totals", "RELEASE totals"} {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	var totals [5]uint64 // rows, then the four columns
	var sz sql.RawBytes
	err := drv.Each(ctx, tx, []any{&sz}, func() error {
		r := numbers{b: sz}
		totals[0]++
		for i := range totals[1:] {
			totals[1+i] += r.next()
		}
		if r.bad {
			return errors.New("the lengths of a chunk can't be read")
		}
		return nil
	}, "SELECT sz FROM chunks_fts_docsize")
	if err != nil {
		return err
	}
	var block []byte
	for _, v := range totals {
		block = appendVarint(block, v)
	}
	_, err = tx.ExecContext(ctx, "UPDATE chunks_fts_data SET block=? WHERE id=1", block)
	return err
}

// varint reads one of SQLite's variable-length integers, which have seven bits in a byte, the highest
// first. n is its size, or 0 if b has none. Counts never need the ninth byte, which would have eight
// bits.
func varint(b []byte) (v uint64, n int) {
	for n < len(b) && n < 8 {
		v = v<<7 | uint64(b[n]&0x7f)
		n++
		if b[n-1] < 0x80 {
			return v, n
		}
	}
	return 0, 0
}

func appendVarint(b []byte, v uint64) []byte {
	var tmp [10]byte
	i := len(tmp) - 1
	tmp[i] = byte(v & 0x7f)
	for v >>= 7; v > 0; v >>= 7 {
		i--
		tmp[i] = byte(v&0x7f) | 0x80
	}
	return append(b, tmp[i:]...)
}
