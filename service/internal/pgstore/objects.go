package pgstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/internal/textutil"
)

// Bucket keeps large contents outside the database; package bucket implements it.
type Bucket interface {
	// Place returns the place of the bucket, for messages.
	Place() string
	// Put keeps a content. When it returns nil, the bucket must have all of it.
	Put(ctx context.Context, key string, data []byte) error
	// Get reads a content. The error for a missing content must wrap fs.ErrNotExist.
	Get(ctx context.Context, key string, size int64) ([]byte, error)
	// Remove removes a content. Removing a missing content must not be an error.
	Remove(ctx context.Context, key string) error
	// List calls f for every key that begins with prefix.
	List(ctx context.Context, prefix string, f func(key string, size int64) error) error
}

// DefaultAbove is the default of [Options.Above].
const DefaultAbove = 256 << 10

// defaultGrace is how long an object may be without a name. No write takes that long: a server
// refuses a request that is older than a quarter of an hour.
const defaultGrace = time.Hour

// mostPuts is how many objects are written at once.
const mostPuts = 4

// objects is the bucket of a store, if it has one.
type objects struct {
	bucket Bucket
	above  int64
	grace  time.Duration
	folder string // of the root's keys
	// apart reports whether a document of some name and content goes to the bucket when it is
	// large.
	apart func(name string, data []byte) bool
}

func (b *objects) init(o Options) {
	*b = objects{bucket: o.Bucket, above: o.Above, grace: o.Grace, folder: textutil.SafeName(o.Root) + "/", apart: isNamedByHash}
}

// isNamedByHash reports whether a name is the hash of its content, as the name of a blob is. Such
// a content never changes.
func isNamedByHash(name string, data []byte) bool {
	base := path.Base(name)
	return store.IsHash(base) && store.Sum(data) == base
}

// takes reports whether a document goes to the bucket.
func (b *objects) takes(name string, data []byte) bool {
	return b.bucket != nil && len(data) > 0 && int64(len(data)) > b.above && b.apart(name, data)
}

// key makes a key for a content that no other content has had or will have. So a late or repeated
// removal can't remove anything else.
func (b *objects) key(hash string) string {
	var once [8]byte
	_, _ = rand.Read(once[:]) // which never fails
	return b.folder + hash[:2] + "/" + hash + "-" + hex.EncodeToString(once[:])
}

// hashOf returns the hash that a key holds.
func hashOf(key string) string {
	hash, _, _ := strings.Cut(path.Base(key), "-")
	return hash
}

// object is a content that is in the bucket.
type object struct {
	content, size int64
	key, place    string
}

// writeObjects writes contents to the bucket. It inserts the row of each object before it writes
// the object. The objects have no names yet. Sweep removes objects that don't get a name in time.
func (c *core) writeObjects(paths []string, data map[string][]byte, st *store.Stats) (map[string]object, error) {
	out := map[string]object{}
	var at, keys []string
	var sizes []int64
	for _, p := range paths {
		if c.objects.takes(p, data[p]) {
			at, keys, sizes = append(at, p), append(keys, c.objects.key(store.Sum(data[p]))), append(sizes, int64(len(data[p])))
		}
	}
	if len(at) == 0 {
		return out, nil
	}
	var contents []int64
	err := c.change("write", store.Synced, at, nil, st, `
		o AS (INSERT INTO objects AS o(content, root, key, size, place, time) SELECT nextval('content_id'), $1::bigint, x.key, x.size, $7::text, clock_timestamp()
			FROM unnest($5::text[], $6::bigint[]) AS x(key, size) WHERE (SELECT ok FROM ok)
			ON CONFLICT(root, key) DO UPDATE SET time=excluded.time RETURNING content, key)
		SELECT ok.ok, (SELECT coalesce(array_agg(o.content ORDER BY x.i), '{}') FROM o JOIN unnest($5::text[]) WITH ORDINALITY AS x(key, i) USING(key)) FROM ok`,
		[]any{keys, sizes, c.objects.bucket.Place()}, &contents)
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(at))
	var wait sync.WaitGroup
	slot := make(chan struct{}, mostPuts)
	begun := time.Now()
	for i, p := range at {
		out[p] = object{content: contents[i], key: keys[i], size: sizes[i]}
		slot <- struct{}{}
		wait.Go(func() {
			errs[i] = c.objects.bucket.Put(context.Background(), keys[i], data[p])
			<-slot
		})
	}
	wait.Wait()
	st.SyncTime += time.Since(begun)
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("%s: nothing was written: %w", c.where(at[i]), err)
		}
	}
	return out, nil
}

// named reports whether the objects of a write whose answer was lost have got their names. If
// they have not, a sweep has given the objects up, and named removes them. The call may then be
// made again.
//
// takeovers is the count of servers before the write. If another server has taken over since, it
// may not know the names, so named removes nothing.
func (c *core) named(at string, of map[string]object, takeovers int64) error {
	var contents []int64
	for _, o := range of {
		contents = append(contents, o.content)
	}
	var n int
	err := c.row("look for", at, `SELECT count(*) FROM objects WHERE content=ANY($1::bigint[]) AND root=$2::bigint AND named`, []any{contents, c.root}, &n)
	if err != nil || n == len(of) {
		return err
	}
	err = fmt.Errorf("%s: nothing was written: it took so long that its object in %s was given up; make the call again", c.where(at), c.objects.bucket.Place())
	if c.takeovers.Load() != takeovers {
		return fmt.Errorf("write %s: another server took over meanwhile: %w; make the call again", c.where(at), store.ErrOvertaken)
	}
	for _, o := range of {
		// The object may have been written after its row was removed.
		if e := c.objects.bucket.Remove(context.Background(), o.key); e != nil {
			err = errors.Join(err, e)
		}
	}
	return err
}

// errNoBucket reports that a content is in a bucket and this process has no bucket.
var errNoBucket = errors.New("no bucket is named on this machine; set store.blobs.s3 as the other machines have it")

// readObject reads a content that is in the bucket, and checks its hash.
func (c *core) readObject(at string, o object) ([]byte, error) {
	if c.objects.bucket == nil {
		return nil, fmt.Errorf("read %s: its content is in %s: %w", c.where(at), o.place, errNoBucket)
	}
	data, err := c.objects.bucket.Get(context.Background(), o.key, o.size)
	if isNotThere(err) {
		// If the name is gone, its remover removes the object.
		var there bool
		if err := c.row("read", at, `SELECT EXISTS(SELECT FROM objects WHERE content=$1::bigint AND root=$2::bigint AND going IS NULL)`, []any{o.content, c.root}, &there); err != nil {
			return nil, err
		} else if !there {
			return nil, c.notThere("read", at)
		}
		hint := "restore the object from an older version or a copy of the bucket"
		if place := c.objects.bucket.Place(); place != o.place {
			hint = "it was written to " + o.place + ": name that bucket by store.blobs.s3, or copy what it holds"
		}
		return nil, &store.DamageError{Hash: hashOf(o.key), File: c.objects.bucket.Place() + "/" + o.key, Hint: hint}
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", c.where(at), err)
	}
	if got := store.Sum(data); got != hashOf(o.key) {
		return nil, &store.DamageError{Hash: hashOf(o.key), Got: got, File: c.objects.bucket.Place() + "/" + o.key, Hint: "restore the object from an older version or a copy of the bucket"}
	}
	return data, nil
}

// findObject finds the object of a content. ok is false if the content is not in the bucket.
func (c *core) findObject(at string, content int64) (o object, ok bool, err error) {
	o.content = content
	err = c.row("read", at, `SELECT key, size, place FROM objects WHERE content=$1::bigint AND root=$2::bigint`, []any{content, c.root}, &o.key, &o.size, &o.place)
	if errors.Is(err, pgx.ErrNoRows) {
		return o, false, nil
	}
	return o, err == nil, err
}

// condemn finds the objects to remove and keeps them from getting a name. These are objects that
// have lost their name, and objects that did not get a name in time. The row of each decides:
// naming an object changes the row, so one of two concurrent statements comes too late. Rows that
// are marked already are written again, so that the standby has the mark before the object is
// removed.
const condemn = `WITH ok AS (SELECT set_config('synchronous_commit', 'on', true)),
	never AS (UPDATE objects SET going=clock_timestamp() WHERE root=$1::bigint AND going IS NULL AND NOT named
		AND time < clock_timestamp() - $2::bigint * interval '1 microsecond' RETURNING content, key),
	longer AS (UPDATE objects AS o SET going=clock_timestamp() WHERE root=$1::bigint AND going IS NULL AND named
		AND NOT EXISTS(SELECT FROM files WHERE content=o.content AND root=$1::bigint) AND NOT EXISTS(SELECT FROM gone WHERE content=o.content AND root IN ($1::bigint, 0)) RETURNING content, key),
	again AS (UPDATE objects SET going=going WHERE root=$1::bigint AND going IS NOT NULL RETURNING content, key)
	SELECT content, key, false FROM never, ok UNION ALL SELECT content, key, false FROM longer, ok UNION ALL SELECT content, key, true FROM again, ok`

// Sweep implements [store.Apart].
func (s *Store) Sweep(ctx context.Context, now bool) (n int, err error) {
	c := s.core
	grace := c.objects.grace
	if now {
		grace = 0
	}
	var todo []object
	err = c.run("sweep", "", send, nil, func(ctx context.Context, conn conn) error {
		rows, err := conn.Query(ctx, condemn, c.root, grace.Microseconds())
		if err != nil {
			return err
		}
		todo, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (o object, err error) {
			var again bool
			err = row.Scan(&o.content, &o.key, &again)
			return o, err
		})
		return err
	})
	if err != nil || len(todo) == 0 {
		return 0, err
	}
	if c.objects.bucket == nil {
		return 0, fmt.Errorf("%s: %d objects of a bucket that nothing needs are left: %w", c.place, len(todo), errNoBucket)
	}
	for _, o := range todo {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := c.objects.bucket.Remove(ctx, o.key); err != nil {
			return n, fmt.Errorf("%s: %d objects that nothing needs are left in the bucket, and go when this is run again: %w", c.place, len(todo)-n, err)
		}
		var ok bool
		if err := c.row("sweep", "", `WITH d AS (DELETE FROM objects WHERE content=$1::bigint AND root=$2::bigint AND going IS NOT NULL) SELECT true`, []any{o.content, c.root}, &ok); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// Strays implements [store.Apart].
func (s *Store) Strays(ctx context.Context, f func(store.Stray) error) error {
	c := s.core
	if c.objects.bucket == nil {
		return nil
	}
	var keys []string
	sizes := map[string]int64{}
	look := func() error {
		if len(keys) == 0 {
			return nil
		}
		var strays []store.Stray
		err := c.query("look for", "", `SELECT x.key, o.key IS NOT NULL FROM unnest($2::text[]) AS x(key) LEFT JOIN objects AS o ON o.root=$1::bigint AND o.key=x.key
			WHERE NOT EXISTS(SELECT FROM files AS f WHERE f.content=o.content AND f.root=$1::bigint)`,
			[]any{c.root, keys}, func(rows pgx.Rows) (err error) {
				strays, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (stray store.Stray, err error) {
					var key string
					err = row.Scan(&key, &stray.Known)
					stray.Where, stray.Size = c.objects.bucket.Place()+"/"+key, sizes[key]
					return stray, err
				})
				return err
			})
		for _, stray := range strays {
			if err == nil {
				err = f(stray)
			}
		}
		keys = keys[:0]
		clear(sizes)
		return err
	}
	err := c.objects.bucket.List(ctx, c.objects.folder, func(key string, size int64) error {
		keys, sizes[key] = append(keys, key), size
		if len(keys) < 1000 {
			return nil
		}
		return look()
	})
	if err != nil {
		return err
	}
	return look()
}
