package pgdsn

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// Fault is the kind of an error, and a hint how to fix it.
type Fault = struct {
	Kind error
	Hint string
}

// FaultOf returns the entry of a table for an error, or the zero Fault if the table has none. For a
// server's error the keys are codes of PostgreSQL (its manual, appendix A). A key of two or three
// characters covers all codes that begin with it, the key "server" covers all codes, and the longest
// code that fits has precedence. For other errors the keys are, the first one that fits having
// precedence:
//
//	late   the server did not answer in time
//	tls    the server has no TLS
//	lost   [Lost] is true
//	""     any other error
func FaultOf(err error, table map[string]Fault) Fault {
	keys := []string{""}
	if Lost(err) {
		keys = append(keys, "lost")
	}
	if strings.HasSuffix(err.Error(), noTLS) {
		keys = append(keys, "tls")
	}
	if errors.Is(err, context.DeadlineExceeded) {
		keys = append(keys, "late")
	}
	if pg := (*pgconn.PgError)(nil); errors.As(err, &pg) {
		keys = []string{"server", pg.Code[:min(2, len(pg.Code))], pg.Code[:min(3, len(pg.Code))], pg.Code}
	}
	for _, k := range slices.Backward(keys) {
		if f, ok := table[k]; ok {
			return f
		}
	}
	return Fault{}
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
