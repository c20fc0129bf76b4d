package rows

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// The kinds of an [Error].
var (
	ErrUnreachable = errors.New("the database can't be reached")
	ErrRefused     = errors.New("the database refuses")
	ErrFull        = errors.New("the database's disk is full")
	errReadOnly    = errors.New("the database can't be written to")
	errBusy        = errors.New("the database is busy")
	ErrSchema      = errors.New("the database does not fit this program")
	ErrNotMoved    = errors.New("the state is in the tables of an earlier version")
)

// Error describes a failure of a database and how to fix it. No message holds the password.
type Error struct {
	// Op is the operation. Place is the database and the name of the operation.
	Op, Place string
	// Kind is one of the errors of this package.
	Kind error
	Hint string
	Err  error

	password string
}

func (e *Error) Error() string {
	s := e.Kind.Error() + ": " + pgdsn.Masked(e.Err.Error(), e.password) + "; " + e.Hint
	if e.Op != "" {
		s = e.Op + " " + e.Place + ": " + s
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	out := []error{e.Kind, e.Err, store.ErrOutOfReach}
	if e.Kind == ErrFull || e.Kind == errReadOnly {
		out = append(out, store.ErrReadOnly)
	}
	if e.Kind == ErrUnreachable || e.Kind == errBusy {
		out = append(out, store.ErrAgain)
	}
	return out
}

// codes maps the server's codes to kinds and hints. A code of fewer than five characters covers
// all codes that begin with it (PostgreSQL's manual, appendix A).
var codes = map[string]struct {
	kind error
	hint string
}{
	"28":    {ErrRefused, "see that user and password in the DSN are right"},
	"3D000": {ErrRefused, "make the database, or name another in the DSN"},
	"42501": {ErrRefused, "give the user the right to create a schema and tables, or to use those that are there"},
	"42P01": {ErrSchema, "open it again: the tables are made anew if somebody took them away"},
	"3F000": {ErrSchema, "open it again: the tables are made anew if somebody took them away"},
	"42701": {ErrSchema, "another program has changed the tables: restore them from a backup, or name another database"},
	"42P07": {ErrSchema, "another program has changed the tables: restore them from a backup, or name another database"},
	"42703": {ErrSchema, "another program has changed the tables: restore them from a backup, or name another database"},
	"53100": {ErrFull, "free some space on the server and try again; what was written before stands"},
	"53":    {errBusy, "the server is out of connections or memory: try again, or give it more"},
	"25006": {errReadOnly, "name a server that can be written to, not a standby"},
	"57014": {errBusy, "a statement took too long: see what keeps the server busy, and try again"},
	"55P03": {errBusy, "try again"},
	"40":    {errBusy, "try again"},
	"57P":   {ErrUnreachable, "try again when the server is up"},
	"08":    {ErrUnreachable, "try again when the server is up"},
}

// explain wraps an error of the server or the connection with the operation and a hint how to fix
// it.
func (c *core) explain(op, place string, err error) error {
	var done *Error
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if errors.As(err, &done) {
		if done.Op == "" {
			done.Op, done.Place, done.password = op, place, c.password
		}
		return done
	}
	kind, hint := classify(err)
	return &Error{Op: op, Place: place, Kind: kind, Hint: hint, Err: err, password: c.password}
}

//lint:ignore ST1008 the kind is what the error is, not how classifying failed
func classify(err error) (kind error, hint string) {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		for _, n := range []int{5, 3, 2} {
			if c, ok := codes[pg.Code[:min(n, len(pg.Code))]]; ok {
				return c.kind, c.hint
			}
		}
		return ErrRefused, "see the server's log"
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return ErrUnreachable, "it took too long to answer: see what keeps the server or the network busy, and try again"
	}
	if strings.HasSuffix(err.Error(), pgdsn.NoTLS) {
		return ErrUnreachable, "have the server speak TLS, or put sslmode=disable into the DSN where nobody else can listen"
	}
	return ErrUnreachable, "see that the server runs and the DSN names it rightly"
}

// lost reports whether the connection was lost, so that it is unknown whether the server ran the
// statement.
func lost(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return len(pg.Code) == 5 && (pg.Code[:2] == "08" || pg.Code[:3] == "57P")
	}
	var network net.Error
	return pgconn.SafeToRetry(err) || errors.As(err, &network) || errors.Is(err, context.DeadlineExceeded) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed)
}

// again reports whether the server undid a statement that may be run again without a change.
func again(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
