package pgdsn

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fault is the kind of an error, and a hint how to fix it.
type Fault = struct {
	Kind error
	Hint string
}

// FaultOf finds the fault of a server's error by its code. A code of fewer than five characters
// covers all codes that begin with it (PostgreSQL's manual, appendix A). server reports whether the
// error is a server's.
func FaultOf(err error, codes map[string]Fault) (f Fault, server bool) {
	var pg *pgconn.PgError
	if !errors.As(err, &pg) {
		return f, false
	}
	for _, n := range []int{2, 3, 5} {
		if c, ok := codes[pg.Code[:min(n, len(pg.Code))]]; ok {
			f = c
		}
	}
	return f, true
}

// Lost reports whether the connection was lost or could not be made, so that it is unknown whether
// the server ran the statement.
func Lost(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return len(pg.Code) == 5 && (pg.Code[:2] == "08" || pg.Code[:3] == "57P")
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return pgconn.SafeToRetry(err) || errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}
