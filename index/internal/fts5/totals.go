package fts5

import (
	"context"
	"database/sql"
	"errors"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// SQLite before 3.54 forgets, when a row is deleted from a contentless full-text table, to take
// its words off the totals from which bm25 has the number and the mean length of the chunks
// (fts5StorageContentlessDelete). With every change scores would drift away from those of a fresh
// index. If such a version writes, the totals are corrected in the same transaction.

// Mend writes the totals anew if the SQLite of tx gets them wrong. They are in the first row of
// chunks_fts_data: the number of rows, then the number of words in each column, each a varint;
// chunks_fts_docsize has the same for every row. Releasing a savepoint makes the full-text module
// write out its data in memory.
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

// varint reads one of SQLite's variable-length integers: seven bits to a byte,
// the highest first. n is 0 if b holds none. The ninth byte, which would carry
// eight bits, is never reached by counts.
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
