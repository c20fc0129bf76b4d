//go:build !cgo_sqlite

package drv

import (
	"database/sql"
	"errors"
	"strconv"
	"time"

	"modernc.org/sqlite"
	_ "modernc.org/sqlite/vec" // registers sqlite-vec with every connection
)

// Name is the driver that this program was built with.
const Name = "modernc"

// Open prepares connections to the file at path; the file is touched on first
// use. busy is how long a statement waits for another process's lock.
func Open(path string, mode Mode, busy time.Duration) (*sql.DB, error) {
	v := common(mode, busy)
	v.Add("_pragma", "cache_size(-"+cacheKiB(mode)+")")
	if mode == Create {
		v.Add("_pragma", "page_size("+strconv.Itoa(PageSize)+")")
	}
	return sql.Open("sqlite", fileURI(path, mode, v))
}

// Code returns the result code of an error.
func Code(err error) code {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return code(e.Code())
	}
	return 0
}
