package pgindex

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// schemaNumber is the version of the tables, which the table settings holds.
const schemaNumber = 3

// dropOld removes the tables of version 1. The next Sync fills the new tables, because all rows are
// derived from Markdown.
const dropOld = `DROP TABLE IF EXISTS $schema.postings, $schema.chunks, $schema.files, $schema.scopes, $schema.spaces,
		$schema.embeddings, $schema.models;
	DROP SEQUENCE IF EXISTS $schema.chunk_row`

// addLabels changes tables of version 2 to version 3. The next Sync reads all files again.
const addLabels = `ALTER TABLE $schema.files ADD COLUMN labels bytea NOT NULL DEFAULT '';
	UPDATE $schema.files SET again=true`

// tables creates the tables. The words of a chunk are kept in its row and uncompressed, because a
// search reads them once for each of its words. Jobs of the server in the background need not
// finish the index of words, so searches take the same time after a Sync as later.
const tables = `CREATE TABLE spaces(
		id serial PRIMARY KEY,
		workspace text NOT NULL,
		agent text NOT NULL,
		generation bigint NOT NULL DEFAULT 0,  -- counts the transactions that changed it
		chunker text NOT NULL DEFAULT '',      -- the rules by which its files were cut
		model text NOT NULL DEFAULT '',        -- whose vectors are in use
		dim integer NOT NULL DEFAULT 0,        -- their length
		UNIQUE(workspace, agent)
	);
	CREATE TABLE files(
		id bigserial PRIMARY KEY,
		space integer NOT NULL REFERENCES spaces(id) ON DELETE CASCADE,
		scope integer NOT NULL,
		path text COLLATE "C" NOT NULL,
		size bigint NOT NULL,
		mtime bigint NOT NULL,                 -- ns since 1970
		hash bytea NOT NULL,                   -- of its chunks; empty if never read
		chunks integer NOT NULL,
		again boolean NOT NULL,                -- read it next time, whatever its stat
		analysis integer NOT NULL,             -- the rules that made its words
		labels bytea NOT NULL DEFAULT '',      -- one per line
		UNIQUE(space, path)
	);
	CREATE INDEX files_scope ON files(scope);
	CREATE TABLE chunks(
		row bigserial PRIMARY KEY,
		file bigint NOT NULL REFERENCES files(id) ON DELETE CASCADE,
		scope integer NOT NULL,
		seq integer NOT NULL,                  -- place in the file, from 0
		id text NOT NULL,
		hash bytea NOT NULL,                   -- sha256 of trail and body
		start_line integer NOT NULL,
		end_line integer NOT NULL,
		tokens integer NOT NULL,
		lang text NOT NULL,
		date text NOT NULL,
		trail bytea NOT NULL,                  -- one heading per line; bytes, since
		keywords bytea NOT NULL,               -- a text of PostgreSQL can't hold all
		body bytea NOT NULL,                   -- that a file can
		words integer NOT NULL,                -- how many terms has
		terms tsvector NOT NULL                -- weight A: headings, B: names of the file, C: file, D: text
	) WITH (toast_tuple_target = 8160);
	ALTER TABLE chunks ALTER COLUMN terms SET STORAGE MAIN;
	CREATE INDEX chunks_file ON chunks(file, seq);
	CREATE INDEX chunks_hash ON chunks(hash);
	CREATE INDEX chunks_scope ON chunks(scope);
	CREATE INDEX chunks_terms ON chunks USING gin(terms) WITH (fastupdate = off)`

// vectorTables creates the table that needs the extension, which may be installed later than the
// other tables are made.
const vectorTables = `CREATE TABLE IF NOT EXISTS embeddings(
		workspace text NOT NULL,
		model text NOT NULL,
		hash bytea NOT NULL,
		vector vector NOT NULL,                -- length 1
		PRIMARY KEY(workspace, model, hash)
	)`

// schemaLock keeps two programs from making the tables at once: "mkix" as the key
// of an advisory lock.
const schemaLock = 0x6d6b6978

// schemaVersion returns the version of the tables, or 0 if there are none.
func schemaVersion(ctx context.Context, st *site, db querier) (int, error) {
	var there bool
	err := db.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL`, st.opts.Schema+".settings").Scan(&there)
	if err != nil || !there {
		return 0, err
	}
	var text string
	err = db.QueryRow(ctx, `SELECT coalesce((SELECT value FROM settings WHERE key='schema'), '0')`).Scan(&text)
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, index.Problem("open index", st.place, index.ErrDamaged, fmt.Errorf("schema version %q", text))
	}
	if n > schemaNumber {
		return n, index.Problem("open index", st.place, index.ErrNewer, fmt.Errorf("schema version %d, this program knows %d", n, schemaNumber))
	}
	return n, nil
}

// makeTables makes the tables of this program's version in one transaction. The transaction begins
// after the lock is taken, because a transaction that waits for the lock may not see tables that
// another process creates meanwhile.
func makeTables(ctx context.Context, st *site) error {
	s, err := hold(ctx, st, "open index", schemaLock, -1)
	if err != nil {
		return err
	}
	defer s.release()
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error {
		n, err := schemaVersion(ctx, st, tx)
		if err != nil || n == schemaNumber {
			return err
		}
		make := []string{
			`CREATE SCHEMA IF NOT EXISTS $schema`,
			`CREATE TABLE IF NOT EXISTS $schema.settings(key text PRIMARY KEY, value text NOT NULL)`,
			dropOld, tables,
		}
		if n == 2 {
			make = []string{addLabels}
		}
		for _, q := range make {
			q = strings.ReplaceAll(q, "$schema", st.opts.Schema)
			if _, err := tx.Conn().PgConn().Exec(ctx, q).ReadAll(); err != nil {
				return err
			}
		}
		_, err = tx.Exec(ctx, `INSERT INTO settings(key, value) VALUES('schema', $1::text)
			ON CONFLICT(key) DO UPDATE SET value=excluded.value`, strconv.Itoa(schemaNumber))
		return err
	})
}

// readyVectors finds out whether there is a table of vectors. Unless the index is opened for
// reading, it also creates the extension and the table, if it can.
func readyVectors(ctx context.Context, st *site) error {
	var have, could bool
	err := st.pool.QueryRow(ctx, `SELECT EXISTS(SELECT 1 FROM pg_extension WHERE extname='vector'),
		EXISTS(SELECT 1 FROM pg_available_extensions WHERE name='vector')`).Scan(&have, &could)
	if err != nil {
		return err
	}
	if !have && could && !st.index.ReadOnly {
		// Not every user may create the extension. If it can't be created, the index has no
		// vectors.
		_, err := st.pool.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS vector SCHEMA public`)
		have = err == nil
	}
	if have && !st.index.ReadOnly {
		if _, err := st.pool.Exec(ctx, vectorTables); err != nil {
			return err
		}
	}
	return st.pool.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL`, st.opts.Schema+".embeddings").Scan(&st.vectors)
}
