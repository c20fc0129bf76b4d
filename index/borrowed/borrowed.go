// Package borrowed opens SQLite files of other programs for reading, never for writing, with the
// driver that this program was built with. It knows no table of these files.
package borrowed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// Magic is the beginning of every SQLite file.
const Magic = "SQLite format 3\x00"

// wait is how long a statement waits for the program that owns the file.
const wait = 5 * time.Second

// Open opens the file at path. Reading a file with a write-ahead log needs a writable folder. If
// the folder is not writable, Open reads the file without its log.
func Open(ctx context.Context, path string) (*sql.DB, error) {
	db, err := open(ctx, path, drv.ReadOnly)
	if code := drv.Code(err) & 0xff; code == drv.CodeCantOpen || code == drv.CodeReadOnly {
		db, err = open(ctx, path, drv.Immutable)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, Plain(err))
	}
	return db, nil
}

func open(ctx context.Context, path string, mode drv.Mode) (*sql.DB, error) {
	db, err := drv.Open(path, mode, wait)
	if err != nil {
		return nil, err
	}
	var n int
	if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&n); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Plain describes the fault of a file in words, where SQLite has codes.
func Plain(err error) error {
	switch drv.Code(err) & 0xff {
	case drv.CodeCorrupt, drv.CodeNotADB:
		return errors.New("the database is damaged")
	case drv.CodeBusy, drv.CodeLocked:
		return errors.New("another program is writing to the database: try again")
	}
	return err
}

// Columns returns the columns of a table by name. The result is empty if there is no such table.
func Columns(ctx context.Context, db *sql.DB, table string) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info(?)", table)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[string]bool{}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		out[strings.ToLower(name)] = true
	}
	return out, rows.Err()
}
