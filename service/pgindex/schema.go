package pgindex

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// migrations creates the tables, version by version. The table settings holds the number of
// migrations that were run. A released migration must never be changed.
var migrations = []string{
	`CREATE TABLE spaces(
		id serial PRIMARY KEY,
		workspace text NOT NULL,
		agent text NOT NULL,
		generation bigint NOT NULL DEFAULT 0,  -- counts the transactions that changed it
		chunker text NOT NULL DEFAULT '',      -- the rules by which its files were cut
		model integer,                         -- whose vectors are in use
		UNIQUE(workspace, agent)
	);
	CREATE TABLE scopes(
		id serial PRIMARY KEY,
		space integer NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
		private boolean NOT NULL,              -- seen by the space's own agent alone
		UNIQUE(space, private)
	);
	CREATE TABLE files(
		id bigserial PRIMARY KEY,
		space integer NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
		scope integer NOT NULL REFERENCES scopes(id) ON DELETE CASCADE,
		path text COLLATE "C" NOT NULL,
		size bigint NOT NULL,
		mtime bigint NOT NULL,                 -- ns since 1970
		hash bytea NOT NULL,                   -- of its chunks; empty if never read
		chunks integer NOT NULL,
		again boolean NOT NULL,                -- read it next time, whatever its stat
		analysis integer NOT NULL,             -- the rules that made its words
		UNIQUE(space, path)
	);
	CREATE INDEX files_scope ON files(scope);
	CREATE SEQUENCE chunk_row;
	CREATE TABLE chunks(
		row bigint PRIMARY KEY DEFAULT nextval('chunk_row'),
		file bigint NOT NULL REFERENCES files(id) ON DELETE CASCADE,
		scope integer NOT NULL,
		seq integer NOT NULL,                  -- place in the file, from 0
		id text NOT NULL,
		hash bytea NOT NULL,                   -- sha256 of trail and body
		start_line integer NOT NULL,
		end_line integer NOT NULL,
		tokens integer NOT NULL,
		words integer NOT NULL,                -- length by words, of all fields
		lang text NOT NULL,
		date text NOT NULL,
		trail bytea NOT NULL,                  -- one heading per line; bytes, since
		keywords bytea NOT NULL,               -- a text of PostgreSQL can't hold all
		body bytea NOT NULL                    -- that a file can
	);
	CREATE INDEX chunks_file ON chunks(file, seq);
	CREATE INDEX chunks_hash ON chunks(hash);
	CREATE INDEX chunks_scope ON chunks(scope);
	CREATE TABLE postings(
		chunk bigint NOT NULL,
		scope integer NOT NULL,
		tf real NOT NULL,                      -- how often, weighted by field
		words integer NOT NULL,                -- the chunk's
		term text COLLATE "C" NOT NULL
	);
	CREATE INDEX postings_term ON postings(term, scope);
	CREATE INDEX postings_chunk ON postings(chunk);`,
}

// vectorTables creates the tables that need the extension, which may be installed later than the
// other tables.
const vectorTables = `CREATE TABLE IF NOT EXISTS models(
		id serial PRIMARY KEY,
		name text NOT NULL,
		dim integer NOT NULL,
		UNIQUE(name, dim)
	);
	CREATE TABLE IF NOT EXISTS embeddings(
		workspace text NOT NULL,
		model integer NOT NULL REFERENCES models(id),
		hash bytea NOT NULL,
		vector vector NOT NULL,                -- length 1
		PRIMARY KEY(workspace, model, hash)
	)`

// schemaLock keeps two programs from making the tables at once: "mkix" as the key
// of an advisory lock.
const schemaLock = 0x6d6b6978

// schemaVersion returns how many migrations were run, or ErrMissing if none was run.
func schemaVersion(ctx context.Context, st *site, db querier) (int, error) {
	var there bool
	err := db.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL`, st.opts.Schema+".settings").Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	var text string
	if err := db.QueryRow(ctx, `SELECT value FROM settings WHERE key='schema'`).Scan(&text); err != nil {
		if errors.Is(err, pgx.ErrNoRows) {
			return 0, nil
		}
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, index.Problem("open index", st.place, index.ErrDamaged, fmt.Errorf("schema version %q", text))
	}
	if n > len(migrations) {
		return n, index.Problem("open index", st.place, index.ErrNewer, fmt.Errorf("schema version %d, this program knows %d", n, len(migrations)))
	}
	return n, nil
}

// migrate brings the tables to this program's version in one transaction. The transaction begins
// after the lock was taken. In a transaction that has waited for the lock, the server may not see
// tables that somebody else created meanwhile.
func migrate(ctx context.Context, st *site) error {
	conn, err := st.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	s := &syncer{site: st, conn: conn, key: schemaLock}
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_lock($1::bigint)`, s.key); err != nil {
		conn.Release()
		return err
	}
	defer s.release()
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		n, err := schemaVersion(ctx, st, tx)
		if err != nil {
			return err
		}
		for _, q := range append([]string{
			`CREATE SCHEMA IF NOT EXISTS ` + st.opts.Schema,
			`CREATE TABLE IF NOT EXISTS ` + st.opts.Schema + `.settings(key text PRIMARY KEY, value text NOT NULL)`,
		}, migrations[n:]...) {
			if err := script(ctx, tx, q); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO settings(key, value) VALUES('schema', $1::text)
			ON CONFLICT(key) DO UPDATE SET value=excluded.value`, strconv.Itoa(len(migrations)))
		return err
	})
}

// script runs statements that take no arguments.
func script(ctx context.Context, tx pgx.Tx, q string) error {
	_, err := tx.Conn().PgConn().Exec(ctx, q).ReadAll()
	return err
}

// readyVectors finds out whether the server has pgvector and which version. With make it also
// creates the extension and the tables that need it, if it can.
func readyVectors(ctx context.Context, st *site, make bool) error {
	var have, could string
	err := st.pool.QueryRow(ctx, `SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname='vector'), ''),
		coalesce((SELECT default_version FROM pg_available_extensions WHERE name='vector'), '')`).Scan(&have, &could)
	if err != nil {
		return err
	}
	if have == "" && could != "" && make {
		// Not every user may create the extension. If it can't be created, the index has no
		// vectors.
		if _, err := st.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector SCHEMA public`); err == nil {
			have = could
		}
	}
	if have == "" {
		return nil
	}
	if make {
		if err := st.transact(ctx, func(tx pgx.Tx) error { return script(ctx, tx, vectorTables) }); err != nil {
			return err
		}
	}
	var there bool
	err = st.pool.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL`, st.opts.Schema+".embeddings").Scan(&there)
	st.vectors, st.iterates = there, atLeast(have, 0, 8)
	return err
}

// atLeast reports whether a version such as 0.8.1 is at least major.minor.
func atLeast(version string, major, minor int) bool {
	var a, b int
	fmt.Sscanf(version, "%d.%d", &a, &b)
	return a > major || a == major && b >= minor
}
