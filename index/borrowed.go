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

// OpenBorrowed opens an SQLite file of another program for reading, never for writing, with the
// driver that this program was built with. It knows no table of the file. Reading a file with a
// write-ahead log needs a writable folder. If the folder is not writable, OpenBorrowed reads the
// file without its log.
func OpenBorrowed(ctx context.Context, path string) (*sql.DB, error) {
	db, err := openBorrowed(ctx, path, drv.ReadOnly)
	if code := drv.Code(err) & 0xff; code == drv.CodeCantOpen || code == drv.CodeReadOnly {
		db, err = openBorrowed(ctx, path, drv.Immutable)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, PlainBorrowed(err))
	}
	return db, nil
}

func openBorrowed(ctx context.Context, path string, mode drv.Mode) (*sql.DB, error) {
	db, err := drv.Open(path, mode, borrowedWait)
	if err != nil {
		return nil, err
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// PlainBorrowed describes the fault of a file in words, where SQLite has codes.
func PlainBorrowed(err error) error {
	switch drv.Code(err) & 0xff {
	case drv.CodeCorrupt, drv.CodeNotADB:
		return errors.New("the database is damaged")
	case drv.CodeBusy, drv.CodeLocked:
		return errors.New("another program is writing to the database: try again")
	}
	return err
}

// BorrowedColumns returns the columns of a table by name. The result is empty if there is no such
// table.
func BorrowedColumns(ctx context.Context, db *sql.DB, table string) (map[string]bool, error) {
	out, name := map[string]bool{}, ""
	err := drv.Each(ctx, db, []any{&name}, func() error {
		out[strings.ToLower(name)] = true
		return nil
	}, "SELECT name FROM pragma_table_info(?)", table)
	return out, err
}
