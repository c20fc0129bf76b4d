//go:build !unix

package pgtest

import "errors"

// Start starts no server: on this system none is tried.
func Start(...string) (dsn string, stop func(), err error) {
	return "", nil, errors.New("no server is started on this system")
}
