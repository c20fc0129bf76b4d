//go:build cgo_sqlite

package drv

import (
	"cmp"
	"database/sql"
	"errors"
	"strconv"
	"sync"
	"time"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"
)

// Name is the driver that this program was built with.
const Name = "mattn"

// withVec registers sqlite-vec with every later connection of the process.
var withVec = sync.OnceFunc(vec.Auto)

// Open prepares connections to the file at path; the file is touched on first
// use. busy is how long a statement waits for another process's lock.
func Open(path string, mode Mode, busy time.Duration) (*sql.DB, error) {
	withVec()
	v := common(mode, busy)
	v.Set("_cache_size", "-"+cacheKiB(mode))
	db, err := sql.Open("sqlite3", fileURI(path, mode, v))
	if err != nil || mode != Create {
		return db, err
	}
	// This driver has no setting for the page size, which must be chosen
	// before the first table.
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("PRAGMA page_size=" + strconv.Itoa(PageSize)); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// Code returns the result code of an error.
func Code(err error) code {
	var e sqlite3.Error
	errors.As(err, &e)
	return cmp.Or(code(e.ExtendedCode), code(e.Code))
}
