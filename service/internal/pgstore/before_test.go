package pgstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/service/internal/pgstore"
)

// Statements of a program from before rows said whose they are: it may run until it is
// replaced, on tables that a newer one has brought up to date.
func TestProgramsOfBefore(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	conn, release, err := s.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	put := `WITH n AS (SELECT path, size, i, nextval('content_id') AS content FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS x(path, size, i)),
		w AS (INSERT INTO files AS f(root, path, content, size, version, time) SELECT $1::bigint, path, content, size, 1, clock_timestamp() FROM n ORDER BY path
			ON CONFLICT(root, path) DO UPDATE SET before=f.content, content=excluded.content, size=excluded.size, version=f.version+1, time=excluded.time RETURNING path, content, before, size, version),
		p AS (INSERT INTO pieces(content, off, data, mark) SELECT w.content, x.off, x.data, 0 FROM w JOIN n USING(content) JOIN unnest($4::bigint[], $5::bigint[], $6::bytea[]) AS x(i, off, data) ON x.i=n.i),
		kept AS (INSERT INTO gone SELECT f.content, f.size, clock_timestamp() FROM w JOIN files AS f ON f.content=w.before WHERE w.before=ANY($7::bigint[]) ON CONFLICT DO NOTHING),
		d AS (DELETE FROM pieces WHERE content IN (SELECT before FROM w WHERE before<>ALL($7::bigint[])) RETURNING content)
		SELECT (SELECT content FROM w LIMIT 1)`
	var content int64
	for _, word := range []string{"one", "two"} {
		reading := []int64{content}
		if err := conn.QueryRow(t.Context(), put, s.RootID(), []string{"doc"}, []int64{3}, []int64{1}, []int64{0}, [][]byte{[]byte(word)}, reading).Scan(&content); err != nil {
			t.Fatal(err)
		}
		if data, err := s.Get("doc"); err != nil || string(data) != word {
			t.Errorf("a document: %q, %v", data, err)
		}
	}
	add := `WITH f AS (UPDATE files SET size=size+4, version=version+1 WHERE content=$1::bigint AND size=3 RETURNING version)
		INSERT INTO pieces(content, off, data, mark) SELECT $1::bigint, 3, ' more', 7 FROM f`
	if _, err := conn.Exec(t.Context(), add, content); err != nil {
		t.Fatal(err)
	}
	if data, err := s.Get("doc"); err != nil || string(data) != "two more" {
		t.Errorf("a document that was appended to: %q, %v", data, err)
	}
	if _, err := conn.Exec(t.Context(), `UPDATE gone SET time='epoch'`); err != nil {
		t.Fatal(err)
	}
	open(t, o) // which cleans up
	if n, err := s.Value(t.Context(), `SELECT count(*) FROM gone`); n != 0 || err != nil {
		t.Errorf("%d contents are kept that nobody reads, %v", n, err)
	}
	if n, err := s.Value(t.Context(), `SELECT count(*) FROM pieces`); n != 2 || err != nil {
		t.Errorf("%d pieces, want 2; %v", n, err)
	}
}

// Tables that a program of before is writing to are brought up to date all the same: who meets
// that one in a deadlock, and is the one that the server ends, begins anew.
func TestUpgradeInADeadlock(t *testing.T) {
	server.Sessions(t)
	o := fresh(t)
	all, err := pgstore.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	before, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close(context.Background())
	run := func(q string) {
		t.Helper()
		if _, err := before.PgConn().Exec(t.Context(), q).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	run(`CREATE SCHEMA ` + o.Schema + `; SET search_path=` + o.Schema + `; CREATE TABLE versions(version int PRIMARY KEY, time timestamptz NOT NULL DEFAULT now())`)
	for v := range len(all) - 1 {
		run(all[v])
		run(fmt.Sprintf(`INSERT INTO versions(version) VALUES(%d)`, v+1))
	}
	// It looks for deadlocks last, so that the other is the one that is ended.
	run(`SET deadlock_timeout='1h'; BEGIN; LOCK TABLE pieces IN ROW EXCLUSIVE MODE`)
	done := make(chan error, 1)
	go func() {
		s, err := pgstore.Open(context.Background(), o)
		if err == nil {
			err = s.Close()
		}
		done <- err
	}()
	look, err := pgx.Connect(t.Context(), o.DSN)
	if err != nil {
		t.Fatal(err)
	}
	defer look.Close(context.Background())
	for waits := false; !waits; {
		err := look.QueryRow(t.Context(), `SELECT EXISTS(SELECT FROM pg_locks AS l JOIN pg_class AS c ON c.oid=l.relation WHERE c.relname='pieces' AND c.relnamespace=$1::text::regnamespace AND NOT l.granted)`, o.Schema).Scan(&waits)
		if err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			t.Fatalf("it did not wait for the tables: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	run(`LOCK TABLE files IN ROW EXCLUSIVE MODE`)
	run(`COMMIT`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
