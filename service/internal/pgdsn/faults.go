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

// FaultOf finds the fault of an error in a table. A server's error is found by its code. A code of
// fewer than five characters covers all codes that begin with it (PostgreSQL's manual, appendix A),
// and "server" covers all codes. Of the other errors, "late" covers those of a server that did not
// answer in time, "tls" those of one without TLS, "lost" those for which [Lost] is true, and ""
// covers all. An error that the table does not cover has no fault.
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
