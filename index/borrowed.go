package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// BorrowedMagic is the beginning of every SQLite file.
const BorrowedMagic = "SQLite format 3\x00"

// borrowedWait is how long a statement waits for the program that owns the file.
const borrowedWait = 5 * time.Second

// borrowed is an SQLite file of another program.
type borrowed struct{ *sql.DB }

// OpenBorrowed opens an SQLite file of another program for reading, never for writing, with the
// driver that this program was built with. It knows no table of the file. Reading a file with a
// write-ahead log needs a writable folder. If the folder is not writable, OpenBorrowed reads the
// file without its log.
func OpenBorrowed(ctx context.Context, path string) (b borrowed, err error) {
	for _, mode := range []drv.Mode{drv.ReadOnly, drv.Immutable} {
		if b.DB, err = drv.Open(path, mode, borrowedWait); err != nil {
			break
		}
		var n int
		if err = b.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err == nil {
			return b, nil
		}
		b.Close()
		if !drv.Code(err).Unwritable() {
			break
		}
	}
	return b, fmt.Errorf("open %s: %w", path, b.Plain(err))
}

// Plain returns err, or an error that says in words what SQLite's code means: damaged, or busy.
func (borrowed) Plain(err error) error {
	switch code := drv.Code(err); {
	case code.Damaged():
		return errors.New("the database is damaged")
	case code.Busy():
		return errors.New("another program is writing to the database: try again")
	}
	return err
}

// Columns returns the columns of a table by name. The result is empty if there is no such table.
func (b borrowed) Columns(ctx context.Context, table string) (map[string]bool, error) {
	out, name := map[string]bool{}, ""
	err := drv.Each(ctx, b.DB, []any{&name}, func() error {
		out[strings.ToLower(name)] = true
		return nil
	}, "SELECT name FROM pragma_table_info(?)", table)
	return out, err
}
