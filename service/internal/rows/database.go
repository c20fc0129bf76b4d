package rows

import (
	"context"
	"fmt"
	"hash/crc32"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// database is the server as a store uses it: a pool of connections, and in tests a model of the
// server.
type database interface {
	// Ask runs a statement as a transaction of its own, and calls row with each row of its answer.
	Ask(ctx context.Context, s *statement, args []any, row func(scan func(into ...any) error) error) error
	Close()
}

// statement is a statement that a store sends to a server. In its text, $S is the schema of the
// tables.
type statement struct {
	name string // for messages
	text string
	// answer has the types of the columns, if the server keeps the statement as a function. Each
	// of its connections then plans it once, whoever uses the connection.
	answer []string
}

// function is the name of the statement's function. Statements with other texts have others.
func (s *statement) function() string {
	return fmt.Sprintf("%s_%08x", s.name, crc32.ChecksumIEEE([]byte(s.text)))
}

var parameter = regexp.MustCompile(`\$([0-9]+)::([a-z]+(\[\])?)`)

// parameters returns the types of the statement's parameters.
func (s *statement) parameters() []string {
	types := map[int]string{}
	for _, p := range parameter.FindAllStringSubmatch(s.text, -1) {
		n, _ := strconv.Atoi(p[1]) // which are digits
		types[n] = p[2]
	}
	var out []string
	for n := range len(types) {
		out = append(out, types[n+1])
	}
	return out
}

// create is the statement that makes the function.
func (s *statement) create() string {
	var columns []string
	for i, t := range s.answer {
		columns = append(columns, fmt.Sprintf("column%d %s", i+1, t))
	}
	return "CREATE FUNCTION $S." + s.function() + "(" + strings.Join(s.parameters(), ", ") + ") RETURNS TABLE(" + strings.Join(columns, ", ") + ") LANGUAGE plpgsql AS $function$ BEGIN RETURN QUERY " + s.text + "; END $function$"
}

// call is what is sent to the server.
func (s *statement) call() string {
	if s.answer == nil {
		return s.text
	}
	var args []string
	for i := range s.parameters() {
		args = append(args, fmt.Sprintf("$%d", i+1))
	}
	return "SELECT * FROM $S." + s.function() + "(" + strings.Join(args, ", ") + ")"
}

// server is a database of pgx.
type server struct {
	*pgxpool.Pool
	schema string
	texts  map[*statement]string
}

func newServer(pool *pgxpool.Pool, schema string) server {
	s := server{pool, schema, map[*statement]string{}}
	for _, st := range statements {
		s.texts[st] = strings.ReplaceAll(st.call(), "$S", schema)
	}
	return s
}

func (s server) Ask(ctx context.Context, st *statement, args []any, row func(scan func(into ...any) error) error) error {
	rows, err := s.Query(ctx, s.texts[st], args...)
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

// pauses has the wait before each attempt to send a statement whose connection dies.
var pauses = []time.Duration{0, 20 * time.Millisecond, 500 * time.Millisecond}

// statementTimeout is how long a statement may take.
const statementTimeout = 30 * time.Second

// ask runs a statement, and again if its connection dies. Each attempt calls begin before its
// rows. unsure reports that an answer was lost, so that the statement may have been done more than
// once.
func (c *core) ask(s *statement, at string, args []any, begin func(), row func(scan func(into ...any) error) error) (unsure bool, err error) {
	for _, pause := range pauses {
		time.Sleep(pause)
		if begin != nil {
			begin()
		}
		ctx, cancel := context.WithTimeout(context.Background(), statementTimeout)
		err = c.db.Ask(ctx, s, append([]any{c.tenant}, args...), row)
		cancel()
		unsure = unsure || err != nil && lost(err)
		if err == nil || !lost(err) && !again(err) {
			break
		}
	}
	return unsure, c.explain(s.name, c.where(at), err)
}

// one is ask for a statement whose answer is one row.
func (c *core) one(s *statement, at string, args []any, into ...any) (unsure bool, err error) {
	return c.ask(s, at, args, nil, func(scan func(...any) error) error { return scan(into...) })
}
