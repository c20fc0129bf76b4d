package pgstore

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// database is what a store asks: the connections to a server, or in tests a model of one.
type database interface {
	Acquire(context.Context) (conn, error)
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	// Reset ends the connections that are there.
	Reset()
	Close()
}

// conn is one connection.
type conn interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	SendBatch(context.Context, *pgx.Batch) pgx.BatchResults
	// PID names the server's side of it.
	PID() uint32
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

func (c connection) PID() uint32 { return c.Conn.Conn().PgConn().PID() }
