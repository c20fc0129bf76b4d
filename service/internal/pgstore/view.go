package pgstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
)

func isNotThere(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// view is the known state of a folder while this process has its lock. Nobody else writes there,
// so the state read with the lock holds until the lock is released. Unsynced writes are held back
// in the view, and are sent with the next statement about the folder. If the process is killed
// under the lock, held-back writes may be lost, as in a power cut. With [Store.Defer] Synced
// writes are held back too. leases.mu guards the view.
type view struct {
	files map[string]*file
	// held holds the held-back writes, by content.
	held map[int64]*heldBack
	// puts holds the held-back documents, by path. Their contents have numbers below 0 until the
	// documents are sent.
	puts map[string][]byte
	// deferred reports that Synced writes are held back too.
	deferred bool
	// waits reports that the statement that sends the held-back writes must wait for the disk.
	waits bool
}

// heldBack is a held-back append, or a held-back patch within the present content.
type heldBack struct {
	at     string
	append bool
	off    int64
	data   []byte
}

func newView() *view {
	return &view{files: map[string]*file{}, held: map[int64]*heldBack{}, puts: map[string][]byte{}}
}

// listView lists a folder with everything below it, and documents outside it. For contents that
// this process knows in another version ($5 to $8) it reads the parts that may be new. It reads
// small contents and replaced documents whole, and other contents from the known end on. A caller
// that did not get the lock ($9, $10) gets nothing.
const listView = `SELECT f.path, f.content, f.size, f.version, f.time, p.off, p.data FROM files AS f
	LEFT JOIN unnest($5::text[], $6::bigint[], $7::bigint[], $8::bigint[]) AS k(path, content, version, upto) ON k.path=f.path AND (k.content<>f.content OR k.version<>f.version)
		AND (f.size <= 4096 OR k.content<>f.content AND f.size <= 32768 OR k.content=f.content AND f.size > k.upto AND f.size-k.upto <= 131072)
	LEFT JOIN LATERAL (SELECT CASE WHEN f.size <= 4096 OR k.content<>f.content THEN 0 ELSE coalesce((SELECT max(off) FROM pieces WHERE root=f.root AND content=f.content AND off <= k.upto), 0) END AS off OFFSET 0) AS b ON k.path IS NOT NULL
	LEFT JOIN pieces AS p ON p.root=f.root AND p.content=f.content AND p.off >= b.off
	WHERE f.root=$1::bigint AND (f.path >= $2::text AND f.path < $3::text OR f.path=ANY($4::text[]))
		AND EXISTS(SELECT FROM locks WHERE root=$1::bigint AND path=$9::text AND holder=$10::text) ORDER BY f.path, p.off`

// fill reads the answer to listView and returns the documents outside the folder. It keeps
// contents in the cache.
func (v *view) fill(rows pgx.Rows, folder string, names []string, keep *cache) (beside map[string]*file, err error) {
	defer rows.Close()
	clear(v.files)
	beside = map[string]*file{}
	for _, at := range names {
		beside[at] = &file{}
	}
	parts := map[*file]window{}
	for last := (*file)(nil); rows.Next(); {
		var at string
		var f file
		var off *int64
		var data []byte
		if err := rows.Scan(&at, &f.content, &f.size, &f.version, &f.time, &off, &data); err != nil {
			return nil, err
		}
		if last == nil || last.content != f.content {
			last = &f
			if strings.HasPrefix(at, folder) {
				v.files[at] = last
			} else {
				beside[at] = last
			}
		}
		if off == nil {
			continue
		}
		if w := parts[last]; w.data == nil {
			parts[last] = window{*off, data}
		} else if w.off+int64(len(w.data)) == *off {
			parts[last] = window{w.off, append(w.data, data...)}
		}
	}
	rows.Close()
	for f, w := range parts {
		if w.off+int64(len(w.data)) == f.size {
			keep.keep(f.content, f.version, w)
		}
	}
	return beside, rows.Err()
}

func (v *view) pending() bool { return len(v.held)+len(v.puts) > 0 }

// has reports whether a write to a content is held back.
func (v *view) has(content int64) bool {
	at, f := v.of(content)
	return v.held[content] != nil || f != nil && content < 0 && v.puts[at] != nil
}

func (v *view) hasFolder(at string) bool {
	for n := range v.files {
		if strings.HasPrefix(n, at+"/") {
			return true
		}
	}
	return false
}

// of returns the file that has a content, or nil.
func (v *view) of(content int64) (at string, f *file) {
	for at, f := range v.files {
		if f.content == content {
			return at, f
		}
	}
	return "", nil
}

// seen looks a path up in the view that covers it. ok is false if no view covers the path.
func (c *core) seen(at string) (f file, ok bool) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.viewOf(at)
	if v == nil {
		return l.beside(at)
	}
	if g := v.files[at]; g != nil {
		return *g, true
	}
	return file{folder: v.hasFolder(at)}, true
}

// covered reports whether a view covers the whole folder that a path is in.
func (c *core) covered(at string) bool {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.viewOf(at) != nil
}

// noDocument records that a name of the root is a folder and not a document.
func (l *leases) noDocument(at string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.besides.looked, at)
}

// seenContent looks a content up in the view that covers the path that the content had. ok is
// false if no view covers that path.
func (c *core) seenContent(at string, content int64) (now string, f file, ok bool) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.viewOf(at)
	if v == nil {
		return "", f, false
	}
	now, g := v.of(content)
	if g == nil {
		return "", f, false
	}
	return now, *g, true
}

// wrote records the new state of a path in its view. A content of 0 means that the path was
// removed.
func (c *core) wrote(at string, f file) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	l.tell(at, f)
	v := l.viewOf(at)
	switch {
	case v == nil:
		l.disturb(at)
		if f.content == 0 {
			l.disturbBelow(at)
		}
	case f.content == 0:
		for n := range v.files {
			if n == at || strings.HasPrefix(n, at+"/") {
				delete(v.files, n)
			}
		}
	default:
		v.files[at] = &f
	}
}

// unsee makes later reads ask the server for the folders that hold a path.
func (c *core) unsee(at string) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	l.disturb(at)
	l.disturbBelow(at)
	delete(l.besides.known, at)
	for _, h := range l.held {
		if h.view != nil && (h.covers(at) || strings.HasPrefix(h.folder, at+"/")) {
			h.view = nil
		}
	}
}

// mostHeld bounds the held-back bytes of one content. mostWrites bounds the number of contents
// and documents with held-back writes in a folder.
const mostHeld, mostWrites = 256 << 10, 16

// hold holds a write back, if the view that covers the path allows that, and returns the file
// with the write.
func (c *core) hold(how store.Durability, at string, content, off int64, data []byte, appends bool) (f file, ok bool) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.viewOf(at)
	if v == nil || how != store.Unsynced && !v.deferred || len(data) == 0 || len(data) > mostHeld {
		return f, false
	}
	g := v.files[at]
	if g == nil || g.content != content || appends && off != g.size || !appends && off+int64(len(data)) > g.size {
		return f, false
	}
	switch h := v.held[content]; {
	case h == nil && len(v.held) < mostWrites:
		v.held[content] = &heldBack{at: at, append: appends, off: off, data: append([]byte(nil), data...)}
		g.version++
	case h == nil, h.append != appends, len(h.data)+len(data) > mostHeld:
		return f, false
	case appends:
		h.data = append(h.data, data...)
	case off >= h.off && off <= h.off+int64(len(h.data)): // the write overlaps the held-back data, or follows it
		h.data = append(h.data[:off-h.off], append(append([]byte(nil), data...), h.data[min(int64(len(h.data)), off-h.off+int64(len(data))):]...)...)
	case off < h.off && off+int64(len(data)) >= h.off:
		h.data, h.off = append(append([]byte(nil), data...), h.data[min(int64(len(h.data)), off+int64(len(data))-h.off):]...), off
	default:
		return f, false
	}
	g.size, g.time = max(g.size, off+int64(len(data))), time.Now()
	v.waits = v.waits || how != store.Unsynced
	return *g, true
}

// holdPut is hold for documents, which get a new content with each write.
func (c *core) holdPut(how store.Durability, paths []string, data map[string][]byte) bool {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.viewOf(paths[0])
	if v == nil || !v.deferred || how == store.Once || len(v.held)+len(v.puts)+len(paths) > mostWrites {
		return false
	}
	for _, at := range paths {
		if l.viewOf(at) != v || len(data[at]) > mostPart || v.files[at] != nil && v.held[v.files[at].content] != nil || v.hasFolder(at) {
			return false
		}
	}
	for _, at := range paths {
		l.below--
		f := &file{content: l.below, size: int64(len(data[at])), version: 1, time: time.Now()}
		if old := v.files[at]; old != nil {
			f.version = old.version + 1
			c.cache.drop([]int64{old.content})
		}
		v.files[at], v.puts[at] = f, slices.Clone(data[at])
		c.cache.keep(f.content, f.version, window{0, v.puts[at]})
	}
	v.waits = v.waits || how != store.Unsynced
	return true
}

// settle writes the held-back writes in the folders of some paths. If contents are given, it
// writes only the writes to these contents.
func (c *core) settle(paths []string, contents ...int64) error {
	l := &c.leases
	l.mu.Lock()
	todo := map[string]*lease{}
	for token, h := range l.held {
		if h.view == nil || !h.view.pending() {
			continue
		}
		for _, at := range paths {
			if !h.covers(at) && !strings.HasPrefix(h.folder, at+"/") {
				continue
			}
			for _, id := range contents {
				if h.view.has(id) {
					todo[token] = h
				}
			}
			if len(contents) == 0 {
				todo[token] = h
			}
		}
	}
	l.mu.Unlock()
	for _, token := range slices.Sorted(maps.Keys(todo)) {
		if err := c.flush(todo[token], token, false); err != nil {
			return err
		}
	}
	return nil
}

// flushAll writes the held-back writes in one transaction. Only the holder of the lock writes in
// its folder, so the folder is as it was read. If somebody wrote without the lock, nothing is
// done. A resumed lock is also lost if a document outside the folder ($24 to $26) has changed.
// Afterwards the token $15 rests, or has a lease of $23 again.
const flushAll = fenced + `
	same AS MATERIALIZED (SELECT count(*)=cardinality($24::text[]) AS ok FROM unnest($24::text[], $25::bigint[], $26::bigint[]) AS b(path, content, version)
		LEFT JOIN files AS f ON f.root=$1::bigint AND f.path=b.path WHERE coalesce(f.content, 0)=b.content AND coalesce(f.version, 0)=b.version),
	good AS MATERIALIZED (SELECT coalesce(ok.ok, false) AND (SELECT ok FROM same) AND cardinality($5::bigint[])=(SELECT count(*) FROM files AS f JOIN unnest($5::bigint[], $6::bigint[]) AS x(content, expect)
		ON f.root=$1::bigint AND f.content=x.content AND (x.expect < 0 OR f.size=x.expect)) AS ok FROM ok),
	f AS (UPDATE files AS f SET size=greatest(f.size, x.upto), version=f.version+1, time=clock_timestamp()
		FROM unnest($5::bigint[], $6::bigint[], $7::bigint[]) AS x(content, expect, upto)
		WHERE f.root=$1::bigint AND f.content=x.content AND (x.expect < 0 OR f.size=x.expect) AND (SELECT ok FROM good) RETURNING f.content),
	p AS (INSERT INTO pieces(root, content, off, data, mark) SELECT $1::bigint, x.content, x.off, x.data, $8::bigint FROM unnest($9::bigint[], $10::bigint[], $11::bytea[]) AS x(content, off, data) JOIN f USING(content)),
	u AS (UPDATE pieces AS p SET data=overlay(p.data PLACING
			substring(x.data FROM (greatest(p.off, x.off)-x.off+1)::int FOR (least(p.off+length(p.data), x.off+length(x.data))-greatest(p.off, x.off))::int)
			FROM (greatest(p.off, x.off)-p.off+1)::int), mark=$8::bigint
		FROM unnest($12::bigint[], $13::bigint[], $14::bytea[]) AS x(content, off, data), f
		WHERE p.root=$1::bigint AND p.content=x.content AND f.content=x.content AND p.off < x.off+length(x.data) AND p.off+length(p.data) > x.off
		RETURNING least(p.off+length(p.data), x.off+length(x.data))-greatest(p.off, x.off) AS bytes),
	n AS (SELECT path, size, i, nextval('content_id') AS content FROM unnest($17::text[], $18::bigint[]) WITH ORDINALITY AS x(path, size, i) WHERE (SELECT ok FROM good)),
	w AS (INSERT INTO files AS f(root, path, content, size, version, time) SELECT $1::bigint, path, content, size, 1, clock_timestamp() FROM n ORDER BY path
		ON CONFLICT(root, path) DO UPDATE SET before=f.content, content=excluded.content, size=excluded.size, version=f.version+1, time=excluded.time RETURNING path, content, before, size, version),
	q AS (INSERT INTO pieces(root, content, off, data, mark) SELECT $1::bigint, w.content, x.off, x.data, $8::bigint FROM w JOIN n USING(content) JOIN unnest($19::bigint[], $20::bigint[], $21::bytea[]) AS x(i, off, data) ON x.i=n.i),
	kept AS (INSERT INTO gone(root, content, size, time) SELECT $1::bigint, f.content, f.size, clock_timestamp() FROM w JOIN files AS f ON f.root=$1::bigint AND f.content=w.before WHERE w.before=ANY($22::bigint[]) ON CONFLICT DO NOTHING),
	d AS (DELETE FROM pieces WHERE root=$1::bigint AND content IN (SELECT before FROM w WHERE before<>ALL($22::bigint[])) RETURNING content),
	r AS (UPDATE locks SET held=held || jsonb_build_object($15::text, CASE WHEN $23::bigint > 0 THEN ` + now + `+$23::bigint ELSE 0 END)
		WHERE root=$1::bigint AND path=$16::text AND held ? $15::text AND (SELECT ok FROM ok) IS NOT NULL)
	SELECT ok.ok AND (SELECT ok FROM same), (SELECT count(*) FROM f), (SELECT coalesce(sum(bytes), 0)::bigint FROM u), (SELECT coalesce(array_agg(path ORDER BY path), '{}') FROM w),
		(SELECT coalesce(array_agg(content ORDER BY path), '{}') FROM w), (SELECT coalesce(array_agg(version ORDER BY path), '{}') FROM w) FROM ok`

// flushed reports whether the held-back writes were written. Either all of them have the mark or
// none has it.
const flushed = `SELECT count(*) > 0 FROM pieces WHERE root=$1::bigint AND mark=$3::bigint AND content=ANY($2::bigint[] || ARRAY(SELECT content FROM files WHERE root=$1::bigint AND path=ANY($4::text[])))`

// flushedForGood is flushed with a commit that waits for the disk and for a standby that the
// server waits for. The server may have restarted or ended the session after the write but before
// a standby had it.
const flushedForGood = `WITH r AS (UPDATE locks SET holder=holder WHERE root=$1::bigint AND path=$5::text), how AS MATERIALIZED (SELECT set_config('synchronous_commit', 'on', true))
	SELECT (SELECT count(*) > 0 FROM pieces WHERE root=$1::bigint AND mark=$3::bigint AND content=ANY($2::bigint[] || ARRAY(SELECT content FROM files WHERE root=$1::bigint AND path=ANY($4::text[])))) FROM how`

// flush writes the writes held back under a lock, and with release frees the lock. A resumed lock
// that is kept is this process's own afterwards.
func (c *core) flush(h *lease, token string, release bool) error {
	l := &c.leases
	l.mu.Lock()
	v, resumed := h.view, h.resumed
	if v == nil { // the state with which the lock was resumed is gone
		h.failed = cmp.Or[error](h.failed, &store.LostError{Name: c.where(h.path), Lock: c.where(h.path)})
		l.mu.Unlock()
		return h.failed
	}
	held, puts, waits := v.held, v.puts, v.waits
	v.held, v.puts, v.waits = map[int64]*heldBack{}, map[string][]byte{}, false
	beside, contentsBeside, versionsBeside := []string{}, []int64{}, []int64{}
	if resumed {
		for _, at := range slices.Sorted(maps.Keys(h.beside)) {
			f := h.beside[at]
			beside, contentsBeside, versionsBeside = append(beside, at), append(contentsBeside, f.content), append(versionsBeside, f.version)
		}
	}
	l.mu.Unlock()
	contents := []int64{} // an array, and not NULL, if there are none
	var expect, upto, ac, aoff, pc, poff []int64
	patched := 0 // bytes
	var adata, pdata [][]byte
	for _, id := range slices.Sorted(maps.Keys(held)) {
		w := held[id]
		contents, upto = append(contents, id), append(upto, w.off+int64(len(w.data)))
		if !w.append {
			expect, pc, poff, pdata = append(expect, -1), append(pc, id), append(poff, w.off), append(pdata, w.data)
			patched += len(w.data)
			continue
		}
		expect = append(expect, w.off)
		offs, pieces := cutUp(w.data, w.off)
		for i := range offs {
			ac, aoff, adata = append(ac, id), append(aoff, offs[i]), append(adata, pieces[i])
		}
	}
	paths := slices.AppendSeq([]string{}, maps.Keys(puts))
	slices.Sort(paths)
	var sizes, of, offs []int64
	var pieces [][]byte
	for i, at := range paths {
		o, p := cutUp(puts[at], 0)
		for range o {
			of = append(of, int64(i+1))
		}
		sizes, offs, pieces = append(sizes, int64(len(puts[at]))), append(offs, o...), append(pieces, p...)
	}
	mark, turned, until, commit := newMark(), "", int64(0), "off"
	if waits {
		commit = "on"
	}
	if release || resumed {
		turned = token
	}
	if !release {
		until = c.lease.Microseconds()
	}
	var ok, unsure bool
	var files, patches int
	var put []string
	var made, versions []int64
	err := c.run("write", h.path, send, &unsure, func(ctx context.Context, conn conn) error {
		locks, tokens := l.over([]string{h.path}) // each time, as another server may have taken over
		if release {
			locks, tokens = append(locks, h.path), append(tokens, l.fence(h, token))
		}
		return conn.QueryRow(ctx, flushAll, c.root, locks, tokens, commit, contents, expect, upto, mark, ac, aoff, adata, pc, poff, pdata, turned, h.path,
			paths, sizes, of, offs, pieces, c.open.all(), until, beside, contentsBeside, versionsBeside).Scan(&ok, &files, &patches, &put, &made, &versions)
	})
	whole := ok && files == len(contents) && patches == patched && len(put) == len(paths)
	if err == nil && !whole && unsure {
		// The statement was done before the answer was lost, or it was not done and somebody else
		// may have written since.
		before, q, args := look, flushed, []any{c.root, contents, mark, paths}
		if waits {
			before, q, args = send, flushedForGood, append(args, h.path)
		}
		err = c.run("write", h.path, before, nil, func(ctx context.Context, conn conn) error {
			return conn.QueryRow(ctx, q, args...).Scan(&whole)
		})
	}
	switch {
	case err != nil || whole:
	case !ok:
		err = &store.LostError{Name: c.where(h.path), Lock: c.where(h.path)}
	default:
		// Somebody wrote without the lock.
		err = fmt.Errorf("write in %s: %w", c.where(h.folder), store.ErrOvertaken)
	}
	if err != nil || unsure {
		// Somebody else's write may get the version that this write would have had.
		c.cache.drop(contents)
		c.unsee(h.path)
		l.mu.Lock()
		defer l.mu.Unlock()
		h.view, h.resumed, h.failed = nil, h.resumed && err != nil, cmp.Or(h.failed, err)
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h.resumed, h.beside = false, nil
	for i, at := range put {
		if f := v.files[at]; f != nil && f.content < 0 {
			c.cache.drop([]int64{f.content})
			f.content, f.version = made[i], versions[i]
			c.cache.keep(f.content, f.version, window{0, puts[at]})
		}
	}
	for at := range l.besides.known {
		if f := v.files[at]; f != nil {
			l.tell(at, *f)
		}
	}
	return nil
}

// cache holds parts of contents as they were in a version.
type cache struct {
	mu    sync.Mutex
	parts map[int64]cached
	bytes int
}

type cached struct {
	version int64
	window
}

// mostCached bounds the cache, in bytes. mostPart bounds each part, in bytes.
const mostCached, mostPart = 16 << 20, 256 << 10

func (k *cache) keep(content, version int64, w window) {
	if version == 0 || len(w.data) > mostPart {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.parts == nil {
		k.parts = map[int64]cached{}
	}
	k.bytes += len(w.data) - len(k.parts[content].data)
	k.parts[content] = cached{version, w}
	for id, p := range k.parts {
		if k.bytes <= mostCached {
			break
		}
		if id != content {
			k.bytes -= len(p.data)
			delete(k.parts, id)
		}
	}
}

// readBack is how many known bytes are read again with new ones: readers begin with the last line
// that they know.
const readBack = 8 << 10

// known returns the paths, numbers and versions of the cached contents of a folder. ends are the
// offsets up to which the contents need not be read again.
func (k *cache) known(had map[string]int64) (paths []string, contents, versions, ends []int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	paths, contents, versions, ends = []string{}, []int64{}, []int64{}, []int64{}
	for at, id := range had {
		if p, ok := k.parts[id]; ok {
			paths, contents = append(paths, at), append(contents, id)
			versions, ends = append(versions, p.version), append(ends, max(p.off, p.off+int64(len(p.data))-readBack))
		}
	}
	return paths, contents, versions, ends
}

// clear forgets all.
func (k *cache) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.parts, k.bytes = nil, 0
}

// drop forgets contents.
func (k *cache) drop(contents []int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, id := range contents {
		k.bytes -= len(k.parts[id].data)
		delete(k.parts, id)
	}
}

// part returns the cached part of a version of a content.
func (k *cache) part(content, version int64) window {
	k.mu.Lock()
	defer k.mu.Unlock()
	if p, ok := k.parts[content]; ok && version != 0 && p.version == version {
		return p.window
	}
	return window{}
}
