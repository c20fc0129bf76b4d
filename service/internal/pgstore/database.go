package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// database is the interface to the server that a store uses. It is implemented by a pool of
// connections, and in tests by a model of the server.
type database interface {
	Acquire(context.Context) (conn, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	// Reset ends the present connections.
	Reset()
	Close()
}

// conn is one connection.
type conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
	// PID is the server's process for the connection. Server is the time at which the server was
	// started, which identifies it.
	PID() uint32
	Server() int64
	Release()
}

// server is a database of pgx.
type server struct{ *pgxpool.Pool }

func (s server) Acquire(ctx context.Context) (conn, error) {
	c, err := s.Pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	return connection{c}, nil
}

type connection struct{ *pgxpool.Conn }

func (c connection) PID() uint32   { return c.Conn.Conn().PgConn().PID() }
func (c connection) Server() int64 { return serverOf(c.Conn.Conn()) }

// startedKey is where a connection keeps when its server was started.
const startedKey = "memkernel: started"

func serverOf(c *pgx.Conn) int64 {
	started, _ := c.PgConn().CustomData()[startedKey].(int64)
	return started
}

// readServer returns the microsecond in which a connection's server was started. No two servers
// start in the same microsecond.
func readServer(ctx context.Context, c *pgx.Conn) (started int64, err error) {
	// The simple protocol is used because not every pooler keeps prepared statements.
	err = c.QueryRow(ctx, `SELECT (extract(epoch FROM pg_postmaster_start_time())*1000000)::bigint`, pgx.QueryExecModeSimpleProtocol).Scan(&started)
	c.PgConn().CustomData()[startedKey] = started
	return started, err
}
