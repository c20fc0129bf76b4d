package pgstore

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/internal/store"
)

func isNotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// leases are the locks that this process holds.
type leases struct {
	c    *core
	mu   sync.Mutex // guards what follows
	held map[string]*lease
	stop chan struct{} // nil while nothing is renewed
	done chan struct{}
}

// lease is one of them; its token is the key.
type lease struct {
	path   string
	folder string // what it fences, with a slash at its end; "" is all
	alone  bool
}

func (l *leases) init(c *core) { l.c, l.held = c, map[string]*lease{} }

// covers reports whether a lease fences a path.
func (h *lease) covers(at string) bool { return strings.HasPrefix(at+"/", h.folder) }

// over are the paths and tokens of the locks that fence some paths.
func (l *leases) over(paths []string) (locks, tokens []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	locks, tokens = []string{}, []string{}
	for token, h := range l.held {
		if slices.ContainsFunc(paths, h.covers) {
			locks, tokens = append(locks, h.path), append(tokens, token)
		}
	}
	return locks, tokens
}

// alone is the token of a lock that keeps others from writing under a path, "" if this
// process has none.
func (l *leases) alone(at string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	best := ""
	for token, h := range l.held {
		if h.alone && h.folder != "" && h.covers(at) && (best == "" || token < best) {
			best = token
		}
	}
	return best
}

// now is the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// takeLock gives the lock to a new token, unless others have it: those whose leases have
// not ended, and with whom it can't be shared.
const takeLock = `WITH n AS MATERIALIZED (SELECT nextval('fence')::text AS token, set_config('synchronous_commit', 'off', true)),
	t AS (
		INSERT INTO locks AS l(root, path, alone, held, holder) SELECT $1::bigint, $2::text, $3::boolean, jsonb_build_object(n.token, ` + now + `+$4::bigint), $5::text FROM n
		ON CONFLICT(root, path) DO UPDATE SET alone=excluded.alone, holder=excluded.holder,
			held=coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(l.held) WHERE value::bigint > ` + now + `), '{}') || excluded.held
		WHERE NOT (l.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(l.held) WHERE value::bigint > ` + now + `)
		RETURNING 1)
	SELECT CASE WHEN EXISTS(SELECT FROM t) THEN n.token ELSE '' END,
		coalesce((SELECT holder FROM locks WHERE root=$1::bigint AND path=$2::text), '') FROM n`

// Lock implements [store.Store]. That the lock was taken need not survive the server's
// end: who believes to have one that is forgotten is fenced.
func (s *Store) Lock(name string, share store.Share) (func(), error) {
	at, err := s.at(name)
	if err != nil {
		return nil, err
	}
	var token, holder string
	var unsure bool
	err = s.run("take", at, send, &unsure, func(ctx context.Context, conn *pgxpool.Conn) error {
		return conn.QueryRow(ctx, takeLock, s.root, at, share == store.Alone, s.lease.Microseconds(), s.holder).Scan(&token, &holder)
	})
	if err != nil {
		return nil, err
	}
	if token == "" {
		if holder == s.holder {
			holder = "this process"
		}
		return nil, &store.LockedError{Name: s.where(at), Holder: holder}
	}
	h := &lease{path: at, alone: share == store.Alone}
	if dir := path.Dir(at); dir != "." {
		h.folder = dir + "/"
	}
	s.leases.add(token, h)
	return sync.OnceFunc(func() { s.leases.release(token, h) }), nil
}

func (l *leases) add(token string, h *lease) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held[token] = h
	if l.stop == nil {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.renewing(l.stop, l.done)
	}
}

// release lets go of a lock. One that can't be let go ends by itself.
func (l *leases) release(token string, h *lease) {
	l.mu.Lock()
	delete(l.held, token)
	l.mu.Unlock()
	_ = l.c.run("release", h.path, send, nil, func(ctx context.Context, conn *pgxpool.Conn) error {
		var how string
		err := conn.QueryRow(ctx, `WITH r AS (UPDATE locks SET held=held-$3::text WHERE root=$1::bigint AND path=$2::text) SELECT set_config('synchronous_commit', 'off', true)`,
			l.c.root, h.path, token).Scan(&how)
		return err
	})
}

// renewing renews the leases at a third of their time, until stop.
func (l *leases) renewing(stop, done chan struct{}) {
	defer close(done)
	t := time.NewTicker(max(l.c.lease/3, time.Millisecond))
	defer t.Stop()
	for {
		select {
		case <-t.C:
			l.renew()
		case <-stop:
			return
		}
	}
}

// renew makes the leases last. That the server does not answer is no matter here: who
// writes meets it, and a lease that nobody else has taken is good when it is back.
func (l *leases) renew() {
	var paths, tokens []string
	l.mu.Lock()
	for token, h := range l.held {
		paths, tokens = append(paths, h.path), append(tokens, token)
	}
	l.mu.Unlock()
	if len(paths) == 0 || l.c.asked(look) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.c.lease/3)
	defer cancel()
	_, _ = l.c.pool.Exec(ctx, `WITH h AS (SELECT n.path, jsonb_object_agg(n.token, `+now+`+$4::bigint) AS more
			FROM unnest($2::text[], $3::text[]) AS n(path, token) JOIN locks AS l ON l.root=$1::bigint AND l.path=n.path AND l.held ? n.token GROUP BY n.path)
		UPDATE locks AS l SET held=l.held || (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(h.more) WHERE l.held ? key)
		FROM h WHERE l.root=$1::bigint AND l.path=h.path`, l.c.root, paths, tokens, l.c.lease.Microseconds())
}

// close lets go of all.
func (l *leases) close() {
	l.mu.Lock()
	held, stop, done := l.held, l.stop, l.done
	l.held, l.stop = map[string]*lease{}, nil
	l.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
	for token, h := range held {
		l.release(token, h)
	}
}
