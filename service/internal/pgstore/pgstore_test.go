package pgstore_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
	"github.com/memkernel/memkernel/markdownstore"
	"github.com/memkernel/memkernel/service/internal/pgstore"
	"github.com/memkernel/memkernel/service/internal/pgtest"
)

func init() { suite.Quick(10) }

// server is what the tests of this package share.
var server pgtest.Shared

func TestMain(m *testing.M) {
	pgstore.NoPauses()
	code := m.Run()
	server.Close()
	os.Exit(code)
}

var schemas atomic.Int64

// fresh gives a test a schema of its own on the server.
func fresh(t testing.TB) pgstore.Options {
	t.Helper()
	o := pgstore.Options{DSN: server.DSN(t), Schema: fmt.Sprintf("mks_%d_%d", os.Getpid(), schemas.Add(1)), Root: "project"}
	t.Cleanup(func() { drop(o) })
	return o
}

func drop(o pgstore.Options) {
	c, err := pgx.Connect(context.Background(), o.DSN)
	if err != nil {
		return
	}
	defer c.Close(context.Background())
	_, _ = c.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+o.Schema+" CASCADE")
}

func open(t testing.TB, o pgstore.Options) *pgstore.Store {
	t.Helper()
	s, err := pgstore.Open(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// longOnly passes over what the quick suite does on a server and a model side by side.
func longOnly(t *testing.T) {
	t.Helper()
	if !suite.Long() {
		t.Skip("a server without the model beside it: the long suite")
	}
}

// opener opens a root for a process of its own.
type opener func(root string, lease time.Duration) *pgstore.Store

// onAll runs a test on a server, on the model of one that simulations have, and on both side
// by side, which have to give the same answers. Without a server the model is alone. Whether the
// quick suite has the server by itself is the test's to say: beside the model it is asked one
// statement at a time.
func onAll(t *testing.T, server bool, f func(t *testing.T, open opener)) {
	t.Run("server", func(t *testing.T) {
		if !server {
			longOnly(t)
		}
		o := fresh(t)
		f(t, func(root string, lease time.Duration) *pgstore.Store {
			o.Root, o.Lease = root, lease
			s, err := pgstore.Open(context.Background(), o)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
	t.Run("model", func(t *testing.T) {
		m, roots := pgstore.NewModel(), map[string]int64{}
		var n int
		f(t, func(root string, lease time.Duration) *pgstore.Store {
			if roots[root] == 0 {
				roots[root] = int64(len(roots) + 1)
			}
			n++
			return pgstore.OnModel(m, nil, roots[root], fmt.Sprint("process ", n), cmp.Or(lease, 15*time.Second))
		})
	})
	t.Run("both", func(t *testing.T) {
		o, m := fresh(t), pgstore.NewModel()
		f(t, func(root string, lease time.Duration) *pgstore.Store {
			o.Root, o.Lease = root, lease
			s, err := pgstore.OpenTwin(t, o, m)
			if err != nil {
				t.Fatal(err)
			}
			return s
		})
	})
}

// errFull is how a server refuses a statement.
var errFull = &pgconn.PgError{Severity: "ERROR", Code: "53100", Message: "could not extend file: No space left on device"}

// death is what befalls a store at the n-th step that changes something: its connection dies
// before the statement or after it, and for a process that is dead all do; or the server refuses.
type death struct {
	n       int
	refused bool

	mu sync.Mutex
	at int
}

func (d *death) befalls(step pgstore.Step) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if step == pgstore.Send || step == pgstore.Acked && !d.refused {
		d.at++
	}
	switch {
	case d.refused && d.at == d.n && step == pgstore.Send:
		return errFull
	case !d.refused && d.at >= d.n:
		return io.ErrUnexpectedEOF
	}
	return nil
}

// came reports whether there were so many steps.
func (d *death) came() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.at >= d.n
}

func TestContract(t *testing.T) { onAll(t, false, contract) }

func contract(t *testing.T, open opener) {
	s := open("first", 0)
	var n int
	defer func() { s.Close() }()
	storetest.Contract(t, storetest.Kind{
		Open: func(*rapid.T) store.Disk {
			n++
			s.Close()
			s = open(fmt.Sprint("root ", n), 0)
			return s
		},
		Kill: func(in store.Disk, n, _ int, refused bool) (func() bool, func() store.Disk) {
			s, d := in.(*pgstore.Store), &death{n: n, refused: refused}
			s.SetFault(d.befalls)
			return func() bool { s.SetFault(nil); return d.came() }, func() store.Disk { return s }
		},
	})
}

// The same while the folder's lock is held, under which less is asked of the server and
// what need not be synced is held back.
func TestContractUnderALock(t *testing.T) { onAll(t, false, contractUnderALock) }

func contractUnderALock(t *testing.T, open opener) {
	var n int
	var root string
	var roots []*pgstore.Store
	locked := func(t *rapid.T) store.Disk {
		s := open(root, 0)
		if roots = append(roots, s); len(roots) > 4 {
			roots[0].Close()
			roots = roots[1:]
		}
		if _, err := s.Lock("top/lock", store.Alone); err != nil {
			t.Fatal(err)
		}
		return s.In("top/sub").(store.Disk)
	}
	defer func() {
		for _, s := range roots {
			s.Close()
		}
	}()
	storetest.Contract(t, storetest.Kind{
		Open: func(t *rapid.T) store.Disk {
			n++
			root = fmt.Sprint("root ", n)
			return locked(t)
		},
		Kill: func(in store.Disk, n, _ int, refused bool) (func() bool, func() store.Disk) {
			s, d := in.(*pgstore.Store), &death{n: n, refused: refused}
			if err := s.Settle(); err != nil {
				t.Error(err)
			}
			s.SetFault(d.befalls)
			return func() bool { s.SetFault(nil); return d.came() }, func() store.Disk {
				if !d.came() {
					return s
				}
				next := open(root, 0)
				roots = append(roots, next)
				if err := s.Exec(context.Background(), `UPDATE locks SET held='{}'`); err != nil {
					t.Error(err)
				}
				if _, err := next.Lock("top/lock", store.Alone); err != nil {
					t.Error(err)
				}
				return next.In("top/sub").(store.Disk)
			}
		},
	})
}

// A lease that its holder renews holds; one of a holder that is paused or dead ends, and
// what it then writes in the lock's folder is refused, wherever else it may write.
func TestFencing(t *testing.T) { onAll(t, true, fencing) }

func fencing(t *testing.T, open opener) {
	const lease = 2 * time.Second
	paused, other := open("x", lease), open("x", lease)
	defer paused.Close()
	defer other.Close()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	release, err := paused.Lock("sessions/x/lock", store.Alone)
	must(err)
	defer release()
	j := paused.Journal("sessions/x/journal.jsonl")
	_, err = j.Append(0, []byte("one\n"), true)
	must(err)
	held := (*store.LockedError)(nil)
	if _, err := other.Lock("sessions/x/lock", store.Alone); !errors.As(err, &held) || !strings.Contains(held.Holder, "process") {
		t.Fatalf("a lock that another has: %v", err)
	}
	// The clock that counts is the server's: the lease is made to have ended there.
	end := func() {
		must(paused.Exec(t.Context(), pgstore.EndLeases))
	}
	end()
	paused.Renew()
	if _, err := other.Lock("sessions/x/lock", store.Alone); !errors.As(err, &held) {
		t.Fatalf("a lease that was renewed: %v", err)
	}
	end()
	_, err = j.Append(4, []byte("two\n"), true) // it ended, and nobody has taken it
	must(err)
	release2, err := other.Lock("sessions/x/lock", store.Alone)
	must(err)
	paused.Renew() // which must not take it back
	fenced := (*store.LostError)(nil)
	refused := map[string]func() error{
		"append": func() error { _, err := j.Append(8, []byte("late\n"), true); return err },
		"cut":    func() error { return j.Cut(0) },
		"patch":  func() error { return j.Patch(0, []byte("X"), true) },
		"put": func() error {
			_, err := paused.Put(store.Synced, store.Doc{Name: "other", Data: nil}, store.Doc{Name: "sessions/x/session.json", Data: []byte("late")})
			return err
		},
		"move":   func() error { return paused.Move(store.Synced, "sessions/x", "away") },
		"remove": func() error { _, err := paused.Remove(store.Synced, "sessions/x/journal.jsonl"); return err },
		"make":   func() error { _, err := paused.Journal("sessions/x/new").Size(); return err },
	}
	for what, do := range refused {
		if err := do(); !errors.As(err, &fenced) {
			t.Errorf("%s after the lock was lost: %v", what, err)
		}
	}
	if data, err := other.Get("sessions/x/journal.jsonl"); err != nil || string(data) != "one\ntwo\n" {
		t.Errorf("the journal holds %q, %v", data, err)
	}
	if _, err := other.Stat("other"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a part of what was refused is there: %v", err)
	}
	_, err = paused.Put(store.Synced, store.Doc{Name: "sessions/y/session.json", Data: []byte("else")})
	must(err)
	_, err = other.Journal("sessions/x/journal.jsonl").Append(8, []byte("three\n"), true)
	must(err)
	release() // which must not take the other's
	if _, err := paused.Lock("sessions/x/lock", store.Alone); !errors.As(err, &held) {
		t.Fatalf("a lock that another has: %v", err)
	}
	release2()
	again, err := paused.Lock("sessions/x/lock", store.Alone)
	must(err)
	again()
}

// Who waits for the lock of a holder that was killed gets it.
func TestKilledHolder(t *testing.T) {
	o := fresh(t)
	o.Lease = 400 * time.Millisecond
	dead, alive := open(t, o), open(t, o)
	for _, share := range []store.Share{store.Alone, store.Shared} {
		if _, err := dead.Lock("lock", share); err != nil {
			t.Fatal(err)
		}
		dead.SetFault(func(pgstore.Step) error { return io.ErrUnexpectedEOF })
		release, err := store.Wait(t.Context(), alive, "lock", store.Alone)
		if err != nil {
			t.Fatal(err)
		}
		release()
		dead.SetFault(nil)
	}
}

// Of several that append behind the same byte one wins; the others are told so, and
// nothing of theirs is there.
func TestAppendCompares(t *testing.T) {
	o := fresh(t)
	const machines, rounds = 4, 25
	var stores []*pgstore.Store
	for range machines {
		stores = append(stores, open(t, o))
	}
	if _, err := stores[0].Journal("j").Size(); err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for round := range rounds {
		off, won := int64(want.Len()), make([]bool, machines)
		var wg sync.WaitGroup
		for i, s := range stores {
			wg.Go(func() {
				_, err := s.Journal("j").Append(off, fmt.Appendf(nil, "%d by %d\n", round, i), i%2 == 0)
				if won[i] = err == nil; !won[i] && !errors.Is(err, store.ErrOvertaken) {
					t.Errorf("append: %v", err)
				}
			})
		}
		wg.Wait()
		winner := slices.Index(won, true)
		if winner < 0 || slices.Contains(won[winner+1:], true) {
			t.Fatalf("round %d: won %v", round, won)
		}
		fmt.Fprintf(&want, "%d by %d\n", round, winner)
	}
	if got, err := stores[1].Get("j"); err != nil || string(got) != want.String() {
		t.Errorf("the journal holds %q, %v, want %q", got, err, want.String())
	}
}

// Connections that the server ends, before a statement and after it, cost nothing and
// double nothing.
func TestConnectionsDie(t *testing.T) {
	server.Owned(t)
	o := fresh(t)
	s, killer := open(t, o), open(t, o)
	rng := rand.New(rand.NewPCG(7, 11))
	deaths := 0
	s.SetFault(func(step pgstore.Step) error {
		switch at := rng.IntN(6); {
		case at == 0: // the server ends the session
			deaths++
			if err := killer.Exec(context.Background(), `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE application_name LIKE 'memkernel%' AND pid<>pg_backend_pid()`); err != nil {
				t.Error(err)
			}
		case at == 1 && step == pgstore.Acked: // the answer is lost on its way
			deaths++
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	j := s.Journal("j")
	var want []byte
	for i := range suite.Pick(60, 600) {
		line := fmt.Appendf(nil, "line %d\n", i)
		for {
			_, err := j.Append(int64(len(want)), line, i%3 > 0)
			if err == nil {
				break
			}
			if !errors.Is(err, pgstore.ErrUnreachable) && !errors.Is(err, store.ErrOvertaken) {
				t.Fatal(err)
			}
			// Three times in a row: the journal is read again, as its caller does.
			got, err := killer.Get("j")
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			if string(got) == string(want)+string(line) {
				break
			}
			if string(got) != string(want) {
				t.Fatalf("the journal holds %q, want %q", got, want)
			}
		}
		want = append(want, line...)
	}
	if got, err := killer.Get("j"); err != nil || string(got) != string(want) {
		t.Errorf("after %d deaths the journal holds\n%s\nwant\n%s\n%v", deaths, got, want, err)
	}
	if deaths < 10 {
		t.Errorf("only %d connections died", deaths)
	}
}

// What the database is not, and names that would leave the root: one sentence, the way
// out, and no password.
func TestRefusals(t *testing.T) {
	server.Owned(t)
	o := fresh(t)
	s := open(t, o)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Put(store.Synced, store.Doc{Name: "a", Data: []byte("a")})
	must(err)
	for _, name := range []string{"..", "../other", "in/../../x", "/etc/passwd\x00", "\xff", "", "."} {
		if _, err := s.Put(store.Synced, store.Doc{Name: name, Data: []byte("x")}); err == nil {
			t.Errorf("put %q went well", name)
		}
	}
	c, err := pgx.Connect(t.Context(), o.DSN)
	must(err)
	defer c.Close(context.Background())
	role := "nobody_" + o.Schema
	for _, q := range []string{"CREATE ROLE " + role + " LOGIN PASSWORD 's3cret-word'", "REVOKE CREATE ON DATABASE postgres FROM PUBLIC"} {
		_, err = c.Exec(t.Context(), q)
		must(err)
	}
	t.Cleanup(func() {
		if c, err := pgx.Connect(context.Background(), o.DSN); err == nil {
			_, _ = c.Exec(context.Background(), "DROP OWNED BY "+role)
			_, _ = c.Exec(context.Background(), "DROP ROLE "+role)
			c.Close(context.Background())
		}
	})
	as := func(user, database string) string {
		return regexp.MustCompile(`dbname=\S+`).ReplaceAllString(regexp.MustCompile(`user=\S+`).ReplaceAllString(o.DSN, "user="+user+" password=s3cret-word"), "dbname="+database)
	}
	for _, c := range []struct {
		name string
		o    pgstore.Options
		kind error
		says string
	}{
		{"no host", pgstore.Options{DSN: "dbname=x password=s3cret-word", Root: "r"}, nil, "names no host"},
		{"no address", pgstore.Options{DSN: "postgres://me:s3cret-word@host:port/%", Root: "r"}, nil, "write postgres://"},
		{"no root", pgstore.Options{DSN: o.DSN}, nil, "root"},
		{"no server", pgstore.Options{DSN: "postgres://me:s3cret-word@127.0.0.1:1/x", Root: "r"}, pgstore.ErrUnreachable, "see that the server runs"},
		{"no database", pgstore.Options{DSN: as("postgres", "none"), Root: "r"}, pgstore.ErrRefused, "make the database"},
		{"no user", pgstore.Options{DSN: as("none", "postgres"), Root: "r"}, pgstore.ErrRefused, "see that user and password"},
		{"no rights", pgstore.Options{DSN: as(role, "postgres"), Root: "r", Schema: o.Schema + "_b"}, pgstore.ErrRefused, "give the user the right"},
		{"no rights to the tables", pgstore.Options{DSN: as(role, "postgres"), Root: "r", Schema: o.Schema}, pgstore.ErrRefused, "give the user the right"},
	} {
		if s, err := pgstore.Open(t.Context(), c.o); err == nil {
			s.Close()
			t.Errorf("%s: it opened", c.name)
		} else if c.kind != nil && !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", c.name, err)
		}
	}

	s.SetFault(func(step pgstore.Step) error {
		if step == pgstore.Send {
			return errFull
		}
		return nil
	})
	_, err = s.Put(store.Synced, store.Doc{Name: "a", Data: []byte("b")})
	if !errors.Is(err, pgstore.ErrFull) || !store.Unwritable(err) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("a full disk: %v", err)
	}
	s.SetFault(nil)
	if data, err := s.Get("a"); err != nil || string(data) != "a" {
		t.Errorf("it holds %q, %v", data, err)
	}

	must(s.Exec(t.Context(), `INSERT INTO versions(version) VALUES(99)`))
	if _, err := pgstore.Open(t.Context(), o); !errors.Is(err, pgstore.ErrSchema) || !strings.Contains(err.Error(), "upgrade memkernel") {
		t.Errorf("newer tables: %v", err)
	}
}

// Tables of each earlier version are brought up to this one, with what is in them, also by
// several machines at once.
func TestMigrations(t *testing.T) {
	server.Sessions(t)
	all, err := pgstore.Migrations()
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(all) + 1 {
		o := fresh(t)
		c, err := pgx.Connect(t.Context(), o.DSN)
		if err != nil {
			t.Fatal(err)
		}
		run := func(q string) {
			t.Helper()
			if _, err := c.PgConn().Exec(t.Context(), q).ReadAll(); err != nil {
				t.Fatal(err)
			}
		}
		if n > 0 {
			run(`CREATE SCHEMA ` + o.Schema + `; SET search_path=` + o.Schema + `; CREATE TABLE versions(version int PRIMARY KEY, time timestamptz NOT NULL DEFAULT now())`)
			for v := range n {
				run(all[v])
				run(fmt.Sprintf(`INSERT INTO versions(version) VALUES(%d)`, v+1))
			}
			old, err := os.ReadFile("testdata/data.sql")
			if err != nil {
				t.Fatal(err)
			}
			run(string(old))
		}
		c.Close(context.Background())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() {
				s, err := pgstore.Open(context.Background(), o)
				if err != nil {
					t.Errorf("from version %d: %v", n, err)
					return
				}
				defer s.Close()
				if release, err := s.Lock("lock", store.Shared); err != nil {
					t.Errorf("from version %d: %v", n, err)
				} else {
					release()
				}
				files := markdownstore.New(s.Workspace(), &markdownstore.Options{Private: true})
				if _, err := files.Append(context.Background(), "MEMORY.md", "e1", "one line"); err != nil {
					t.Errorf("from version %d: %v", n, err)
				} else if l, err := files.ReadFile("MEMORY.md"); err != nil || strings.Count(l.Text, "one line") != 1 {
					t.Errorf("from version %d: the workspace holds %q, %v", n, l.Text, err)
				}
				if n == 0 {
					return
				}
				if data, err := s.Get("sessions/old/journal.jsonl"); err != nil || string(data) != "first\nsecond\n" {
					t.Errorf("from version %d: the journal holds %q, %v", n, data, err)
				}
			})
		}
		wg.Wait()
	}
}

// Large contents are cut into pieces, and read back whole and in parts; two roots of
// one database share nothing; what is replaced or removed leaves nothing behind.
func TestPiecesAndRoots(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	o.Root = "another"
	other := open(t, o)
	big := make([]byte, 700_001)
	for i := range big {
		big[i] = byte(i * i >> 7)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		_, err := s.Put(store.Synced, store.Doc{Name: "big", Data: big})
		must(err)
	}
	j := s.Journal("log")
	_, err := j.Append(0, big, true)
	must(err)
	for _, at := range []int{0, 1, 131_071, 131_072, 400_000, len(big) - 10} {
		p := make([]byte, 300_000)
		n, err := j.ReadAt(p, int64(at))
		if want := big[at:min(at+len(p), len(big))]; !bytes.Equal(p[:n], want) || (err == io.EOF) != (len(want) < len(p)) {
			t.Errorf("read at %d: %d bytes, %v", at, n, err)
		}
	}
	must(j.Patch(131_070, []byte("patched"), true))
	copy(big[131_070:], "patched")
	must(j.Cut(400_001))
	if got, err := s.Get("log"); err != nil || !bytes.Equal(got, big[:400_001]) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := other.Get("big"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another root: %v", err)
	}
	if _, err := other.Stat(""); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another root is empty: %v", err)
	}
	_, err = s.Remove(store.Synced, "big", "log")
	must(err)
	if n, err := s.Value(t.Context(), `SELECT (SELECT count(*) FROM pieces)+(SELECT count(*) FROM files)+(SELECT count(*) FROM gone)`); n != 0 || err != nil {
		t.Errorf("%d rows are left, %v", n, err)
	}
}

// Writers of the same new names at once leave one content each, and nothing else.
func TestPutsAtOnce(t *testing.T) {
	o := fresh(t)
	a, b := open(t, o), open(t, o)
	for round := range 20 {
		var wg sync.WaitGroup
		for _, s := range []*pgstore.Store{a, b, a, b} {
			wg.Go(func() {
				how := []store.Durability{store.Synced, store.Once}[round%2]
				if _, err := s.Put(how, store.Doc{Name: fmt.Sprint("y", round), Data: []byte("same")}, store.Doc{Name: fmt.Sprint("x", round), Data: []byte("same")}); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
	n, err := a.Value(t.Context(), `SELECT count(*) FROM pieces`)
	if n != 40 || err != nil {
		t.Errorf("%d pieces, want 40; %v", n, err)
	}
}

// What is written is compressed by the server's fast way, unless somebody chose another; who reads
// it need not know.
func TestCompression(t *testing.T) {
	server.Sessions(t)
	o := fresh(t)
	text := bytes.Repeat([]byte("what is said again is written once. "), 1000)
	chosen := o
	chosen.DSN += " options='-c default_toast_compression=pglz'"
	stores := map[string]*pgstore.Store{"lz4": open(t, o), "pglz": open(t, chosen)}
	known, err := stores["pglz"].Value(t.Context(), `SELECT count(*) FROM pg_settings WHERE name='default_toast_compression' AND 'lz4'=ANY(enumvals)`)
	if err != nil {
		t.Fatal(err)
	}
	if known == 0 {
		t.Skip("the server was built without LZ4")
	}
	for way, s := range stores {
		if _, err := s.Put(store.Synced, store.Doc{Name: way, Data: text}); err != nil {
			t.Fatal(err)
		}
		n, err := s.Value(t.Context(), `SELECT count(*) FROM pieces JOIN files USING(content) WHERE path=$1::text AND pg_column_compression(data)=$1::text`, way)
		if err != nil || n != 1 {
			t.Errorf("%s: %d pieces are compressed so, %v", way, n, err)
		}
		for _, other := range stores {
			if got, err := other.Get(way); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s: read %d bytes, %v", way, len(got), err)
			}
		}
	}
}
