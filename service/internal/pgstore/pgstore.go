// Package pgstore keeps a store in a PostgreSQL database, so that any of several machines may
// serve any session. One database has many roots. A root holds the same documents as a state
// directory on disk.
//
// A content is a sequence of pieces, and a name has a content. Every write is one statement, and
// so one transaction and one round trip. It is done as a whole or not at all. Synced writes wait
// for the server's disk. Unsynced writes do not.
//
// # Appends
//
// The caller of an append gives the length of the journal, and the server compares it. If two
// machines append after the same byte, one append is written. The other machine gets an error
// that wraps [store.ErrOvertaken], and nothing of its append is written.
//
// # Locks
//
// A lock is a lease. Its row has a token for each holder, and the time of the server's clock at
// which that holder's lease ends. Clients' clocks do not count. Living holders renew their leases
// every third of the lease's time. A holder that is paused for longer may lose the lock, and must
// not write as if it still had the lock. Therefore a lock fences its folder. A write in or below
// the folder of a held lock carries the token. The server checks in the same transaction whether
// the process still has the lock, and locks the row until the transaction ends. So the next
// holder reads the write, or the write is refused ([store.LostError]). sessions/X/lock fences the
// session's files, and blobs.lock fences all of the root while it is held.
//
// An advisory lock of a connection would be less code, and wrong. The server keeps such a lock as
// long as the connection lasts, which may be hours for a machine that is paused or cut off. The
// server also takes the lock away from a client whose connection broke unnoticed, and then
// nothing distinguishes the old holder from the new one.
//
// # Deferred writes
//
// The statement that takes a lock also returns all names in its folder, and the data that this
// process does not know yet, in the same round trip. Writes under the lock need not go out at
// once: Unsynced ones are held back, and with [Store.Defer] also Synced ones, until the lock is
// released. Then one statement writes all of them, in one transaction, and frees the lock.
//
// # Resuming
//
// Sessions mostly stay on a machine. A released lock of a folder leaves its token in the row,
// with a lease that has ended, and the next taker removes the token. The last holder may continue
// from the state that it knew ([Store.Resume]), without a query. The statement that ends the call
// is refused if the token is gone, as after a pause. Before the holder does anything else that
// others could see, it gives the token a lease again.
//
// # Objects
//
// With a bucket, a large content whose name is its hash becomes an object there. A write first
// inserts a row that says that the object is being written, then writes the object, and then
// writes in one statement the name and a mark in the row. So no name lacks its object, and an
// object whose writer died is found by its row. A key is used for one write only, so that a late
// removal by a machine that was paused can't remove a later write. [Store.Sweep] removes objects
// that have lost their name or did not get a name in time. It marks an object before it removes
// it, and a marked object can't get a name.
//
// # Tenants
//
// A root that is opened by [OpenTenant] has a database role of its own, and the tables' policies
// show this role only that root. All statements name the root as well. The policies guard against
// a statement that forgets the root, and against an injected statement.
//
// # Lost answers
//
// When a connection dies, it is unknown whether the server ran the statement. The store ends the
// old session and runs the statement again. An append is recognized by its mark if it was done.
// Every other statement has the same result when it is done twice.
package pgstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/service/internal/pgdsn"
)

// Options names the place of a store.
type Options struct {
	// DSN names the server and the database, as a URL or as key=value pairs. It must name the
	// host. A DSN without a password means an empty one, even if the environment holds one.
	DSN string
	// Root names the stored state. It must be the same on every machine that shares it.
	Root string
	// Schema is the schema of the tables; default memkernel_state.
	Schema string
	// Lease is how long a lock outlives a holder that was killed; default 15 s.
	Lease time.Duration
	// MaxConns bounds the connections; default 8.
	MaxConns int
	// Bucket keeps contents that are named by their hashes and have more than Above bytes. If
	// Bucket is nil, the database keeps them.
	Bucket Bucket
	Above  int64
	// Grace is how long an object of the bucket may be without a name, by the server's clock;
	// default 1 h.
	Grace time.Duration
	// Tracer gets every statement; nil traces none.
	Tracer pgx.QueryTracer
}

const (
	defaultSchema    = "memkernel_state"
	defaultLease     = 15 * time.Second
	defaultMaxConns  = 8
	statementTimeout = 30 * time.Second
	connectTimeout   = 5 * time.Second
	tenantIdle       = 30 * time.Second // how long a connection of a tenant is kept unused
)

var (
	schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	roleName   = regexp.MustCompile(`^memkernel_[0-9a-f]{16}$`)
)

func (o *Options) check() error {
	if o.Schema == "" {
		o.Schema = defaultSchema
	}
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	if o.MaxConns <= 0 {
		o.MaxConns = defaultMaxConns
	}
	if o.Grace <= 0 {
		o.Grace = defaultGrace
	}
	switch {
	case !schemaName.MatchString(o.Schema):
		return fmt.Errorf("schema %q: take lower case letters, digits and _", o.Schema)
	case o.Root == "" || len(o.Root) > 200 || !utf8.ValidString(o.Root) || strings.ContainsFunc(o.Root, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("root %q: take a name of up to 200 bytes, alike on every machine that shares it", o.Root)
	case pgdsn.Check(o.DSN) != nil:
		return pgdsn.Check(o.DSN)
	}
	return nil
}

// Store is a store in a database.
type Store struct {
	*core
	folder string // "" or a path
}

var _ store.Disk = (*Store)(nil)

// core is shared by the stores of one root at all depths.
type core struct {
	pool     database
	root     int64
	place    string
	password string
	lease    time.Duration
	holder   string // the name of this process, for messages and to recognize its own sessions
	// fault is called in tests before a statement is sent and after it was answered.
	fault atomic.Pointer[func(step) error]

	leases  leases
	open    opened
	cache   cache
	objects objects
	// rows holds the files of the workspace, once Workspace was called.
	rows atomic.Pointer[Workspace]
	// server identifies the server of the last connection by the time at which it was started.
	// takeovers counts the servers so far, including that server.
	server, takeovers atomic.Int64
}

// step is a moment of a statement.
type step int

const (
	look  step = iota // a statement that changes nothing is about to be sent
	send              // a statement that changes something is about to be sent
	acked             // the statement was answered
)

// Open opens a root of a database, and creates missing tables.
func Open(ctx context.Context, o Options) (*Store, error) {
	c, cfg, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, c.explain("open", c.place, err)
	}
	c.pool = server{pool}
	if err := c.begin(ctx, pool, o); err != nil {
		pool.Close()
		return nil, c.explain("open", c.place, err)
	}
	return &Store{core: c}, nil
}

// prepare makes a store from options, and the configuration of its connections.
func prepare(o *Options) (*core, *pgxpool.Config, error) {
	if err := o.check(); err != nil {
		return nil, nil, fmt.Errorf("open the state in PostgreSQL: %w", err)
	}
	cfg, err := pgxpool.ParseConfig(o.DSN)
	if err != nil { // err may repeat the DSN
		return nil, nil, errors.New("open the state in PostgreSQL: the DSN can't be read: " + pgdsn.Form)
	}
	if !pgdsn.NamesPassword(o.DSN) {
		cfg.ConnConfig.Password = ""
	}
	host, err := os.Hostname()
	if err != nil {
		host = "a machine without a name"
	}
	var id [6]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, nil, err
	}
	c := &core{place: pgdsn.Place(o.DSN) + "#" + o.Root, password: cfg.ConnConfig.Password, lease: o.Lease,
		holder: fmt.Sprintf("process %d on %s (%s)", os.Getpid(), host, hex.EncodeToString(id[:]))}
	c.leases.init(c)
	c.open.init()
	c.objects.init(*o)
	cfg.MaxConns = int32(o.MaxConns)
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	cfg.ConnConfig.Tracer = o.Tracer
	// A statement sets these settings because not every pooler accepts them when a connection
	// starts.
	settings := fmt.Sprintf(`SET search_path = '%s'; SET statement_timeout = %d; SET idle_in_transaction_session_timeout = %d; SET application_name = 'memkernel %s';`+fastCompression,
		o.Schema, statementTimeout.Milliseconds(), 2*statementTimeout.Milliseconds(), hex.EncodeToString(id[:]))
	cfg.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		if _, err := conn.PgConn().Exec(ctx, settings).ReadAll(); err != nil {
			return err
		}
		server, err := readServer(ctx, conn)
		if err == nil {
			c.meets(server)
		}
		return err
	}
	cfg.BeforeAcquire = func(_ context.Context, conn *pgx.Conn) bool { return serverOf(conn) == c.server.Load() }
	return c, cfg, nil
}

// fastCompression makes the server compress this connection's writes with LZ4, if it supports LZ4
// and nobody has chosen another method. The server's default method takes much longer. Each
// stored value names its method, so all programs can read the value.
const fastCompression = `SELECT set_config(name, 'lz4', false) FROM pg_settings WHERE name='default_toast_compression' AND source='default' AND 'lz4'=ANY(enumvals)`

// meets is called with the server of each new connection. The previous server may have crashed,
// and have lost writes that did not wait for its disk. Then the lost numbers of contents and
// versions are given again. A standby that takes over may also give numbers again, while the old
// primary still runs. Connections to the old primary are no longer used, or one process would
// compare reads of one server with data of the other.
func (c *core) meets(server int64) {
	if c.server.Swap(server) != server {
		c.takeovers.Add(1)
		c.forget()
	}
	c.cache.clear()
}

// forget drops all trusted data, so that it is read again.
func (c *core) forget() {
	c.cache.clear()
	if w := c.rows.Load(); w != nil {
		w.forget()
	}
}

// begin creates or migrates the tables, and finds the root.
func (c *core) begin(ctx context.Context, pool *pgxpool.Pool, o Options) (err error) {
	if err := migrate(ctx, pool, o.Schema); err != nil {
		return err
	}
	if c.root, err = findRoot(ctx, pool, o.Root); err != nil {
		return err
	}
	return c.clean(ctx, pool)
}

// findRoot finds a root, and creates a missing one.
func findRoot(ctx context.Context, pool *pgxpool.Pool, name string) (id int64, err error) {
	if err = pool.QueryRow(ctx, `SELECT id FROM roots WHERE name=$1::text`, name).Scan(&id); !errors.Is(err, pgx.ErrNoRows) {
		return id, err
	}
	var owner string
	var bound bool
	if err := pool.QueryRow(ctx, `SELECT row_security_active(oid), relowner::regrole::text FROM pg_class WHERE oid='roots'::regclass`).Scan(&bound, &owner); err != nil {
		return 0, err
	}
	if bound {
		return 0, &Error{Kind: ErrRefused, Hint: "the tables are " + owner + "'s: name that user in the DSN, or make this one a member of it (GRANT " + owner + " TO me)",
			Err: errors.New("row-level security hides all rows from this user")}
	}
	err = pool.QueryRow(ctx, `INSERT INTO roots(name) VALUES($1::text) ON CONFLICT(name) DO UPDATE SET name=excluded.name RETURNING id`, name).Scan(&id)
	return id, err
}

// clean removes replaced contents that a killed process was still reading.
func (c *core) clean(ctx context.Context, pool *pgxpool.Pool) error {
	_, err := pool.Exec(ctx, `WITH g AS (DELETE FROM gone WHERE time < clock_timestamp() - interval '10 minutes' AND root IN ($1::bigint, 0) RETURNING content, root)
		DELETE FROM pieces AS p USING g WHERE p.content=g.content AND (p.root=g.root OR g.root=0)`, c.root)
	return err
}

// Close releases the locks and closes the connections.
func (s *Store) Close() error {
	s.leases.close()
	s.pool.Close()
	return nil
}

// In implements [store.Store].
func (s *Store) In(folder string) store.Store {
	return &Store{core: s.core, folder: path.Join(s.folder, folder)}
}

// Where implements [store.Store].
func (s *Store) Where(name string) string { return s.where(path.Join(s.folder, name)) }

func (c *core) where(at string) string {
	if at == "" || at == "." {
		return c.place
	}
	return c.place + "/" + at
}

// at returns the path of a name. The path must stay in the root, and the server must be able to
// hold it.
func (s *Store) at(name string) (string, error) {
	at := path.Join(s.folder, name)
	if at == "." {
		at = ""
	}
	if at == ".." || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "/") || strings.ContainsRune(at, 0) || !utf8.ValidString(at) {
		return "", fmt.Errorf("%s: %q is no name of a document", s.place, name)
	}
	return at, nil
}

// below returns the bounds of the paths in a folder.
func below(at string) (lo, hi string) {
	if at == "" {
		return "", "\U0010ffff"
	}
	return at + "/", at + "0" // the character after the slash
}

// pauses has the wait before each attempt to send a statement whose connection dies. The number
// of pauses is the number of attempts.
var pauses = []time.Duration{0, 20 * time.Millisecond, 500 * time.Millisecond}

// run runs f with a connection, and again with a new one if the connection dies. It sets unsure
// if an answer was lost: the work of f may or may not have been done.
func (c *core) run(op, at string, before step, unsure *bool, f func(ctx context.Context, conn conn) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*statementTimeout)
	defer cancel()
	var err error
	for _, pause := range pauses {
		if pause > 0 {
			time.Sleep(pause)
		}
		if err = c.once(ctx, before, unsure, f); err == nil || !lost(err) && !again(err) {
			break
		}
	}
	var done *store.LostError
	if errors.As(err, &done) || errors.Is(err, store.ErrOvertaken) || errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	return c.explain(op, c.where(at), err)
}

func (c *core) once(ctx context.Context, before step, unsure *bool, f func(ctx context.Context, conn conn) error) error {
	if err := c.asked(before); err != nil {
		if lost(err) && unsure != nil {
			*unsure = true
		}
		return err
	}
	conn, err := c.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	pid, takeovers := conn.PID(), c.takeovers.Load()
	if err = f(ctx, conn); err == nil && before != look {
		err = c.asked(acked)
	}
	if err == nil && (conn.Server() != c.server.Load() || c.takeovers.Load() != takeovers) {
		err = fmt.Errorf("another server has taken over meanwhile: %w", io.ErrUnexpectedEOF)
		c.forget() // f may have kept the state of the other server
	}
	if err != nil && lost(err) {
		if unsure != nil {
			*unsure = true
			c.end(ctx, pid)
		}
		c.pool.Reset()
	}
	return err
}

func (c *core) asked(s step) error {
	if f := c.fault.Load(); f != nil {
		return (*f)(s)
	}
	return nil
}

// end ends a session of this process whose connection died. A statement sent to it may still be
// in the server's queue, and must not be done after later ones. A session that is gone already,
// or that a pooler hides, is ignored.
func (c *core) end(ctx context.Context, pid uint32) {
	if c.asked(look) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	_, _ = c.pool.Exec(ctx, `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity
		WHERE pid=$1::int AND pid<>pg_backend_pid() AND application_name=current_setting('application_name')`, int32(pid))
}

// query runs a statement that changes nothing, and scans its rows.
func (c *core) query(op, at, q string, args []any, scan func(pgx.Rows) error) error {
	return c.run(op, at, look, nil, func(ctx context.Context, conn conn) error {
		rows, err := conn.Query(ctx, q, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		if err := scan(rows); err != nil {
			return err
		}
		rows.Close()
		return rows.Err()
	})
}

// row is query for one row.
func (c *core) row(op, at, q string, args []any, into ...any) error {
	return c.run(op, at, look, nil, func(ctx context.Context, conn conn) error {
		return conn.QueryRow(ctx, q, args...).Scan(into...)
	})
}

// fence finds the locks whose sent tokens are still valid. These tokens stay valid until the
// transaction ends.
const fence = `WITH fence AS MATERIALIZED (
		SELECT l.path FROM locks AS l JOIN unnest($2::text[], $3::text[]) AS h(path, token) ON l.root=$1::bigint AND l.path=h.path AND l.held ? h.token
		FOR SHARE OF l)`

// fenced is the head of every statement that changes something. The statement must do nothing
// unless ok is true, which means that the process still has the locks whose tokens it sends. Its
// parameters are the first four.
const fenced = fence + `,
	ok AS MATERIALIZED (SELECT (SELECT count(*) FROM fence) = cardinality($2::text[]) AS ok, set_config('synchronous_commit', $4::text, true)), `

// change runs a statement with the head fenced. The first column of the statement is ok. change
// adds the time taken to st.
func (c *core) change(op string, how store.Durability, paths []string, unsure *bool, st *store.Stats, q string, args []any, into ...any) error {
	return c.changeBehind(fenced, nil, op, how, paths, unsure, st, q, args, into...)
}

// changeBehind is change with another head that has the same parameters. If moved returns true,
// the call is refused as if a lock had been lost.
func (c *core) changeBehind(head string, moved func() bool, op string, how store.Durability, paths []string, unsure *bool, st *store.Stats, q string, args []any, into ...any) error {
	var sure bool
	if unsure == nil {
		unsure = &sure
	}
	if err := cmp.Or(c.leases.assure(paths), c.leases.broken(paths)); err != nil {
		return fmt.Errorf("%s %s: what was written before it is not there: %w", op, c.where(paths[0]), err)
	}
	commit := "on"
	if how == store.Unsynced {
		commit = "off"
	}
	begun := time.Now()
	var ok bool
	var locks, tokens []string
	err := c.run(op, paths[0], send, unsure, func(ctx context.Context, conn conn) error {
		locks, tokens = c.leases.over(paths) // each time, as another server may have taken over
		if moved != nil && moved() {
			locks, tokens = append(locks, paths[0]), append(tokens, movedToken)
		}
		return conn.QueryRow(ctx, head+q, append([]any{c.root, locks, tokens, commit}, args...)...).Scan(append([]any{&ok}, into...)...)
	})
	if err == nil && !ok {
		err = &store.LostError{Name: c.where(paths[0]), Lock: c.where(strings.Join(locks, ", "))}
	}
	if st != nil && how != store.Unsynced {
		st.Syncs++
		st.SyncTime += time.Since(begun)
	}
	return err
}

// notThere returns the error for a missing name.
func (c *core) notThere(op, at string) error {
	return &pathError{op, c.where(at)}
}

// opened holds the contents that readers of this process have open.
type opened struct {
	mu    sync.Mutex
	count map[int64]int
}

func (o *opened) init() { o.count = map[int64]int{} }

func (o *opened) all() []int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	out := make([]int64, 0, len(o.count))
	for id := range o.count {
		out = append(out, id)
	}
	return out
}

func (o *opened) add(id int64, n int) (left int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count[id] += n; o.count[id] == 0 {
		delete(o.count, id)
	}
	return o.count[id]
}
