//go:build !cgo_sqlite

package drv

import (
	"errors"

	"modernc.org/sqlite"
	_ "modernc.org/sqlite/vec" // registers sqlite-vec with every connection
)

const driver = "sqlite"

// Code returns the result code of an error.
func Code(err error) code {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return code(e.Code())
	}
	return 0
}
