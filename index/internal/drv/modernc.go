//go:build !cgo_sqlite

package drv

import (
	"errors"

	"modernc.org/sqlite"
	_ "modernc.org/sqlite/vec" // registers sqlite-vec with every connection
)

const driver = "sqlite"

func codeOf(err error) code {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return code(e.Code())
	}
	return 0
}
