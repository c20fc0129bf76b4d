//go:build unix

package pgindex

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/index"
)

// TestSeveralWriters: agents that sync at once, from the making of the tables on,
// and two programs of one agent: everybody's files are there afterwards, whole.
func TestSeveralWriters(t *testing.T) {
	server.Sessions(t)
	o := freshSchema(t)
	var wg sync.WaitGroup
	fails := make(chan error, 100)
	for i := range 8 {
		wg.Go(func() {
			mine := o
			mine.Agent = fmt.Sprintf("agent%d", i/2) // two of each
			ix, err := Open(context.Background(), mine, &index.Options{Chunker: "paragraphs"})
			if err != nil {
				fails <- err
				return
			}
			defer ix.Close()
			for round := range 3 {
				f := files{}
				for n := range 10 {
					f[fmt.Sprintf("memory/%d.md", n)] = fmt.Sprintf("agent %s round %d note %d\n\nstable text %d", mine.Agent, round, n, n)
				}
				if _, err := ix.Sync(context.Background(), f.source(day.Add(time.Duration(round)*time.Hour)), f.read, &index.SyncOptions{BatchChunks: 4, Wait: time.Minute}); err != nil {
					fails <- err
				}
				if _, err := ix.Search(context.Background(), index.Query{Text: "stable note", K: 5}); err != nil {
					fails <- err
				}
			}
		})
	}
	wg.Wait()
	close(fails)
	for err := range fails {
		t.Error(err)
	}
	for i := range 4 {
		mine := o
		mine.Agent = fmt.Sprintf("agent%d", i)
		ix := open(t, mine)
		sound(t, ix)
		if s, err := ix.Stats(context.Background()); err != nil || s.Files != 10 || s.Chunks != 20 {
			t.Errorf("%s has %d files, %d chunks, %v", mine.Agent, s.Files, s.Chunks, err)
		}
	}
}

// A wait for the lock ends with ErrBusy, and a lock ends with its connection.
func TestLock(t *testing.T) {
	server.Owned(t)
	o := freshSchema(t)
	a, b := open(t, o), open(t, o)
	ctx := context.Background()
	s, err := lockSpace(ctx, a.site, "test", defaultWait)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Sync(ctx, notes.source(day), notes.read, &index.SyncOptions{Wait: time.Millisecond})
	if !errors.Is(err, index.ErrBusy) {
		t.Errorf("the lock is held, but %v", err)
	}
	s.conn.Conn().Close(ctx) // as if the program had been killed
	s.conn.Release()
	if r := fill(t, b, notes, day); r.Added != 3 {
		t.Errorf("%+v", r)
	}
}

// TestKilledConnection: a server that drops a Sync's connection in the middle costs
// what was in hand; the next Sync does the rest. A question asks again.
func TestKilledConnection(t *testing.T) {
	server.Owned(t)
	o := freshSchema(t)
	ix := open(t, o)
	ctx := context.Background()
	many := files{}
	for i := range 20 {
		many[fmt.Sprintf("memory/%02d.md", i)] = fmt.Sprintf("note number%d of the log", i)
	}
	for stop := range 8 {
		reads := 0
		_, err := ix.Sync(ctx, many.source(day.Add(time.Duration(stop)*time.Minute)), func(path string) ([]index.Chunk, error) {
			if reads++; reads == 2*stop+1 {
				killAll(t)
			}
			return many.read(path)
		}, &index.SyncOptions{BatchChunks: 3})
		if !errors.Is(err, errUnreachable) {
			t.Fatalf("killed at file %d: %v", stop, err)
		}
	}
	fill(t, ix, many, day.Add(time.Hour))
	sound(t, ix)
	killAll(t)
	if got := places(find(t, ix, "number7")); got != "memory/07.md:1" {
		t.Errorf("after a restart: %q", got)
	}
}

// killAll ends all sessions of indexes.
func killAll(t testing.TB) {
	t.Helper()
	c, err := pgx.Connect(context.Background(), server.DSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.Background())
	var n int
	if err := c.QueryRow(context.Background(), `SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity
		WHERE application_name='memkernel' AND pid<>pg_backend_pid()`).Scan(&n); err != nil {
		t.Fatal(err)
	}
}

func TestStatementTimeout(t *testing.T) {
	server.Sessions(t)
	o := freshSchema(t)
	fill(t, open(t, o), notes, day)
	ix, ctx := open(t, o), context.Background()
	pooled, err := ix.site.pool.Acquire(ctx)
	if err != nil {
		t.Fatal(err)
	}
	conn := pooled.Hijack()
	defer conn.Close(ctx)
	var set string
	if err := conn.QueryRow(ctx, "SHOW statement_timeout").Scan(&set); err != nil || set != "30s" {
		t.Errorf("a connection's timeout is %q, %v", set, err)
	}
	// Only the sleep has the short timeout: the opening may take as long as a busy machine needs.
	if _, err := conn.Exec(ctx, "SET statement_timeout = 50"); err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(ctx, "SELECT pg_sleep(600)")
	if err = ix.site.explain("sleep", err); !errors.Is(err, errTimeout) {
		t.Errorf("%v", err)
	}
}

// Tables of a newer program are left alone, those that are missing are no damage.
func TestVersions(t *testing.T) {
	o := freshSchema(t)
	ctx := context.Background()
	reading := &index.Options{ReadOnly: true, Chunker: "paragraphs"}
	if _, err := Open(ctx, o, reading); !errors.Is(err, index.ErrMissing) {
		t.Errorf("nothing there: %v", err)
	}
	ix := open(t, o)
	if _, err := Open(ctx, o, reading); !errors.Is(err, index.ErrMissing) {
		t.Errorf("nothing indexed: %v", err)
	}
	fill(t, ix, notes, day)
	r, err := Open(ctx, o, reading)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.Sync(ctx, notes.source(day), notes.read, nil); !errors.Is(err, index.ErrReadOnly) {
		t.Errorf("sync: %v", err)
	}
	if _, err := ix.site.pool.Exec(ctx, "UPDATE settings SET value='99' WHERE key='schema'"); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(ctx, o, nil); !errors.Is(err, index.ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}

// Tables of version 1 make room for those of this version, and a Sync fills them. Tables of other
// schemas with the same names stay.
func TestOldTables(t *testing.T) {
	o := freshSchema(t)
	ctx := context.Background()
	c, err := pgx.Connect(ctx, o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	other := o.Schema + "_other"
	run := func(q string) {
		t.Helper()
		if _, err := c.PgConn().Exec(ctx, q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE SCHEMA ` + other + `; SET search_path=` + other + `; CREATE TABLE postings(n integer); CREATE TABLE chunks(n integer)`)
	defer run(`DROP SCHEMA ` + other + ` CASCADE`)
	run(`CREATE SCHEMA ` + o.Schema + `; SET search_path=` + o.Schema + `;
		CREATE TABLE settings(key text PRIMARY KEY, value text NOT NULL); INSERT INTO settings VALUES('schema', '1');
		CREATE TABLE spaces(id serial PRIMARY KEY, workspace text NOT NULL, agent text NOT NULL, generation bigint NOT NULL DEFAULT 0,
			chunker text NOT NULL DEFAULT '', model integer, UNIQUE(workspace, agent));
		CREATE TABLE scopes(id serial PRIMARY KEY, space integer NOT NULL REFERENCES spaces(id) ON DELETE CASCADE, private boolean NOT NULL);
		CREATE TABLE files(id bigserial PRIMARY KEY, space integer NOT NULL REFERENCES spaces(id), scope integer NOT NULL REFERENCES scopes(id), path text);
		CREATE SEQUENCE chunk_row;
		CREATE TABLE chunks(row bigint PRIMARY KEY DEFAULT nextval('chunk_row'), file bigint NOT NULL REFERENCES files(id), body bytea);
		CREATE TABLE postings(chunk bigint NOT NULL, term text);
		CREATE TABLE models(id serial PRIMARY KEY, name text NOT NULL, dim integer NOT NULL);
		CREATE TABLE embeddings(workspace text NOT NULL, model integer NOT NULL REFERENCES models(id), hash bytea NOT NULL);
		INSERT INTO spaces(workspace, agent) VALUES('project', 'ann'); INSERT INTO scopes(space, private) VALUES(1, true);
		INSERT INTO files(space, scope, path) VALUES(1, 1, 'MEMORY.md'); INSERT INTO chunks(file, body) VALUES(1, 'old'); INSERT INTO postings VALUES(1, 'old');`)
	if _, err := Open(ctx, o, &index.Options{ReadOnly: true}); !errors.Is(err, index.ErrOlder) {
		t.Errorf("opened for reading: %v", err)
	}
	ix := open(t, o)
	if r := fill(t, ix, notes, day); r.Added != 3 || places(find(t, ix, "vault code")) != "MEMORY.md:1" {
		t.Errorf("%+v", r)
	}
	sound(t, ix)
	var left bool
	if err := c.QueryRow(ctx, `SELECT to_regclass($1::text) IS NOT NULL OR to_regclass($2::text) IS NULL OR to_regclass($3::text) IS NULL`,
		o.Schema+".postings", other+".postings", other+".chunks").Scan(&left); err != nil || left {
		t.Errorf("the wrong tables were dropped: %v", err)
	}
}

// Check finds what was changed behind its back.
func TestDamage(t *testing.T) {
	for what, q := range map[string]string{
		"a text":          "UPDATE chunks SET body='other'",
		"a word":          "UPDATE chunks SET terms=replace(terms::text, 'stag', 'other')::tsvector",
		"a missing chunk": "DELETE FROM chunks WHERE seq=1",
		"a scope":         "UPDATE chunks SET scope=(SELECT max(scope) FROM chunks) WHERE scope=(SELECT min(scope) FROM chunks)",
	} {
		ix := open(t, freshSchema(t))
		fill(t, ix, notes, day)
		if _, err := ix.site.pool.Exec(context.Background(), q); err != nil {
			t.Fatal(err)
		}
		n := 0
		for err := range ix.Check(context.Background()) {
			if n++; !errors.Is(err, index.ErrDamaged) {
				t.Error(err)
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing was found", what)
		}
		fresh, err := Rebuild(context.Background(), ix.site.opts, &ix.site.index)
		if err != nil {
			t.Fatal(err)
		}
		fill(t, fresh, notes, day)
		sound(t, fresh)
		fresh.Close()
	}
}
