package rows

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// database sends statements to a server. It is a pool of connections, or in tests a model of the
// server.
type database interface {
	// Ask runs a statement as a transaction of its own, and calls row with each row of its answer.
	Ask(ctx context.Context, s *statement, args []any, row func(scanner) error) error
	Close()
}

// scanner reads the columns of a row.
type scanner = func(into ...any) error

// statement is a statement that a store sends to a server. In its text, $S is the schema of the
// tables.
type statement struct {
	name string // for messages
	text string
}

// server is a database that uses pgx's pool of connections.
type server struct {
	*pgxpool.Pool
	schema string
}

func (s server) Ask(ctx context.Context, st *statement, args []any, row func(scanner) error) error {
	rows, err := s.Query(ctx, strings.ReplaceAll(st.text, "$S", s.schema), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// pauses has the pause before each attempt to run a statement. After a lost connection, or an error
// for which again is true, the next attempt follows.
var pauses = []time.Duration{0, 20 * time.Millisecond, 500 * time.Millisecond}

// statementTimeout is how long a statement may take.
const statementTimeout = 30 * time.Second

// ask runs a statement and returns the rows, as read scans them. If the connection dies, it runs the
// statement again. unsure reports that an answer was lost, so that the statement may have been run
// more than once.
func ask[T any](c *core, s *statement, at string, args []any, read func(scan scanner, into *T) error) (rows []T, unsure bool, err error) {
	for _, pause := range pauses {
		time.Sleep(pause)
		rows = nil
		ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
		err = c.db.Ask(ctx, s, append([]any{c.tenant}, args...), func(scan scanner) error {
			rows = append(rows, *new(T))
			return read(scan, &rows[len(rows)-1])
		})
		cancel()
		lost := err != nil && pgdsn.Lost(err)
		unsure = unsure || lost
		if err == nil || !lost && !again(err) {
			break
		}
	}
	if err != nil {
		return nil, unsure, c.explain(s.name, c.where(at), err)
	}
	return rows, unsure, nil
}

// one is ask for a statement whose answer has at most one row, which it scans into into.
func (c *core) one(s *statement, at string, args []any, into ...any) (unsure bool, err error) {
	_, unsure, err = ask(c, s, at, args, func(scan scanner, _ *struct{}) error { return scan(into...) })
	return unsure, err
}
