// Package rows keeps a store in a PostgreSQL database, as rows that an operator can read: records,
// documents and blobs. Any of several machines may serve any session, without holding a lock.
//
// # Folders and marks
//
// A unit of work writes to a folder, such as a session. The folder's row counts the writes (rev),
// and holds the marks of the newest writes (trail). A mark is computed from a random number of the
// write and from the previous mark, so that it identifies all writes up to this one. A process that
// has read the folder knows its newest mark. A unit collects its writes in memory, together with the
// folder's content after these writes. Reads in the unit see this content. One statement makes all
// writes if the folder's newest mark is still the known one. Otherwise another process has written
// first: the statement writes nothing, and the unit fails with [store.ErrOvertaken]. A put, a removal
// or a move outside of a unit runs in a new unit. If that unit fails in this way, the call is made
// again in another unit.
//
// A server that crashed, or a standby that took over, may lack the newest writes and use their numbers
// for other writes. The marks of these writes differ, so that the state is never taken for the known
// state. An open log notes the newest mark when it reads or writes. If the folder's trail lacks that
// mark later, the log must be opened again.
//
// # Lost answers
//
// When a connection dies, it is unknown whether the server ran the statement. The statement is
// sent again. A unit's writes were made if its mark is in the trail. If the server runs a unit's
// statement late, the statement finds another mark and writes nothing. Every other statement has
// the same result when it is run twice.
//
// # Poolers
//
// Each statement is a transaction of its own and needs no state of its connection, so that a
// pooler may run every statement on another connection.
//
// # Tenants
//
// A tenant that is opened by [OpenTenant] has a database role of its own, and the tables' policies
// show this role only that tenant's rows. All statements also select by the tenant. The policies
// guard against a statement that forgets the tenant, and against an injected statement.
package rows

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
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
	// Root names the tenant. It must be the same on every machine that shares the state.
	Root string
	// Schema is the schema of the tables; default memkernel.
	Schema string
	// Lease is how long a lock outlives a holder that was killed; default 15 s.
	Lease time.Duration
	// Tracer gets every statement; nil traces none.
	Tracer pgx.QueryTracer
}

const (
	defaultLease   = 15 * time.Second
	maxConns       = 8 // connections of a store
	connectTimeout = 5 * time.Second
)

var (
	schemaName = regexp.MustCompile(`^[a-z_][a-z0-9_]{0,62}$`)
	roleName   = regexp.MustCompile(`^memkernel_[0-9a-f]{16}$`)
)

func (o *Options) check() error {
	o.Schema = cmp.Or(o.Schema, "memkernel")
	if o.Lease <= 0 {
		o.Lease = defaultLease
	}
	switch {
	case !schemaName.MatchString(o.Schema):
		return fmt.Errorf("schema %q: take lower case letters, digits and _", o.Schema)
	case o.Root == "" || len(o.Root) > 200 || !utf8.ValidString(o.Root) || strings.ContainsFunc(o.Root, func(r rune) bool { return r < ' ' }):
		return fmt.Errorf("root %q: take a name of up to 200 bytes, alike on every machine that shares it", o.Root)
	}
	return nil
}

// Store is a store in a database.
type Store struct {
	*core
	folder string // "" or a path
	unit   *unit  // the unit to which writes through this store belong; nil for most stores
}

// core is shared by the stores of one tenant.
type core struct {
	db       database
	tenant   int64
	place    string
	password string
	lease    time.Duration
	holder   string // the name of this process

	mu      sync.Mutex
	folders map[string]*folder
	holds   holds
	files   *Workspace // nil until it is asked for
	found   found
}

// Open opens a tenant of a database, and creates missing tables.
func Open(ctx context.Context, o Options) (*Store, error) {
	c, cfg, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	return c.open(ctx, cfg, o.Schema, func(pool *pgxpool.Pool) error { return c.enter(ctx, pool, o) })
}

// prepare checks the options and fills in defaults. It returns a store without connections, and
// the configuration of its connections.
func prepare(o *Options) (*core, *pgxpool.Config, error) {
	err := o.check()
	var cfg *pgxpool.Config
	if err == nil {
		cfg, err = pgdsn.Config(o.DSN)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the state in PostgreSQL: %w", err)
	}
	host, _ := os.Hostname()
	c := newCore(pgdsn.Place(o.DSN)+"#"+o.Root, fmt.Sprintf("process %d on %s (%x)", os.Getpid(), cmp.Or(host, "a machine without a name"), newMark()), o.Lease)
	c.password = cfg.ConnConfig.Password
	cfg.MaxConns = maxConns
	cfg.ConnConfig.ConnectTimeout = connectTimeout
	cfg.ConnConfig.Tracer = o.Tracer
	// A pooler may run each statement on another connection, which has no prepared statements.
	cfg.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	return c, cfg, nil
}

// open opens the store's pool of connections. It closes the pool if check returns an error.
func (c *core) open(ctx context.Context, cfg *pgxpool.Config, schema string, check func(*pgxpool.Pool) error) (*Store, error) {
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err == nil {
		if err = check(pool); err == nil {
			c.db = server{pool, schema}
			return &Store{core: c}, nil
		}
		pool.Close()
	}
	return nil, c.explain("open", c.place, err)
}

func newCore(place, holder string, lease time.Duration) *core {
	c := &core{place: place, holder: holder, lease: lease, folders: map[string]*folder{}}
	c.holds.mine, c.found.mu = map[string]string{}, newMutex()
	return c
}

// enter brings the tables to this program's version and finds the tenant, or creates it.
func (c *core) enter(ctx context.Context, pool *pgxpool.Pool, o Options) error {
	if err := migrate(ctx, pool, o.Schema); err != nil {
		return err
	}
	in := func(q string) string { return strings.ReplaceAll(q, "$S", o.Schema) }
	err := pool.QueryRow(ctx, in(`SELECT id FROM $S.tenants WHERE name=$1::text`), o.Root).Scan(&c.tenant)
	if !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	var owner string
	var bound bool
	if err := pool.QueryRow(ctx, in(`SELECT row_security_active(oid), relowner::regrole::text FROM pg_class WHERE oid='$S.tenants'::regclass`)).Scan(&bound, &owner); err != nil {
		return err
	}
	if bound {
		return &failure{kind: errRefused, hint: "the tables are " + owner + "'s: name that user in the DSN, or make this one a member of it (GRANT " + owner + " TO me)",
			err: errors.New("row-level security hides all rows from this user")}
	}
	// The row of the blobs' lock must exist before the first blob, because a writer of blobs locks
	// that row.
	return pool.QueryRow(ctx, in(`WITH t AS (INSERT INTO $S.tenants(name) VALUES($1::text) ON CONFLICT(name) DO UPDATE SET name=excluded.name RETURNING id),
		h AS (INSERT INTO $S.holds(tenant, name, alone, holders) SELECT id, '`+store.BlobsLock+`', false, '{}' FROM t ON CONFLICT DO NOTHING)
		SELECT id FROM t`), o.Root).Scan(&c.tenant)
}

// Close releases the locks and closes the connections.
func (s *Store) Close() error {
	for holder := range s.held() {
		s.letGo(holder)
	}
	s.holds.runs.Wait()
	s.db.Close()
	return nil
}

// In implements [store.Store].
func (s *Store) In(folder string) store.Store {
	return &Store{core: s.core, folder: path.Join(s.folder, folder), unit: s.unit}
}

// Where implements [store.Store].
func (s *Store) Where(name string) string { return s.where(path.Join(s.folder, name)) }

func (c *core) where(at string) string {
	if at == "" || at == "." {
		return c.place
	}
	return c.place + "/" + at
}

// place is a name in the tables.
type place struct {
	at     string // the whole path
	folder string // the path of its folder in the table folders
	name   string // the path within the folder; "" for the folder itself
}

// at returns the place of a name. The path must stay in the store, and the server must be able to
// hold it.
func (s *Store) at(name string) (place, error) {
	at := path.Join(s.folder, name)
	if at == "." {
		at = ""
	}
	if at == ".." || strings.HasPrefix(at, "../") || strings.HasPrefix(at, "/") || strings.ContainsRune(at, 0) || !utf8.ValidString(at) {
		return place{}, fmt.Errorf("%s: %q is no name of a document", s.core.place, name)
	}
	return placeOf(at), nil
}

func placeOf(at string) place {
	first, rest, deeper := strings.Cut(at, "/")
	switch {
	case first == "project":
		return place{at, first, rest}
	case deeper && (first == "sessions" || first == "ended"):
		second, name, _ := strings.Cut(rest, "/")
		return place{at, first + "/" + second, name}
	}
	return place{at, "", at}
}

// Place returns the folder whose units write a name, and whether the name is that of a log.
func Place(name string) (folder string, log bool) {
	p := placeOf(name)
	return p.folder, p.log() >= 0
}

// logs are the names of logs. The tables name a log by its index in this list.
var logs = [...]string{"journal", "projection", "usage", "ended"}

// log returns the index in logs of the log at a place, or -1 if the place is not that of a log.
func (p place) log() int {
	i := slices.IndexFunc(logs[:], func(l string) bool { return p.name == l+".jsonl" })
	if (p.folder == "") != (i == ended) {
		return -1
	}
	return i
}

// ended is the index in logs of the only log outside a session.
const ended = 3

// blob returns the hash of the blob at a place, or "" if the place is not that of a blob.
func (p place) blob() string {
	if rest, ok := strings.CutPrefix(p.at, "blobs/"); ok {
		if dir, hash, _ := strings.Cut(rest, "/"); store.IsHash(hash) && hash[:2] == dir {
			return hash
		}
	}
	return ""
}

// newMark returns a random number that is not 0.
func newMark() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // Read never fails
	return int64(binary.BigEndian.Uint64(b[:])>>1) | 1
}
