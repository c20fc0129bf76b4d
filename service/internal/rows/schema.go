package rows

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

//go:embed schema/0001_rows.sql
var first string

//go:embed schema/0002_logs.sql
var second string

// migrations are the steps to this program's tables and functions, in the schema $S. A released step
// must never be changed.
var migrations = []string{first, second}

// schemaLock keeps two programs from making the tables at once: "mkrw" as the key of an
// advisory lock.
const schemaLock = 0x6d6b7277

// leastServer is the oldest version of PostgreSQL that this package was tested with, in the form of
// server_version_num.
const leastServer = 150000

// migrate runs those of migrations that the schema lacks, in one transaction.
func migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	n, err := schemaVersion(ctx, pool, schema)
	if err != nil || n == len(migrations) {
		return err
	}
	return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1::bigint)`, int64(schemaLock)); err != nil {
			return err
		}
		for _, q := range []string{`CREATE SCHEMA IF NOT EXISTS ` + schema, `SET LOCAL search_path = '` + schema + `'`,
			`CREATE TABLE IF NOT EXISTS versions(version int PRIMARY KEY, time timestamptz NOT NULL DEFAULT now())`} {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		n, err := schemaVersion(ctx, tx, schema)
		for ; err == nil && n < len(migrations); n++ {
			if _, err := tx.Conn().PgConn().Exec(ctx, strings.ReplaceAll(migrations[n], "$S", schema)).ReadAll(); err != nil {
				return fmt.Errorf("schema version %d: %w", n+1, err)
			}
			_, err = tx.Exec(ctx, `INSERT INTO versions(version) VALUES($1::int)`, n+1)
		}
		return err
	})
}

type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// schemaVersion returns the version of the tables, or 0 if there are no tables.
func schemaVersion(ctx context.Context, db querier, schema string) (n int, err error) {
	var server int
	var there bool
	err = db.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, to_regclass($1::text) IS NOT NULL`, schema+".versions").Scan(&server, &there)
	if err == nil && server < leastServer {
		err = &failure{kind: ErrSchema, hint: "name a server of PostgreSQL 15 or newer", err: fmt.Errorf("the server is of version %d.%d", server/10000, server%10000)}
	}
	if err != nil || !there {
		return 0, err
	}
	err = db.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM `+schema+`.versions`).Scan(&n)
	if err == nil && n > len(migrations) {
		err = &failure{kind: ErrSchema, hint: "upgrade memkernel on this machine, or name another database",
			err: fmt.Errorf("the tables are of version %d, and this program knows %d", n, len(migrations))}
	}
	return n, err
}
