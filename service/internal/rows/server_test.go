package rows_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgtest"
	"github.com/memkernel/memkernel/service/internal/rows"
)

// own is a server of a test's own.
func own(t *testing.T, settings ...string) *pgtest.Server {
	t.Helper()
	server.Owned(t)
	s, err := pgtest.New(settings...)
	must(t, err)
	t.Cleanup(s.Close)
	return s
}

func execute(t *testing.T, dsn string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	must(t, err)
	defer c.Close(context.Background())
	for _, q := range statements {
		if _, err := c.Exec(t.Context(), q); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
}

// Several machines that write to one session, by whatever connections die meanwhile, lose no
// record and double none; all read the same.
func TestMachinesAtOnce(t *testing.T) {
	server.Owned(t)
	o := fresh(t)
	const machines, each = 4, 15
	killer := open(t, o)
	var mu sync.Mutex
	acked := map[string]bool{}
	var wg sync.WaitGroup
	for m := range machines {
		s := open(t, o)
		rng := rand.New(rand.NewPCG(7, uint64(m)))
		var rmu sync.Mutex
		s.SetFault(func(name string, answered bool) error {
			rmu.Lock()
			at := rng.IntN(12)
			rmu.Unlock()
			switch {
			case at == 0:
				return killer.Exec(context.Background(), `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE application_name LIKE 'memkernel%' AND pid<>pg_backend_pid()`)
			case at == 1 && answered:
				return io.ErrUnexpectedEOF
			}
			return nil
		})
		wg.Go(func() {
			l := openLog(t, s, journal)
			for i := range each {
				id := fmt.Sprint(m, "-", i)
				for {
					there := false
					err := func() error {
						u, err := s.Begin(context.Background(), "sessions/x", i%3 > 0)
						if err != nil {
							return err
						}
						_, err = read(l)
						if store.ReplacedLog(err) {
							l = openLog(t, s, journal)
							_, err = read(l)
						}
						for r, err := range l.Records() {
							if err != nil {
								return errors.Join(err, u.End())
							}
							there = there || r.ID == id
						}
						if err == nil && !there {
							_, err = l.Append(true, rec(id))
						}
						if err == nil {
							_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/" + id, Data: []byte(id)})
						}
						if err == nil && there {
							err = l.Sync(l.Len())
						}
						return errors.Join(err, u.End())
					}()
					if err == nil {
						break
					}
					if !store.Again(err) && !store.ReplacedLog(err) {
						t.Errorf("%s: %v", id, err)
						return
					}
				}
				mu.Lock()
				acked[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	ids, err := read(openLog(t, killer, journal))
	must(t, err)
	slices.Sort(ids)
	if n := len(ids); n != machines*each || len(slices.Compact(ids)) != n || len(acked) != n {
		t.Errorf("%d records, of %d acknowledged: %v", n, len(acked), ids)
	}
	if entries, err := killer.List("sessions/x"); err != nil || len(entries) != machines*each+1 {
		t.Errorf("%d entries, %v", len(entries), err)
	}
}

// A server that crashes forgets what did not wait for its disk, and counts again from before.
// What a process knew of it is not taken for what is there now.
func TestServerForgets(t *testing.T) {
	srv := own(t, "wal_writer_delay=10s", "autovacuum=off")
	o := rows.Options{DSN: srv.DSN(), Root: "shop"}
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "kept")
	must(t, srv.Forgetful(t.Context()))
	la, lb := openLog(t, a, journal), openLog(t, b, journal)
	soft := func(s *rows.Store, l store.Log, id string) {
		t.Helper()
		u := begin(t, s, "sessions/x", false)
		_, err := read(l)
		must(t, err)
		_, err = l.Append(false, rec(id))
		must(t, err)
		_, err = s.Put(store.Unsynced, store.Doc{Name: "sessions/x/note", Data: []byte(id)})
		must(t, err)
		must(t, u.End())
	}
	soft(a, la, "of a, lost")
	if ids, err := read(lb); err != nil || !slices.Equal(ids, []string{"kept", "of a, lost"}) {
		t.Fatal(ids, err)
	}
	srv.Crash()
	must(t, srv.Start())
	if _, err := b.Get("sessions/x/note"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the server has not forgotten: %v", err)
	}
	if _, err := read(lb); !store.ReplacedLog(err) {
		t.Errorf("a reader of what was lost: %v", err)
	}
	lb = openLog(t, b, journal)
	soft(b, lb, "of b, kept")
	u := begin(t, a, "sessions/x", true)
	if data, err := a.Get("sessions/x/note"); err != nil || string(data) != "of a, lost" {
		t.Errorf("%q, %v", data, err)
	}
	if err := u.End(); !store.Overtaken(err) {
		t.Errorf("it answers from what was lost: %v", err)
	}
	u = begin(t, a, "sessions/x", true)
	if _, err := read(la); !store.ReplacedLog(err) {
		t.Error(err)
	}
	if ids, err := read(openLog(t, a, journal)); err != nil || !slices.Equal(ids, []string{"kept", "of b, kept"}) {
		t.Error(ids, err)
	}
	if data, err := a.Get("sessions/x/note"); err != nil || string(data) != "of b, kept" {
		t.Errorf("%q, %v", data, err)
	}
	must(t, u.End())
	// What a unit found, and made sure of, survives the next crash.
	u = begin(t, b, "sessions/x", true)
	must(t, lb.Sync(lb.Len()))
	must(t, u.End())
	srv.Crash()
	must(t, srv.Start())
	if ids, err := read(openLog(t, b, journal)); err != nil || !slices.Equal(ids, []string{"kept", "of b, kept"}) {
		t.Error(ids, err)
	}
}

// With a synchronous standby, what can be read need not be durable: a session that is ended while
// it waits for the standby leaves it readable. Neither its writer nor a reader that makes sure of
// it goes on before the standby has it.
func TestSynchronousStandby(t *testing.T) {
	primary := own(t)
	standby, err := primary.Standby()
	must(t, err)
	t.Cleanup(standby.Close)
	o := rows.Options{DSN: primary.DSN(), Root: "shop"}
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "first")
	_, err = a.Workspace().Version(t.Context(), 0)
	must(t, err)
	execute(t, primary.DSN(), `ALTER SYSTEM SET synchronous_standby_names='standby'`, `SELECT pg_reload_conf()`)
	standby.Crash()
	waiting := func(n int) {
		t.Helper()
		for {
			var now int
			c, err := pgx.Connect(t.Context(), primary.DSN())
			must(t, err)
			must(t, c.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event IN ('SyncRep', 'transactionid', 'tuple')`).Scan(&now))
			c.Close(context.Background())
			if now >= n {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	wrote, found := make(chan error, 1), make(chan error, 1)
	go func() {
		u, err := a.Begin(context.Background(), "sessions/x", false)
		if err == nil {
			l, _ := a.OpenLog(journal, store.LogOptions{})
			_, err = read(l)
			_, err2 := l.Append(true, rec("second"))
			err = errors.Join(err, err2, u.End())
		}
		wrote <- err
	}()
	waiting(1)
	execute(t, primary.DSN(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event='SyncRep'`)
	for there := 0; there == 0; { // until what is not durable can be read
		must(t, b.Value(t.Context(), &there, `SELECT count(*) FROM memkernel.log WHERE id='second'`))
	}
	waiting(1)
	go func() {
		u, err := b.Begin(context.Background(), "sessions/x", false)
		if err == nil {
			l, _ := b.OpenLog(journal, store.LogOptions{})
			ids, err2 := read(l)
			if !slices.Equal(ids, []string{"first", "second"}) {
				t.Errorf("it reads %v", ids)
			}
			err = errors.Join(err2, l.Sync(l.Len()), u.End())
		}
		found <- err
	}()
	waiting(2)
	select {
	case err := <-wrote:
		t.Errorf("the writer went on: %v", err)
	case err := <-found:
		t.Errorf("the reader went on: %v", err)
	default:
	}
	must(t, standby.Start())
	if err := errors.Join(<-wrote, <-found); err != nil {
		t.Error(err)
	}
}

// A standby that lacks the newest commits takes over. The machines go on from what it has.
func TestStandbyTakesOver(t *testing.T) {
	primary := own(t)
	standby, err := primary.Standby()
	must(t, err)
	t.Cleanup(standby.Close)
	o := rows.Options{DSN: pgtest.Either(primary, standby), Root: "shop"}
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "first")
	for { // until the standby has it
		if s, err := pgx.Connect(t.Context(), standby.DSN()); err == nil {
			var n int
			err = s.QueryRow(t.Context(), `SELECT count(*) FROM memkernel.log`).Scan(&n)
			s.Close(context.Background())
			if err == nil && n == 1 {
				break
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	standby.Crash()
	la, lb := openLog(t, a, journal), openLog(t, b, journal)
	step := func(s *rows.Store, l store.Log, seen bool, id string) error {
		u, err := s.Begin(t.Context(), "sessions/x", seen)
		if err != nil {
			return err
		}
		_, err = read(l)
		if err == nil {
			_, err = l.Append(true, rec(id))
		}
		return errors.Join(err, u.End())
	}
	must(t, step(a, la, false, "lost"))
	_, err = read(lb)
	must(t, err)
	primary.Crash()
	must(t, standby.Start())
	must(t, standby.Promote(t.Context()))
	if err := step(a, la, true, "behind what is lost"); !store.Overtaken(err) {
		t.Errorf("the writer of what is lost: %v", err)
	}
	if _, err := read(lb); !store.ReplacedLog(err) {
		t.Errorf("a reader of what is lost: %v", err)
	}
	lb = openLog(t, b, journal)
	must(t, step(b, lb, false, "second"))
	la = openLog(t, a, journal)
	must(t, step(a, la, true, "third"))
	if ids, err := read(lb); err != nil || !slices.Equal(ids, []string{"third"}) {
		t.Error(ids, err)
	}
	if ids, err := read(openLog(t, b, journal)); err != nil || !slices.Equal(ids, []string{"first", "second", "third"}) {
		t.Error(ids, err)
	}
}

// A lock has one holder, or several that share it; one that was killed loses it.
func TestLocks(t *testing.T) {
	o := fresh(t)
	o.Lease = 400 * time.Millisecond
	a, b := open(t, o), open(t, o)
	b.SetFault(nil)
	held := (*store.LockedError)(nil)
	free := func(s *rows.Store, share store.Share) func() {
		t.Helper()
		release, err := s.Lock("nightly.lock", share)
		must(t, err)
		return release
	}
	taken := func(s *rows.Store, share store.Share, by string) {
		t.Helper()
		if _, err := s.Lock("nightly.lock", share); !errors.As(err, &held) || !strings.Contains(held.Holder, by) || held.Name != s.Where("nightly.lock") {
			t.Errorf("a lock that another has: %v", err)
		}
	}
	release := free(a, store.Alone)
	taken(b, store.Alone, "process")
	taken(b, store.Shared, "process")
	taken(a, store.Shared, "this process")
	release()
	release()
	one, two, three := free(a, store.Shared), free(b, store.Shared), free(a, store.Shared)
	taken(b, store.Alone, "process")
	one()
	three()
	taken(a, store.Alone, "process")
	two()
	release = free(b, store.Alone)
	// It is renewed beyond its time, by the server's clock.
	must(t, b.Exec(t.Context(), `UPDATE `+o.Schema+`.holds SET holders=(SELECT jsonb_object_agg(key, 1) FROM jsonb_each(holders)) WHERE name='nightly.lock'`))
	b.Renew()
	taken(a, store.Alone, "process")
	b.SetFault(func(string, bool) error { return io.ErrUnexpectedEOF }) // it is dead
	if release, err := store.Wait(t.Context(), a, "nightly.lock", store.Alone); err != nil {
		t.Error(err)
	} else {
		defer release()
	}
	b.SetFault(nil)
	release() // which must not take it from the other
	b.Renew()
	taken(b, store.Alone, "process")
}

// While somebody removes blobs, nobody writes one; who lost the lock removes none.
func TestBlobsAgainstTheirRemoval(t *testing.T) {
	o := fresh(t)
	s, sweeper := open(t, o), open(t, o)
	hash := store.Sum([]byte("blob"))
	name := "blobs/" + hash[:2] + "/" + hash
	write := func() error {
		u := begin(t, s, "sessions/x", false)
		l := openLog(t, s, journal)
		_, err := read(l)
		must(t, err)
		b := store.BlobsIn(s.In("blobs")).NewBatch()
		b.AddString("blob")
		_, err = u.PutBlobs(t.Context(), b)
		must(t, err)
		_, err = l.Append(true, rec("r"))
		must(t, err)
		return u.End()
	}
	release, err := sweeper.Lock(store.BlobsLock, store.Alone)
	must(t, err)
	done, asked := make(chan error, 1), make(chan bool, 1000)
	s.SetFault(func(name string, answered bool) error {
		if name == "write" && answered {
			asked <- true
		}
		return nil
	})
	go func() { done <- write() }()
	<-asked
	<-asked
	if _, err := sweeper.Get(name); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a blob was written while blobs are removed: %v", err)
	}
	if ids, err := read(openLog(t, sweeper, journal)); err != nil || len(ids) > 0 {
		t.Error(ids, err)
	}
	release()
	must(t, <-done)
	s.SetFault(nil)
	// A writer that has not committed keeps the sweeper waiting: here one that has the row.
	c, err := pgx.Connect(t.Context(), o.DSN)
	must(t, err)
	defer c.Close(context.Background())
	tx, err := c.Begin(t.Context())
	must(t, err)
	_, err = tx.Exec(t.Context(), `SELECT FROM `+o.Schema+`.holds WHERE name='blobs.lock' FOR SHARE`)
	must(t, err)
	locked := make(chan func(), 1)
	go func() {
		release, err := sweeper.Lock(store.BlobsLock, store.Alone)
		if err != nil {
			t.Error(err)
		}
		locked <- release
	}()
	for waits := 0; waits == 0; {
		must(t, s.Value(t.Context(), &waits, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%`+o.Schema+`.holds%'`))
	}
	select {
	case <-locked:
		t.Error("it did not wait for a writer of blobs")
	default:
	}
	must(t, tx.Rollback(t.Context()))
	release = <-locked
	must(t, sweeper.Exec(t.Context(), `UPDATE `+o.Schema+`.holds SET holders='{}'`)) // its lease ended, and others took the lock
	var lost *store.LostError
	if _, err := sweeper.Remove(store.Synced, name); !errors.As(err, &lost) {
		t.Errorf("who lost the lock removes blobs: %v", err)
	}
	if data, err := s.Get(name); err != nil || string(data) != "blob" {
		t.Errorf("%q, %v", data, err)
	}
	release()
	release, err = sweeper.Lock(store.BlobsLock, store.Alone)
	must(t, err)
	defer release()
	if _, err := sweeper.Remove(store.Synced, name); !errors.As(err, &lost) {
		t.Errorf("who has not read what a session names removes blobs: %v", err)
	}
	_, err = read(openLog(t, sweeper, journal))
	must(t, err)
	if st, err := sweeper.Remove(store.Synced, name); err != nil || st.Files != 1 {
		t.Error(st, err)
	}
	if _, err := s.Get(name); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Units of one process follow one another, and one that waits stops when its context ends.
func TestUnitsFollowOneAnother(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	u := begin(t, s, "sessions/x", false)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() { _, err := s.Begin(ctx, "sessions/x", false); failed <- err }()
	cancel()
	if err := <-failed; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	must(t, begin(t, s, "sessions/y", false).End())
	must(t, u.End())
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() { add(t, s, journal, fmt.Sprint(i)) })
	}
	wg.Wait()
	if ids, err := read(openLog(t, s, journal)); err != nil || len(ids) != 10 {
		t.Error(ids, err)
	}
}

// A session that is ended in a unit is the one that was looked at.
func TestEndOfASession(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	add(t, a, journal, "1")
	u := begin(t, a, "sessions/x", false)
	add(t, b, journal, "2")
	if err := a.Move(store.Synced, "sessions/x", "ended/x"); !store.Overtaken(err) {
		t.Errorf("a session was ended that another wrote to: %v", err)
	}
	if err := u.End(); !store.Overtaken(err) {
		t.Error(err)
	}
	u = begin(t, a, "sessions/x", false)
	must(t, a.Move(store.Synced, "sessions/x", "ended/x"))
	must(t, u.End())
	_, err := a.Remove(store.Synced, "ended/x")
	must(t, err)
	add(t, a, "sessions/x/journal.jsonl", "anew")
	add(t, a, "sessions/z/journal.jsonl", "z")
	if err := a.Move(store.Synced, "sessions/x", "sessions/z"); err == nil {
		t.Error("a session was moved over another")
	}
	if ids, err := read(openLog(t, b, journal)); err != nil || !slices.Equal(ids, []string{"anew"}) {
		t.Error(ids, err)
	}
	if _, err := b.Stat("ended"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// errFull is how a server refuses a statement.
var errFull = &pgconn.PgError{Severity: "ERROR", Code: "53100", Message: "could not extend file: No space left on device"}

// What is refused is said with its way out, and without a password.
func TestRefusals(t *testing.T) {
	server.Owned(t)
	o := fresh(t)
	s := open(t, o)
	_, err := s.Put(store.Synced, store.Doc{Name: "a", Data: []byte("a")})
	must(t, err)
	for _, name := range []string{"..", "../other", "in/../../x", "/etc/passwd\x00", "\xff", "", ".", journal, "sessions/x", "project"} {
		if _, err := s.Put(store.Synced, store.Doc{Name: name, Data: []byte("x")}); err == nil {
			t.Errorf("put %q went well", name)
		}
	}
	c, err := pgx.Connect(t.Context(), o.DSN)
	must(t, err)
	defer c.Close(context.Background())
	role := "nobody_" + o.Schema
	for _, q := range []string{"CREATE ROLE " + role + " LOGIN PASSWORD 's3cret-word'", "REVOKE CREATE ON DATABASE postgres FROM PUBLIC"} {
		_, err = c.Exec(t.Context(), q)
		must(t, err)
	}
	t.Cleanup(func() {
		if c, err := pgx.Connect(context.Background(), o.DSN); err == nil {
			_, _ = c.Exec(context.Background(), "DROP OWNED BY "+role)
			_, _ = c.Exec(context.Background(), "DROP ROLE "+role)
			c.Close(context.Background())
		}
	})
	as := func(user, database string) string {
		return regexp.MustCompile(`dbname=\S+`).ReplaceAllString(userIn.ReplaceAllString(o.DSN, "user="+user+" password=s3cret-word"), "dbname="+database)
	}
	for _, c := range []struct {
		name string
		o    rows.Options
		kind error
		says string
	}{
		{"no host", rows.Options{DSN: "dbname=x password=s3cret-word", Root: "r"}, nil, "names no host"},
		{"no address", rows.Options{DSN: "postgres://me:s3cret-word@host:port/%", Root: "r"}, nil, "write postgres://"},
		{"no root", rows.Options{DSN: o.DSN}, nil, "root"},
		{"no server", rows.Options{DSN: "postgres://me:s3cret-word@127.0.0.1:1/x", Root: "r"}, rows.ErrUnreachable, "see that the server runs"},
		{"no database", rows.Options{DSN: as("postgres", "none"), Root: "r"}, rows.ErrRefused, "make the database"},
		{"no user", rows.Options{DSN: as("none", "postgres"), Root: "r"}, rows.ErrRefused, "see that user and password"},
		{"no rights", rows.Options{DSN: as(role, "postgres"), Root: "r", Schema: o.Schema + "_b"}, rows.ErrRefused, "give the user the right"},
		{"no rights to the tables", rows.Options{DSN: as(role, "postgres"), Root: "r", Schema: o.Schema}, rows.ErrRefused, "give the user the right"},
	} {
		if s, err := rows.Open(t.Context(), c.o); err == nil {
			s.Close()
			t.Errorf("%s: it opened", c.name)
		} else if c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s.SetFault(func(name string, _ bool) error {
		if name == "write" {
			return errFull
		}
		return nil
	})
	_, err = s.Put(store.Synced, store.Doc{Name: "a", Data: []byte("b")})
	if !errors.Is(err, rows.ErrFull) || !store.Unwritable(err) || !store.OutOfReach(err) || !strings.Contains(err.Error(), "free some space") || !strings.Contains(err.Error(), s.Where("")) {
		t.Errorf("a full disk: %v", err)
	}
	u := begin(t, s, "sessions/x", false)
	_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/a", Data: []byte("b")})
	must(t, err)
	if err := u.End(); !errors.Is(err, rows.ErrFull) || store.Overtaken(err) {
		t.Errorf("a full disk: %v", err)
	}
	s.SetFault(nil)
	if data, err := s.Get("a"); err != nil || string(data) != "a" {
		t.Errorf("it holds %q, %v", data, err)
	}
	if _, err := s.Stat("sessions/x/a"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, s.Exec(t.Context(), `INSERT INTO `+o.Schema+`.versions(version) VALUES(99)`))
	if _, err := rows.Open(t.Context(), o); !errors.Is(err, rows.ErrSchema) || !strings.Contains(err.Error(), "upgrade memkernel") {
		t.Errorf("newer tables: %v", err)
	}
}

// Several machines make the tables at once; two roots share nothing.
func TestTablesAreMadeOnce(t *testing.T) {
	server.Sessions(t)
	o := fresh(t)
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			o := o
			o.Root = fmt.Sprint("root", i%2)
			s, err := rows.Open(context.Background(), o)
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Put(store.Synced, store.Doc{Name: fmt.Sprint(i), Data: []byte(o.Root)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for i := range 2 {
		o.Root = fmt.Sprint("root", i)
		if entries, err := open(t, o).List(""); err != nil || len(entries) != 2 || entries[0].Name != fmt.Sprint(i) {
			t.Errorf("%v, %v", entries, err)
		}
	}
}

// Puts of the same names at once leave one content each; large ones are read back whole.
func TestPutsAtOnce(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	for round := range 20 {
		var wg sync.WaitGroup
		for _, s := range []*rows.Store{a, b, a, b} {
			wg.Go(func() {
				how := []store.Durability{store.Synced, store.Once}[round%2]
				if _, err := s.Put(how, store.Doc{Name: fmt.Sprint("y", round), Data: []byte("same")}, store.Doc{Name: fmt.Sprint("x", round), Data: []byte("same")}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	if entries, err := a.List(""); err != nil || len(entries) != 40 {
		t.Errorf("%d names, %v", len(entries), err)
	}
	big := make([]byte, 5<<20)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	u := begin(t, a, "sessions/x", false)
	_, err := a.Put(store.Synced, store.Doc{Name: "sessions/x/big", Data: big})
	must(t, err)
	must(t, u.End())
	u = begin(t, b, "sessions/x", false)
	if data, err := b.Get("sessions/x/big"); err != nil || !slices.Equal(data, big) {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	// What another writes meanwhile is not mixed with what was read.
	_, err = a.Put(store.Synced, store.Doc{Name: "sessions/x/big", Data: big[1:]})
	must(t, err)
	if _, err := b.Get("sessions/x/big"); !store.Overtaken(err) {
		t.Errorf("a mixture: %v", err)
	}
	if err := u.End(); !store.Overtaken(err) {
		t.Error(err)
	}
	r, err := b.Open("sessions/x/big")
	must(t, err)
	p := make([]byte, 10)
	if n, err := r.ReadAt(p, int64(len(big)-6)); n != 5 || err != io.EOF {
		t.Error(n, err)
	}
	if size, err := r.Size(); size != int64(len(big)-1) || err != nil {
		t.Error(size, err)
	}
	must(t, r.Close())
}

// Tables of the first version keep their content.
func TestFirstTables(t *testing.T) {
	o := fresh(t)
	must(t, rows.First(t.Context(), o))
	written := time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)
	insert := func(q string, args ...any) {
		t.Helper()
		c, err := pgx.Connect(t.Context(), o.DSN)
		must(t, err)
		defer c.Close(context.Background())
		_, err = c.Exec(t.Context(), strings.ReplaceAll(q, "$S", o.Schema), args...)
		must(t, err)
	}
	insert(`INSERT INTO $S.tenants(name) VALUES($1)`, o.Root)
	insert(`INSERT INTO $S.folders(tenant, folder, rev, trail, epoch, removed, seq, turns, counts, key, bytes, written) VALUES(1, 'sessions/x', 9, '{5,7}', 1, 2, 4, 1, '{2,1,0,0}', 'chat', 9, $1)`, written.Add(time.Hour))
	times := []string{"2026-11-28T01:02:03.123456789Z", "", "2026-11-27T22:32:03.02-02:30"}
	for i, log := range []string{"journal", "projection", "journal"} {
		insert(`INSERT INTO $S.log(tenant, session, seq, turn, log, n, kind, id, time, size, written, body) VALUES(1, 'sessions/x', $1, 0, $2, $3, 'op', $4, $5, 3, $6, '"a"')`,
			i+2, log, i/2+1, fmt.Sprint("id", i), times[i], written.Add(time.Duration(i)*time.Minute))
	}
	insert(`INSERT INTO $S.documents(tenant, folder, name, rev, mark, data, written) VALUES(1, 'sessions/x', 'session.json', 3, 1, '{"key":"chat"}', $1)`, written)
	s := open(t, o)
	u := begin(t, s, "sessions/x", false)
	var got []string
	l := openLog(t, s, journal)
	must(t, l.Read(func(r store.Record) error {
		got = append(got, r.ID+" "+r.Time.Format(time.RFC3339Nano)+" "+string(r.Body))
		return nil
	}))
	if want := []string{"id0 " + times[0] + ` "a"`, "id2 " + times[2] + ` "a"`}; !slices.Equal(got, want) {
		t.Errorf("the journal has %q, want %q", got, want)
	}
	_, err := l.Append(true, rec("next"))
	must(t, err)
	must(t, u.End())
	for name, want := range map[string]store.Info{"projection.jsonl": {Size: 3, Time: written.Add(time.Minute)}, "session.json": {Size: 14, Time: written}} {
		if i, err := s.Stat("sessions/x/" + name); err != nil || i.Size != want.Size || !i.Time.Equal(want.Time) || i.Folder {
			t.Errorf("%s: %+v, %v", name, i, err)
		}
	}
	if ids, err := read(openLog(t, open(t, o), journal)); err != nil || !slices.Equal(ids, []string{"id0", "id2", "next"}) {
		t.Errorf("%v, %v", ids, err)
	}
	var shown string
	must(t, s.Value(t.Context(), &shown, `SELECT string_agg(log||' '||coalesce(time::timestamptz(0)::text, 'no time')||' '||size, '; ' ORDER BY seq) FROM (SELECT * FROM `+o.Schema+`.records WHERE seq<=4) AS r`))
	if strings.Count(shown, "journal 2026-11-28 ") != 2 || !strings.Contains(shown, "projection no time 3") {
		t.Errorf("people read %q", shown)
	}
}

// A turn costs the database little more than its own bytes.
func TestBytesOfATurn(t *testing.T) {
	srv := own(t, "full_page_writes=off")
	o := rows.Options{DSN: srv.DSN(), Root: "shop"}
	s := open(t, o)
	written := func() (n int64) {
		t.Helper()
		must(t, s.Value(t.Context(), &n, `SELECT pg_current_wal_insert_lsn()-'0/0'::pg_lsn`))
		return n
	}
	l, p, b := openLog(t, s, journal), openLog(t, s, "sessions/x/projection.jsonl"), openLog(t, s, "sessions/x/usage.jsonl")
	rng := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		var out strings.Builder
		for out.Len() < n {
			fmt.Fprintf(&out, "%x ", rng.IntN(1<<20))
		}
		return out.String()[:n]
	}
	body := func(n int) []byte { return []byte(`{"text":"` + word(n) + `"}`) }
	turn := func(i, size int) {
		u := begin(t, s, "sessions/x", true)
		_, err := l.Append(true, store.Record{Op: "ingest", ID: fmt.Sprint("page", i), Time: time.Now(), Body: body(size)})
		must(t, err)
		_, err = p.Append(false, store.Record{Op: "projection", ID: fmt.Sprint(i), Body: body(300)})
		must(t, err)
		must(t, u.End())
		u = begin(t, s, "sessions/x", true)
		_, err = l.Append(true, store.Record{Op: "staged", ID: fmt.Sprint("turn:", i), Time: time.Now(), Body: body(300)}, store.Record{Op: "committed", ID: fmt.Sprint("turn:", i), Time: time.Now()})
		must(t, err)
		_, err = b.Append(false, store.Record{Op: "usage", ID: fmt.Sprint(i), Body: body(200)})
		must(t, err)
		_, err = s.Put(store.Synced, store.Doc{Name: "sessions/x/state/goal.json", Data: []byte(word(200))})
		must(t, err)
		must(t, u.End())
	}
	turn(0, 100)
	var raw int64
	begun := written()
	const turns = 100
	for i := range turns {
		size := 100 + i*100
		raw += int64(size)
		turn(i+1, size)
	}
	if mean := (written() - begun) / turns; mean > 10<<10 {
		t.Errorf("%d bytes a turn, of %d", mean, raw/turns)
	} else {
		t.Logf("%d bytes a turn, of %d", mean, raw/turns)
	}
}

// A database that is really full refuses a unit, keeps what was acknowledged, and goes on when
// there is room. A file system of its own is needed for that, which only root may mount.
func TestFullDatabase(t *testing.T) {
	srv := own(t)
	tiny := filepath.Join(filepath.Dir(srv.Data()), "tiny")
	must(t, os.Mkdir(tiny, 0o755))
	mount := func(options string) error {
		return exec.Command("mount", "-t", "tmpfs", "-o", options, "tmpfs", tiny).Run()
	}
	if err := mount("size=10m"); err != nil {
		t.Skipf("no small file system can be mounted: %v", err)
	}
	t.Cleanup(func() {
		srv.Crash()
		if out, err := exec.Command("umount", tiny).CombinedOutput(); err != nil {
			t.Errorf("umount: %v: %s", err, out)
		}
	})
	must(t, srv.Own(tiny))
	execute(t, srv.DSN(), "CREATE TABLESPACE tiny LOCATION '"+tiny+"'", "CREATE DATABASE small TABLESPACE tiny")
	o := rows.Options{DSN: strings.Replace(srv.DSN(), "dbname=postgres", "dbname=small", 1), Root: "shop"}
	s := open(t, o)
	l := openLog(t, s, journal)
	n := 0
	step := func() error {
		u := begin(t, s, "sessions/x", true)
		if _, err := read(l); store.ReplacedLog(err) {
			l = openLog(t, s, journal)
			_, err = read(l)
			must(t, err)
		}
		var data strings.Builder
		for range 10_000 {
			fmt.Fprintf(&data, "%x", rand.Uint64())
		}
		_, err := l.Append(true, store.Record{Op: "op", ID: fmt.Sprint(n), Body: []byte(`"` + data.String() + `"`)})
		must(t, err)
		err = u.End()
		if err == nil {
			n++
		}
		return err
	}
	var err error
	for range 200 {
		if err = step(); err != nil {
			break
		}
	}
	if !errors.Is(err, rows.ErrFull) || n == 0 {
		t.Fatalf("after %d units: %v", n, err)
	}
	if ids, err := read(openLog(t, open(t, o), journal)); err != nil || len(ids) != n {
		t.Errorf("%d of %d records, %v", len(ids), n, err)
	}
	must(t, mount("remount,size=200m"))
	must(t, step())
	if ids, err := read(openLog(t, open(t, o), journal)); err != nil || len(ids) != n {
		t.Errorf("%d of %d records, %v", len(ids), n, err)
	}
}

// What a write adds to a folder that is being removed or renamed goes with it.
func TestFolderAgainstAWrite(t *testing.T) {
	for _, renamed := range []bool{false, true} {
		o := fresh(t)
		s := open(t, o)
		add(t, s, journal, "one")
		conn, err := pgx.Connect(t.Context(), o.DSN)
		must(t, err)
		defer conn.Close(context.Background())
		write, err := conn.Begin(t.Context())
		must(t, err)
		for _, q := range []string{`UPDATE $S.folders SET seq=2, counts='{2,0,0,0}' WHERE folder='sessions/x'`,
			`INSERT INTO $S.log(tenant, seq, turn, n, log, zone, time, session, kind, id, body) SELECT tenant, 2, turn, 2, log, zone, time, session, kind, 'two', body FROM $S.log WHERE session='sessions/x'`,
			`INSERT INTO $S.documents(tenant, folder, name, rev, mark, data, written) SELECT tenant, folder, 'late', rev, 1, 'x', now() FROM $S.folders WHERE folder='sessions/x'`} {
			_, err := write.Exec(t.Context(), strings.ReplaceAll(q, "$S", o.Schema))
			must(t, err)
		}
		done := make(chan error)
		go func() {
			if renamed {
				done <- s.Move(store.Synced, "sessions/x", "ended/x")
			} else {
				_, err := s.Remove(store.Synced, "sessions/x")
				done <- err
			}
		}()
		for waits := 0; waits == 0; time.Sleep(time.Millisecond) {
			must(t, s.Value(t.Context(), &waits, `SELECT count(*) FROM pg_locks WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname=current_database())`))
		}
		must(t, write.Commit(t.Context()))
		must(t, <-done)
		other := open(t, o)
		if _, err := other.Stat("sessions/x"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("renamed %v: the old folder: %v", renamed, err)
		}
		left := 0
		must(t, other.Value(t.Context(), &left, `SELECT (SELECT count(*) FROM `+o.Schema+`.log WHERE session='sessions/x')+(SELECT count(*) FROM `+o.Schema+`.documents WHERE folder='sessions/x')`))
		if left > 0 {
			t.Errorf("renamed %v: %d rows are left", renamed, left)
		}
		if !renamed {
			continue
		}
		ids, err := read(openLog(t, other, "ended/x/journal.jsonl"))
		if data, bad := other.Get("ended/x/late"); err != nil || bad != nil || !slices.Equal(ids, []string{"one", "two"}) || string(data) != "x" {
			t.Errorf("%q, %v; %q, %v", ids, err, data, bad)
		}
	}
}

// A put that arrives late, after it was sent again, does not undo what was put since.
func TestLatePut(t *testing.T) {
	m := rows.NewModel()
	var late func() error
	lose := func(st rows.Statement) error {
		if st.Name == "write" && late == nil {
			late = st.Do
			return io.ErrUnexpectedEOF
		}
		return st.Do()
	}
	plain := func(st rows.Statement) error { return st.Do() }
	a, b := rows.OnModel(m, lose, "a", time.Second), rows.OnModel(m, plain, "b", time.Second)
	put := func(s *rows.Store, text string) {
		t.Helper()
		_, err := s.Put(store.Synced, store.Doc{Name: "calibration.json", Data: []byte(text)})
		must(t, err)
	}
	put(a, "old")
	put(b, "new")
	must(t, late())
	if data, err := b.Get("calibration.json"); err != nil || string(data) != "new" {
		t.Errorf("%q, %v", data, err)
	}
}
