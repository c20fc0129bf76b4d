// Package drv opens SQLite files through one of two drivers, chosen when the
// program is built:
//
//	default          modernc.org/sqlite with its own sqlite-vec; no C compiler
//	-tags cgo_sqlite mattn/go-sqlite3 (which needs the tag sqlite_fts5 too)
//	                 with asg017/sqlite-vec-go-bindings; faster, needs cgo and
//	                 the header sqlite3.h, which make test-cgo makes from the
//	                 one that the first of the two brings
//
// Both read and write the same files. This package knows connection strings
// and result codes, and no table.
package drv

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Conn holds the common methods of *sql.DB, *sql.Tx and *sql.Conn.
type Conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Each runs a query. For each row it scans the values into the given places and calls row. It ends
// at the first error.
func Each(ctx context.Context, db Conn, into []any, row func() error, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if err := row(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// All returns the rows of a query. The function into returns the places for the values of a row.
func All[T any](ctx context.Context, db Conn, into func(*T) []any, query string, args ...any) (out []T, err error) {
	var t T
	err = Each(ctx, db, into(&t), func() error {
		out = append(out, t)
		return nil
	}, query, args...)
	return out, err
}

// JSONList returns a list of numbers as SQLite's json_each reads it.
func JSONList(numbers []int64) string {
	b := []byte{'['}
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, n, 10)
	}
	return string(append(b, ']'))
}

// Mode is the access that a connection has.
type Mode string

const (
	// Create makes the file if it is missing. Its page size is set and it keeps a rollback
	// journal, so that a finished file has no others next to it.
	Create Mode = "rwc"
	// ReadWrite needs the file to exist and uses a write-ahead log.
	ReadWrite Mode = "rw"
	// ReadOnly never changes the file.
	ReadOnly Mode = "ro"
	// Immutable is ReadOnly without any new file, not even a reader's lock file. Nobody may write the
	// file meanwhile.
	Immutable Mode = "immutable"
	// Memory keeps the data in memory and uses no file. All connections of the process to the same
	// name, which begins with a slash, share the data until the last of them is closed.
	Memory Mode = "memory"
)

// PageSize is the page size of new files, in bytes. Large pages hold a chunk's text in one piece and
// make scans of vectors a quarter faster than the default of 4096 (measured).
const PageSize = 16384

// cacheKiB returns the size of a connection's page cache. SQLite's default of 2 MiB is smaller
// than one block of vectors. Readers have the data that they need repeatedly in memory anyway,
// and there are several of them.
func cacheKiB(mode Mode) string {
	if mode == ReadOnly || mode == Immutable {
		return "4096" // twice as much is no faster
	}
	return "65536"
}

// code is an extended result code of SQLite (sqlite.org/rescode.html). It is 0 for an error without a
// code.
type code int

// is reports whether the primary code of c is one of primary.
func (c code) is(primary ...code) bool { return slices.Contains(primary, c&0xff) }

// Vague reports whether a code does not identify the fault.
func (c code) Vague() bool { return c == 0 || c == 1 }

// Damaged reports a file that is corrupt, no database, or too short. Busy reports a lock that another
// program holds. Full reports a full disk. Unwritable reports a file that can't be written or opened.
func (c code) Damaged() bool    { return c.is(11, 26) || c == 10|2<<8 }
func (c code) Busy() bool       { return c.is(5, 6) }
func (c code) Full() bool       { return c.is(13) }
func (c code) Unwritable() bool { return c.is(8, 14) }

// fileURI returns the URI by which SQLite opens a path in a mode.
func fileURI(path string, mode Mode, params url.Values) string {
	p := filepath.ToSlash(path)
	if filepath.VolumeName(path) != "" {
		p = "/" + p
	}
	params.Set("mode", string(mode))
	switch mode {
	case Immutable:
		params.Set("mode", string(ReadOnly))
		params.Set("immutable", "1")
	case Memory:
		params.Set("mode", string(Create))
		params.Set("vfs", "memdb")
		p = path
	}
	escaped := strings.ReplaceAll(url.PathEscape(p), "%2F", "/")
	return "file:" + escaped + "?" + params.Encode()
}

// Driver is the name of the driver that this program was built with: sqlite3 is a binding to C.
const Driver = driver

// Open prepares connections to the file at path; the file is touched on first
// use. busy is how long a statement waits for another process's lock.
func Open(path string, mode Mode, busy time.Duration) (*sql.DB, error) {
	v := url.Values{}
	v.Set("_busy_timeout", strconv.FormatInt(busy.Milliseconds(), 10))
	v.Set("_cache_size", "-"+cacheKiB(mode)) // for the one driver
	v.Set("_pragma", "cache_size(-"+cacheKiB(mode)+")")
	if mode == ReadWrite {
		v.Set("_journal_mode", "WAL")
		v.Set("_synchronous", "NORMAL")
	}
	if mode == ReadWrite || mode == Memory {
		// A transaction that takes the write lock only after a read fails at once if another
		// connection has written in between, whatever the timeout. So it takes the lock at its start.
		v.Set("_txlock", "immediate")
	}
	db, err := sql.Open(driver, fileURI(path, mode, v))
	if err != nil || mode != Create {
		return db, err
	}
	// The page size must be chosen before the first table.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA page_size=" + strconv.Itoa(PageSize)); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// Code returns the result code of an error.
func Code(err error) code { return codeOf(err) }
