//go:build cgo_sqlite

package drv

import (
	"cmp"
	"errors"

	vec "github.com/asg017/sqlite-vec-go-bindings/cgo"
	"github.com/mattn/go-sqlite3"
)

const driver = "sqlite3"

func init() { vec.Auto() } // registers sqlite-vec with every later connection

func codeOf(err error) code {
	var e sqlite3.Error
	errors.As(err, &e)
	return cmp.Or(code(e.ExtendedCode), code(e.Code))
}
