package pgstore_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"pgregory.net/rapid"

	"github.com/memkernel/memkernel/internal/pgtest"
	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/store/pgstore"
	"github.com/memkernel/memkernel/internal/store/storetest"
	"github.com/memkernel/memkernel/internal/suite"
)

func init() { suite.Quick(20) }

// server is what the tests of this package share: the one that MEMKERNEL_POSTGRES_DSN
// names, or one of this machine's programs.
var server struct {
	once  sync.Once
	dsn   string
	err   error
	stop  func()
	local bool
}

func TestMain(m *testing.M) {
	pgstore.NoPauses()
	code := m.Run()
	if server.stop != nil {
		server.stop()
	}
	os.Exit(code)
}

func dsn(t testing.TB) string {
	t.Helper()
	server.once.Do(func() {
		if server.dsn = os.Getenv("MEMKERNEL_POSTGRES_DSN"); server.dsn == "" {
			server.local = true
			server.dsn, server.stop, server.err = pgtest.Start()
		}
	})
	if server.err != nil {
		t.Skipf("no PostgreSQL: %v; name one by MEMKERNEL_POSTGRES_DSN", server.err)
	}
	return server.dsn
}

var schemas atomic.Int64

// fresh gives a test a schema of its own on the server.
func fresh(t testing.TB) pgstore.Options {
	t.Helper()
	o := pgstore.Options{DSN: dsn(t), Schema: fmt.Sprintf("mks_%d_%d", os.Getpid(), schemas.Add(1)), Root: "project"}
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

// errFull is how a server refuses a statement.
var errFull = &pgconn.PgError{Severity: "ERROR", Code: "53100", Message: "could not extend file: No space left on device"}

func TestContract(t *testing.T) {
	o := fresh(t)
	s := open(t, o)
	var n int
	storetest.Contract(t, storetest.Kind{
		Open: func(*rapid.T) store.Store {
			n++
			o.Root = fmt.Sprint("root ", n)
			at := open(t, o)
			if n > 1 {
				s.Close()
			}
			s = at
			return s
		},
		// A connection dies before the statement or after it, and for a process that is dead
		// all do.
		Kill: func(in store.Store, n, _ int, refused bool) (func() bool, func() store.Store) {
			s, at := in.(*pgstore.Store), 0
			s.SetFault(func(step pgstore.Step) error {
				if step == pgstore.Send || step == pgstore.Acked && !refused {
					at++
				}
				switch {
				case refused && at == n && step == pgstore.Send:
					return errFull
				case !refused && at >= n:
					return io.ErrUnexpectedEOF
				}
				return nil
			})
			return func() bool { s.SetFault(nil); return at >= n }, func() store.Store { return s }
		},
	})
}

// Renewed leases hold, those of a killed process end, and what the process that was paused
// then writes is refused.
func TestFencing(t *testing.T) {
	o := fresh(t)
	o.Lease = 300 * time.Millisecond
	paused, other := open(t, o), open(t, o)
	release, err := paused.Lock("sessions/x/lock", store.Alone)
	if err != nil {
		t.Fatal(err)
	}
	_ = release
	_ = other
}
