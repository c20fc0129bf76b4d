package rows

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// The kinds of a failure.
var (
	errUnreachable = errors.New("the database can't be reached")
	errRefused     = errors.New("the database refuses")
	ErrFull        = errors.New("the database's disk is full")
	errReadOnly    = errors.New("the database can't be written to")
	errBusy        = errors.New("the database is busy")
	ErrSchema      = errors.New("the database does not fit this program")
)

// failure is a failure of a database and how to fix it. No message holds the password.
type failure struct {
	// op is the operation. place is the database and the name of the operation.
	op, place string
	// kind is one of the errors of this package.
	kind error
	hint string
	err  error

	password string
}

func (e *failure) Error() string {
	s := e.kind.Error() + ": " + pgdsn.Masked(e.err.Error(), e.password) + "; " + e.hint
	if e.op != "" {
		s = e.op + " " + e.place + ": " + s
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *failure) Unwrap() []error {
	out := []error{e.kind, e.err, store.ErrOutOfReach}
	if e.kind == ErrFull || e.kind == errReadOnly {
		out = append(out, store.ErrReadOnly)
	}
	if e.kind == errUnreachable || e.kind == errBusy {
		out = append(out, store.ErrAgain)
	}
	return out
}

// codes is the table of kinds and hints for [pgdsn.FaultOf].
var codes = map[string]pgdsn.Fault{
	"28":    {errRefused, "see that user and password in the DSN are right"},
	"3D000": {errRefused, "make the database, or name another in the DSN"},
	"42501": {errRefused, "give the user the right to create a schema and tables, or to use those that are there"},
	"42P01": {ErrSchema, "open it again: the tables are made anew if somebody took them away"},
	"3F000": {ErrSchema, "open it again: the tables are made anew if somebody took them away"},
	"42":    {ErrSchema, "another program has changed the tables: restore them from a backup, or name another database"},
	"53100": {ErrFull, "free some space on the server and try again; what was written before stands"},
	"53":    {errBusy, "the server is out of connections or memory: try again, or give it more"},
	"25006": {errReadOnly, "name a server that can be written to, not a standby"},
	"57014": {errBusy, "a statement took too long: see what keeps the server busy, and try again"},
	"55P03": {errBusy, "try again"},
	"40":    {errBusy, "try again"},
	"57P":   {errUnreachable, "try again when the server is up"},
	"08":    {errUnreachable, "try again when the server is up"},

	"server": {errRefused, "see the server's log"},
	"late":   {errUnreachable, "it took too long to answer: see what keeps the server or the network busy, and try again"},
	"tls":    {errUnreachable, "have the server speak TLS, or put sslmode=disable into the DSN where nobody else can listen"},
	"":       {errUnreachable, "see that the server runs and the DSN names it rightly"},
}

// explain wraps an error of the server or of the connection. It adds the operation, the place and a
// hint how to fix the error.
func (c *core) explain(op, place string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if done, ok := errors.AsType[*failure](err); ok {
		if done.op == "" {
			done.op, done.place, done.password = op, place, c.password
		}
		return done
	}
	f := pgdsn.FaultOf(err, codes)
	return &failure{op, place, f.Kind, f.Hint, err, c.password}
}

// again reports whether the server rolled back a statement that may be run again unchanged.
func again(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01")
}
