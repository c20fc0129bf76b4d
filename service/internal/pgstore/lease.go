package pgstore

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
)

// leases are the locks that this process holds.
type leases struct {
	c    *core
	mu   sync.Mutex        // guards the fields below, and the views
	held map[string]*lease // by token
	stop chan struct{}     // nil while nothing is renewed
	done chan struct{}
	// unwritten holds an error for each released lock whose held-back writes could not be
	// written.
	unwritten map[string]error
	besides   besides
	// rests holds released locks of folders, by path. need is how many calls in a row must find
	// the lock still this process's own before it is first resumed.
	rests map[string]*rest
	need  int
	// below counts down from 0 and numbers the held-back contents of documents.
	below int64
}

// lease is a lock that this process holds.
type lease struct {
	path   string
	folder string // the folder that it fences, with a slash at its end; "" is the whole root
	alone  bool
	// users counts the lock's users in this process. An unused shared lock is kept for a while,
	// because it is mostly taken again soon.
	users int
	idle  bool      // nobody has used it since it was renewed
	fresh time.Time // when the lease last began, by this process's clock
	view  *view     // nil if the lock does not keep others from writing
	// resumed reports that nobody has checked yet whether another process took the lock
	// meanwhile. beside is the state of the documents outside the folder that was known when the
	// lock was resumed.
	resumed bool
	beside  map[string]*file
	// failed is the error that kept held-back writes from being written.
	failed error
	// takeover is how many servers had taken over when the lock was taken. A server that takes
	// over later may have given the lock to somebody else, and may lack data that was read under
	// the lock. So nothing more is written under it.
	takeover int64
}

// moved reports whether another server has taken over since the lock was taken.
func (l *leases) moved(h *lease) bool { return h.takeover != l.c.takeovers.Load() }

// movedToken begins the tokens of locks that another server may not know. No server gives such
// tokens.
const movedToken = "moved "

// fence is the token by which a lock fences writes.
func (l *leases) fence(h *lease, token string) string {
	if l.moved(h) {
		return movedToken + token
	}
	return token
}

func (l *leases) init(c *core) {
	l.c, l.held, l.rests = c, map[string]*lease{}, map[string]*rest{}
	l.besides.looked = map[string]bool{}
	l.unwritten, l.need = map[string]error{}, firstNeed
}

// covers reports whether a lease fences a path.
func (h *lease) covers(at string) bool { return strings.HasPrefix(at+"/", h.folder) }

// over returns the paths and tokens of the locks that fence some paths.
func (l *leases) over(paths []string) (locks, tokens []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	locks, tokens = []string{}, []string{}
	for _, token := range slices.Sorted(maps.Keys(l.held)) {
		if h := l.held[token]; h.users > 0 && slices.ContainsFunc(paths, h.covers) {
			locks, tokens = append(locks, h.path), append(tokens, l.fence(h, token))
		}
	}
	return locks, tokens
}

// broken returns the error of a lost write under a lock that fences one of paths. Later writes
// there must not be done.
func (l *leases) broken(paths []string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(l.held)) {
		if h := l.held[token]; h.failed != nil && slices.ContainsFunc(paths, h.covers) {
			return h.failed
		}
	}
	return nil
}

// viewOf returns the known state of the folder that holds a path, while nobody else writes there.
// It returns nil unless the current server gave a lock that ensures this. Callers must hold mu.
func (l *leases) viewOf(at string) *view {
	for _, h := range l.held {
		if h.view != nil && !l.moved(h) && h.covers(at) {
			return h.view
		}
	}
	return nil
}

// now reads the server's clock, in microseconds since 1970.
const now = `(extract(epoch FROM clock_timestamp())*1000000)::bigint`

// takeLock gives the lock to a new token, unless another holder has it: one whose lease has not
// ended and with whom the lock can't be shared. $6 are tokens of this process that it does not
// use; they don't count. $7 and $8 are the process's locks that fence this lock. If the process
// has lost any of them, it does not get the lock.
//
// The token is random as well ($9). A server that crashes, or a standby that takes over, may
// forget the newest numbers of a sequence and give them again.
const takeLock = `WITH n AS MATERIALIZED (SELECT nextval('fence')::text || '.' || $9::text AS token, set_config('synchronous_commit', 'off', true)),
	fence AS MATERIALIZED (SELECT l.path FROM locks AS l JOIN unnest($7::text[], $8::text[]) AS h(path, token) ON l.root=$1::bigint AND l.path=h.path AND l.held ? h.token FOR SHARE OF l),
	ok AS MATERIALIZED (SELECT (SELECT count(*) FROM fence) = cardinality($7::text[]) AS ok),
	t AS (
		INSERT INTO locks AS l(root, path, alone, held, holder) SELECT $1::bigint, $2::text, $3::boolean, jsonb_build_object(n.token, ` + now + `+$4::bigint), $5::text FROM n, ok WHERE ok.ok
		ON CONFLICT(root, path) DO UPDATE SET alone=excluded.alone, holder=excluded.holder,
			held=coalesce((SELECT jsonb_object_agg(key, value) FROM jsonb_each(l.held) WHERE value::bigint > ` + now + ` AND key<>ALL($6::text[])), '{}') || excluded.held
		WHERE NOT (l.alone OR excluded.alone) OR NOT EXISTS(SELECT FROM jsonb_each(l.held) WHERE value::bigint > ` + now + ` AND key<>ALL($6::text[]))
		RETURNING 1)
	SELECT ok.ok, CASE WHEN EXISTS(SELECT FROM t) THEN n.token ELSE '' END,
		coalesce((SELECT holder FROM locks WHERE root=$1::bigint AND path=$2::text), '') FROM n, ok`

// wantLock marks a shared lock as wanted, so that holders who don't use it let go.
const wantLock = `WITH w AS (UPDATE locks SET wanted=clock_timestamp() WHERE root=$1::bigint AND path=$2::text AND NOT alone) SELECT set_config('synchronous_commit', 'off', true)`

// folderLock is the name of the lock that writers in a folder must hold. Other locks keep
// concurrent operations apart and promise nothing about writes.
const folderLock = "lock"

// Lock implements [store.Store]. A server that crashes may forget that a lock was taken: the
// server then refuses the holder's writes.
func (s *Store) Lock(name string, share store.Share) (func(), error) {
	at, err := s.at(name)
	if err != nil {
		return nil, err
	}
	l := &s.leases
	own, release := l.unused(at, share)
	if release != nil {
		return release, nil
	}
	if l.isResumed(at) { // the server would give the lock to this process
		return nil, &store.LockedError{Name: s.where(at), Holder: "this process"}
	}
	h := &lease{path: at, alone: share == store.Alone, users: 1, fresh: time.Now()}
	if dir := path.Dir(at); dir != "." {
		h.folder = dir + "/"
		if h.alone && path.Base(at) == folderLock && !l.overlaps(h) {
			h.view = newView()
		}
	}
	locks, tokens := l.above(at)
	l.mu.Lock()
	names := l.besides.names()
	l.mu.Unlock()
	var beside map[string]*file
	var asked time.Time
	var token, holder string
	var ok bool
	err = s.run("take", at, send, nil, func(ctx context.Context, conn conn) error {
		h.takeover, asked = s.takeovers.Load(), time.Now()
		b := &pgx.Batch{}
		b.Queue(takeLock, s.root, at, h.alone, s.lease.Microseconds(), s.holder, own, locks, tokens, fmt.Sprintf("%x", uint64(newMark())))
		if h.view != nil { // a separate statement sees the folder as it is after the lock is taken
			paths, contents, versions, ends := s.cache.known(l.contents(at))
			b.Queue(listView, s.root, h.folder, h.folder[:len(h.folder)-1]+"0", names, paths, contents, versions, ends, at, s.holder)
		}
		rows, since := s.rows.Load(), int64(0)
		if rows != nil && (path.Base(at) == folderLock || at == writersLock) { // the holder of the lock sees the writes of others
			since = rows.ask(b)
		} else {
			rows = nil
		}
		res := conn.SendBatch(ctx, b)
		defer res.Close()
		if err := res.QueryRow().Scan(&ok, &token, &holder); err != nil {
			return err
		}
		if h.view != nil {
			rows, err := res.Query()
			if err != nil {
				return err
			}
			if beside, err = h.view.fill(rows, h.folder, names, &s.cache); err != nil {
				return err
			}
		}
		if rows != nil {
			if err := rows.heard(res, since, asked); err != nil {
				return err
			}
		}
		return res.Close()
	})
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, l.lostOver(at, locks, tokens)
	case token == "":
		if h.alone {
			_, _ = s.pool.Exec(context.Background(), wantLock, s.root, at) // a holder that misses the notice frees the lock later
		}
		if holder == s.holder {
			holder = "this process"
		}
		return nil, &store.LockedError{Name: s.where(at), Holder: holder}
	}
	l.drop(own)
	l.add(token, h, holder == "" || holder == s.holder)
	if h.view != nil {
		l.mu.Lock()
		l.besides.learn(beside, asked, h.takeover)
		l.mu.Unlock()
	}
	return sync.OnceFunc(func() { l.release(token, h) }), nil
}

// overlaps reports whether there is a view of a folder that contains the folder of a lease, or
// lies in it.
func (l *leases) overlaps(h *lease) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.held {
		if o.view != nil && (o.covers(h.path) || strings.HasPrefix(o.folder, h.folder)) {
			return true
		}
	}
	return false
}

// above is over for the path of a lock. It leaves out locks of that same path.
func (l *leases) above(at string) (locks, tokens []string) {
	locks, tokens = l.over([]string{at})
	for i := len(locks) - 1; i >= 0; i-- {
		if locks[i] == at {
			locks, tokens = slices.Delete(locks, i, i+1), slices.Delete(tokens, i, i+1)
		}
	}
	return locks, tokens
}

// lostOver returns why a lock can't be taken when this process has lost one of the locks that
// fence it. A lost shared lock is forgotten, so that the process takes it again. The process must
// release a lost lock that it held alone.
func (l *leases) lostOver(at string, locks, tokens []string) error {
	var living []string
	err := l.c.query("look at", at, `SELECT h.token FROM unnest($2::text[], $3::text[]) AS h(path, token) JOIN locks AS l ON l.root=$1::bigint AND l.path=h.path AND l.held ? h.token`,
		[]any{l.c.root, locks, tokens}, func(rows pgx.Rows) (err error) {
			living, err = pgx.AppendRows([]string(nil), rows, pgx.RowTo[string])
			return err
		})
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = &store.LockedError{Name: l.c.where(strings.Join(locks, ", ")), Holder: "another process, which took it while this one was out of reach"}
	for i, token := range tokens {
		token = strings.TrimPrefix(token, movedToken)
		if h := l.held[token]; h == nil || !l.moved(h) && slices.Contains(living, token) {
			continue
		} else if h.alone {
			err = &store.LostError{Name: l.c.where(at), Lock: l.c.where(locks[i])}
		} else {
			delete(l.held, token)
		}
	}
	return err
}

// unused returns a release function if the caller can share a lock that this process has already.
// Otherwise it returns the tokens of the locks that this process has and does not use.
func (l *leases) unused(at string, share store.Share) (own []string, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	own = []string{}
	for _, token := range slices.Sorted(maps.Keys(l.held)) {
		h := l.held[token]
		switch {
		case h.path != at || h.alone || l.moved(h) && h.users > 0:
		case l.moved(h):
			own = append(own, token)
		case h.users == 0 && time.Since(h.fresh) >= l.c.lease: // somebody else may have the lock
			own = append(own, token)
		case share == store.Shared:
			h.users++
			h.idle = false
			return nil, sync.OnceFunc(func() { l.release(token, h) })
		case h.users == 0:
			own = append(own, token)
		}
	}
	return own, nil
}

// add keeps a lock that was taken. last reports that nobody else has had the lock since this
// process last had it.
func (l *leases) add(token string, h *lease, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h.view != nil {
		l.restOf(h.path).taken(last)
	}
	l.hold(token, h)
}

// hold makes later calls renew and trust a lock. Callers must hold mu.
func (l *leases) hold(token string, h *lease) {
	l.held[token] = h
	delete(l.unwritten, h.path)
	if l.stop == nil {
		l.stop, l.done = make(chan struct{}), make(chan struct{})
		go l.renewing(l.stop, l.done)
	}
}

func (l *leases) drop(tokens []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range tokens {
		delete(l.held, t)
	}
}

// Unwritten is for [store.Unwritten].
func (s *Store) Unwritten(name string) error {
	at, err := s.at(name)
	if err != nil {
		return err
	}
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.unwritten[at]
	delete(l.unwritten, at)
	return err
}

// release ends a use of a lock. A shared lock is kept until the next renewal. A lock held alone
// is released at once, after the writes held back under it. If they can't be written,
// [Store.Unwritten] returns the error.
func (l *leases) release(token string, h *lease) {
	l.mu.Lock()
	h.users--
	if !h.alone {
		l.mu.Unlock()
		return
	}
	delete(l.held, token)
	resumed := h.resumed
	flush := resumed || h.view != nil && h.view.pending()
	l.mu.Unlock()
	var there bool
	if flush {
		there = l.c.flush(h, token, true) == nil
	}
	if !there {
		there = l.letGo(token, h) && !flush
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !there {
		token = ""
	}
	l.remember(h, token)
	if resumed {
		l.restOf(h.path).found(there)
	}
	if h.failed != nil {
		l.unwritten[h.path] = h.failed
	}
}

// Defer is for [store.Defer].
func (s *Store) Defer(name string) (sync func() error) {
	nothing := func() error { return nil }
	at, err := s.at(name)
	if err != nil {
		return nothing
	}
	l := &s.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	for token, h := range l.held {
		if h.path != at || h.view == nil {
			continue
		}
		h.view.deferred = true
		return func() error {
			l.mu.Lock()
			flush := l.held[token] == h && (h.resumed || h.view != nil && h.view.pending())
			l.mu.Unlock()
			if !flush {
				return nil
			}
			return s.flush(h, token, false)
		}
	}
	return nothing
}

// freeLock frees a lock. If the lock may be resumed ($4), its token stays.
const freeLock = `WITH r AS (UPDATE locks SET held=CASE WHEN $4::boolean THEN held || jsonb_build_object($3::text, 0) ELSE held-$3::text END
		WHERE root=$1::bigint AND path=$2::text AND held ? $3::text RETURNING 1)
	SELECT EXISTS(SELECT FROM r), set_config('synchronous_commit', 'off', true)`

// letGo frees a lock, and reports whether this process still had it. A lock that can't be freed
// ends with its lease.
func (l *leases) letGo(token string, h *lease) (own bool) {
	l.mu.Lock()
	rest := h.view != nil && h.failed == nil
	l.mu.Unlock()
	err := l.c.run("release", h.path, send, nil, func(ctx context.Context, conn conn) error {
		var how string
		return conn.QueryRow(ctx, freeLock, l.c.root, h.path, token, rest).Scan(&own, &how)
	})
	return own && err == nil
}

// renewing renews the leases every third of their time, until stop is closed.
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

// renew extends the leases. It frees locks that nobody has used since the last renewal, and
// unused locks that somebody else wants. It ignores a server that does not answer. Writers get
// the error, and a lock that nobody else has taken is still valid when the server is back.
func (l *leases) renew() {
	var paths, tokens []string
	ended := map[string]*lease{}
	l.mu.Lock()
	for token, h := range l.held {
		if l.moved(h) { // its lease ends by itself
			continue
		}
		if h.users == 0 && h.idle {
			ended[token] = h
			delete(l.held, token)
			continue
		}
		h.idle = h.users == 0
		paths, tokens = append(paths, h.path), append(tokens, token)
	}
	l.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(ended)) {
		l.letGo(token, ended[token])
	}
	if len(paths) == 0 || l.c.asked(look) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), l.c.lease/3)
	defer cancel()
	sent := time.Now()
	rows, err := l.c.pool.Query(ctx, `WITH h AS (SELECT n.path, jsonb_object_agg(n.token, `+now+`+$4::bigint) AS more
			FROM unnest($2::text[], $3::text[]) AS n(path, token) JOIN locks AS l ON l.root=$1::bigint AND l.path=n.path AND l.held ? n.token GROUP BY n.path)
		UPDATE locks AS l SET held=l.held || (SELECT coalesce(jsonb_object_agg(key, value), '{}') FROM jsonb_each(h.more) WHERE l.held ? key)
		FROM h WHERE l.root=$1::bigint AND l.path=h.path RETURNING l.path, coalesce(l.wanted > clock_timestamp() - $5::bigint * interval '1 microsecond', false), ARRAY(SELECT jsonb_object_keys(l.held))`,
		l.c.root, paths, tokens, l.c.lease.Microseconds(), 2*l.c.lease.Microseconds())
	if err != nil {
		return
	}
	wanted := map[string]bool{}
	for rows.Next() {
		var at string
		var w bool
		var have []string
		if rows.Scan(&at, &w, &have) != nil {
			break
		}
		wanted[at] = w
		l.mu.Lock()
		for _, token := range have {
			if h := l.held[token]; h != nil {
				h.fresh = sent
			}
		}
		l.mu.Unlock()
	}
	rows.Close()
	l.mu.Lock()
	for token, h := range l.held {
		if h.users == 0 && wanted[h.path] {
			ended[token] = h
			delete(l.held, token)
		}
	}
	l.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(ended)) {
		if h := ended[token]; wanted[h.path] {
			l.letGo(token, h)
		}
	}
}

// close releases all locks.
func (l *leases) close() {
	l.mu.Lock()
	held, stop, done := l.held, l.stop, l.done
	l.held, l.stop = map[string]*lease{}, nil
	l.mu.Unlock()
	if stop != nil {
		close(stop)
		<-done
	}
	for _, token := range slices.Sorted(maps.Keys(held)) {
		h := held[token]
		if h.view != nil && h.view.pending() && l.c.flush(h, token, true) == nil {
			continue
		}
		l.letGo(token, h)
	}
}
