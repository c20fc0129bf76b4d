package pgstore

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
)

// pathError returns an error about a name, as package fs does.
type pathError struct{ op, at string }

func (e *pathError) Error() string { return e.op + " " + e.at + ": " + fs.ErrNotExist.Error() }
func (e *pathError) Unwrap() error { return fs.ErrNotExist }

// file describes the document under a path.
type file struct {
	content, size, version int64
	time                   time.Time
	folder                 bool
}

// findFile returns the row of a path, and whether the path is a folder. A missing path has no
// content.
const findFile = `SELECT coalesce(f.content, 0), coalesce(f.size, 0), coalesce(f.version, 0), coalesce(f.time, 'epoch'),
	CASE WHEN f.content IS NULL THEN EXISTS(SELECT FROM files WHERE root=$1::bigint AND path >= $3::text AND path < $4::text) ELSE false END
	FROM (VALUES(1)) AS one LEFT JOIN files AS f ON f.root=$1::bigint AND f.path=$2::text`

func (c *core) find(op, at string) (f file, err error) {
	if f, ok := c.seen(at); ok {
		if f.content == 0 && !f.folder {
			err = c.notThere(op, at)
		}
		return f, err
	}
	return c.lookUp(op, at)
}

// findNow is find for a writer. It looks a document outside the lock's folder up again.
func (c *core) findNow(op, at string) (f file, err error) {
	if c.covered(at) {
		return c.find(op, at)
	}
	return c.lookUp(op, at)
}

func (c *core) lookUp(op, at string) (f file, err error) {
	lo, hi := below(at)
	err = c.row(op, at, findFile, []any{c.root, at, lo, hi}, &f.content, &f.size, &f.version, &f.time, &f.folder)
	if f.folder {
		c.leases.noDocument(at)
	}
	if err == nil && f.content == 0 && !f.folder {
		err = c.notThere(op, at)
	}
	return f, err
}

// Stat implements [store.Store].
func (s *Store) Stat(name string) (store.Info, error) {
	at, err := s.at(name)
	if err != nil {
		return store.Info{}, err
	}
	f, err := s.find("stat", at)
	return store.Info{Size: f.size, Time: f.time, Folder: f.folder}, err
}

// Get implements [store.Store].
func (s *Store) Get(name string) ([]byte, error) {
	at, err := s.at(name)
	if err != nil {
		return nil, err
	}
	var data []byte
	var there, folder bool
	var o object
	known, ok := s.seen(at)
	if ok {
		switch w := s.cache.part(known.content, known.version); {
		case known.folder:
			return nil, fmt.Errorf("read %s: is a folder", s.where(at))
		case known.content == 0:
			return nil, s.notThere("read", at)
		case known.size == 0 || w.off == 0 && int64(len(w.data)) == known.size:
			return slices.Clone(w.data), nil
		}
		if err := s.settle([]string{at}, known.content); err != nil {
			return nil, err
		}
	}
	lo, hi := below(at)
	err = s.query("read", at, `SELECT f.content IS NOT NULL, coalesce(f.content, 0), coalesce(f.size, 0), coalesce(p.data, ''), coalesce(o.key, ''), coalesce(o.place, ''),
		CASE WHEN f.content IS NULL THEN EXISTS(SELECT FROM files WHERE root=$1::bigint AND path >= $3::text AND path < $4::text) ELSE false END
		FROM (VALUES(1)) AS one LEFT JOIN files AS f ON f.root=$1::bigint AND f.path=$2::text LEFT JOIN pieces AS p ON p.root=f.root AND p.content=f.content LEFT JOIN objects AS o ON o.root=f.root AND o.content=f.content ORDER BY p.off`,
		[]any{s.root, at, lo, hi}, func(rows pgx.Rows) error {
			data = nil
			for rows.Next() {
				var piece []byte
				if err := rows.Scan(&there, &o.content, &o.size, &piece, &o.key, &o.place, &folder); err != nil {
					return err
				}
				if data == nil && o.key == "" {
					data = make([]byte, 0, o.size)
				}
				data = append(data, piece...)
			}
			return nil
		})
	switch {
	case err != nil:
		return nil, err
	case folder:
		return nil, fmt.Errorf("read %s: is a folder", s.where(at))
	case !there:
		return nil, s.notThere("read", at)
	case o.key != "":
		return s.readObject(at, o)
	}
	if ok && int64(len(data)) == known.size {
		s.cache.keep(known.content, known.version, window{0, slices.Clone(data)})
	}
	return data, nil
}

// List implements [store.Store].
func (s *Store) List(folder string) ([]store.Entry, error) {
	at, err := s.at(folder)
	if err != nil {
		return nil, err
	}
	lo, hi := below(at)
	var out []store.Entry
	if out, ok := s.seenList(at); ok {
		if len(out) == 0 {
			_, err = s.find("list", at)
		}
		return out, err
	}
	if err := s.settle([]string{at}); err != nil {
		return nil, err
	}
	// Each step looks for the next name after the last one, so that the contents of subfolders
	// are not read.
	err = s.query("list", at, `WITH RECURSIVE names AS (
			(SELECT path FROM files WHERE root=$1::bigint AND path >= $2::text AND path < $3::text ORDER BY path LIMIT 1)
			UNION ALL
			SELECT (SELECT f.path FROM files AS f WHERE f.root=$1::bigint AND f.path < $3::text AND f.path >= CASE
				WHEN strpos(substr(n.path, $4::int), '/') > 0 THEN substr(n.path, 1, $4::int - 1) || split_part(substr(n.path, $4::int), '/', 1) || '0'
				ELSE n.path || chr(1) END ORDER BY f.path LIMIT 1)
			FROM names AS n WHERE n.path IS NOT NULL)
		SELECT split_part(substr(n.path, $4::int), '/', 1), strpos(substr(n.path, $4::int), '/') > 0, f.size, f.time
		FROM names AS n JOIN files AS f ON f.root=$1::bigint AND f.path=n.path`, []any{s.root, lo, hi, len([]rune(lo)) + 1}, func(rows pgx.Rows) error {
		out = nil
		for rows.Next() {
			var e store.Entry
			var i store.Info
			if err := rows.Scan(&e.Name, &e.Folder, &i.Size, &i.Time); err != nil {
				return err
			}
			if e.Folder {
				i = store.Info{Folder: true}
			}
			e.Info = func() (store.Info, error) { return i, nil }
			out = append(out, e)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(out) == 0 {
		f, err := s.find("list", at)
		if err == nil && !f.folder {
			err = fmt.Errorf("list %s: is no folder", s.where(at))
		}
		return nil, err
	}
	slices.SortFunc(out, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(out, func(a, b store.Entry) bool { return a.Name == b.Name }), nil
}

// seenList is List from a view. ok is false if no view covers the folder.
func (c *core) seenList(at string) (out []store.Entry, ok bool) {
	l := &c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	v := l.viewOf(at)
	if v == nil {
		return nil, false
	}
	in := map[string]store.Info{}
	for n, f := range v.files {
		if rest, below := strings.CutPrefix(n, at+"/"); below {
			first, _, deeper := strings.Cut(rest, "/")
			in[first] = store.Info{Size: f.size, Time: f.time}
			if deeper {
				in[first] = store.Info{Folder: true}
			}
		}
	}
	for n, i := range in {
		out = append(out, store.Entry{Name: n, Folder: i.Folder, Info: func() (store.Info, error) { return i, nil }})
	}
	slices.SortFunc(out, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, true
}

// pieceSize is the most bytes that one piece of a content has. The server unpacks a piece whole
// even for a short read.
const pieceSize = 128 << 10

// cutUp cuts data, which begins at offset off, into pieces.
func cutUp(data []byte, off int64) (offs []int64, pieces [][]byte) {
	for len(data) > 0 {
		n := min(len(data), pieceSize)
		offs, pieces = append(offs, off), append(pieces, data[:n:n])
		data, off = data[n:], off+int64(n)
	}
	return offs, pieces
}

// lookFirst is how many bytes are sent without a check whether the server has them already.
const lookFirst = 64 << 10

// Put implements [store.Store]. All of the documents get their new contents in one
// moment.
func (s *Store) Put(how store.Durability, docs ...store.Doc) (store.Stats, error) {
	var st store.Stats
	byPath, total := map[string][]byte{}, 0
	for _, d := range docs {
		at, err := s.at(d.Name)
		if err == nil && at == "" {
			err = fmt.Errorf("%s: %q is no name of a document", s.place, d.Name)
		}
		if err != nil {
			return st, err
		}
		byPath[at] = d.Data
		total += len(d.Data)
	}
	var paths []string
	for at := range byPath {
		paths = append(paths, at)
	}
	slices.Sort(paths) // writers of the same paths wait for the same row
	var err error
	large := slices.ContainsFunc(paths, func(at string) bool { return s.objects.takes(at, byPath[at]) })
	if how == store.Once && (total > lookFirst || large) {
		if paths, err = s.missing(paths, byPath); err != nil {
			return st, err
		}
	}
	for len(paths) > 0 && err == nil {
		// A message of the protocol ends at 1 GiB.
		n, bytes := 0, 0
		for n < len(paths) && (n == 0 || bytes+len(byPath[paths[n]]) < 256<<20) {
			bytes += len(byPath[paths[n]])
			n++
		}
		var apart map[string]object
		if large {
			if apart, err = s.writeObjects(paths[:n], byPath, &st); err != nil {
				break
			}
		} else if s.holdPut(how, paths[:n], byPath) {
			st.Files, st.Bytes, paths = st.Files+n, st.Bytes+int64(bytes), paths[n:]
			continue
		}
		err = s.put(how, paths[:n], byPath, apart, &st)
		paths = paths[n:]
	}
	return st, err
}

// missing returns the paths at which the server has no document of the same length as in data.
func (c *core) missing(paths []string, data map[string][]byte) ([]string, error) {
	sizes := make([]int64, len(paths))
	for i, at := range paths {
		sizes[i] = int64(len(data[at]))
	}
	var out []string
	err := c.query("look for", paths[0], `SELECT n.path FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS n(path, size, i)
		LEFT JOIN files AS f ON f.root=$1::bigint AND f.path=n.path AND f.size=n.size WHERE f.content IS NULL ORDER BY n.i`,
		[]any{c.root, paths, sizes}, func(rows pgx.Rows) (err error) {
			out, err = pgx.AppendRows([]string(nil), rows, pgx.RowTo[string])
			return err
		})
	return out, err
}

// put writes documents. Contents in apart are objects already and get only their names.
func (c *core) put(how store.Durability, paths []string, data map[string][]byte, apart map[string]object, st *store.Stats) error {
	var sizes, ids, of, offs []int64
	var pieces [][]byte
	for _, at := range paths {
		if f, ok := c.seen(at); ok && f.content != 0 {
			if err := c.settle([]string{at}, f.content); err != nil {
				return err
			}
		}
	}
	for i, at := range paths {
		ids = append(ids, apart[at].content) // 0 if it is no object
		var o []int64
		var p [][]byte
		if apart[at].content == 0 {
			o, p = cutUp(data[at], 0)
		}
		for range o {
			of = append(of, int64(i+1))
		}
		sizes, offs, pieces = append(sizes, int64(len(data[at]))), append(offs, o...), append(pieces, p...)
	}
	var files, bytes int64
	var left []int64
	// The old content of a name is removed at once, unless a reader of this process has it open.
	// A content that another writer puts at the same moment is not seen yet, and is left over.
	var put []string
	var contents, versions []int64
	var named, unsure bool
	takeovers := c.takeovers.Load()
	err := c.change("write", how, paths, &unsure, st, `
		o AS (UPDATE objects SET named=true WHERE root=$1::bigint AND content=ANY($12::bigint[]) AND content<>0 AND NOT named AND going IS NULL AND (SELECT ok FROM ok) RETURNING content),
		b AS MATERIALIZED (SELECT (SELECT count(*) FROM o)=$13::bigint AS ok),
		n AS (SELECT path, size, i, CASE WHEN content=0 THEN nextval('content_id') ELSE content END AS content
			FROM unnest($5::text[], $6::bigint[], $12::bigint[]) WITH ORDINALITY AS x(path, size, content, i) WHERE (SELECT ok FROM ok) AND (SELECT ok FROM b)),
		w AS (INSERT INTO files AS f(root, path, content, size, version, time) SELECT $1::bigint, path, content, size, 1, clock_timestamp() FROM n ORDER BY path
			ON CONFLICT(root, path) DO UPDATE SET before=f.content, content=excluded.content, size=excluded.size, version=f.version+1, time=excluded.time
			WHERE NOT ($7::boolean AND f.size=excluded.size) RETURNING path, content, before, size, version),
		p AS (INSERT INTO pieces(root, content, off, data, mark) SELECT $1::bigint, w.content, x.off, x.data, 0 FROM w JOIN n USING(content) JOIN unnest($8::bigint[], $9::bigint[], $10::bytea[]) AS x(i, off, data) ON x.i=n.i),
		kept AS (INSERT INTO gone(root, content, size, time) SELECT $1::bigint, f.content, f.size, clock_timestamp() FROM w JOIN files AS f ON f.root=$1::bigint AND f.content=w.before WHERE w.before=ANY($11::bigint[]) ON CONFLICT DO NOTHING),
		d AS (DELETE FROM pieces WHERE root=$1::bigint AND content IN (SELECT before FROM w WHERE before<>ALL($11::bigint[])) RETURNING content)
		SELECT ok.ok, (SELECT ok FROM b), (SELECT count(*) FROM w), (SELECT coalesce(sum(size), 0)::bigint FROM w),
			(SELECT coalesce(array_agg(before), '{}') FROM w WHERE before IS NOT NULL AND before<>ALL($11::bigint[]) AND before NOT IN (SELECT content FROM d)),
			(SELECT coalesce(array_agg(path ORDER BY path), '{}') FROM w), (SELECT coalesce(array_agg(content ORDER BY path), '{}') FROM w), (SELECT coalesce(array_agg(version ORDER BY path), '{}') FROM w) FROM ok`,
		[]any{paths, sizes, how == store.Once, of, offs, pieces, c.open.all(), ids, len(apart)}, &named, &files, &bytes, &left, &put, &contents, &versions)
	if err != nil {
		return err
	}
	if !named {
		for _, at := range paths {
			c.unsee(at)
		}
		return c.named(paths[0], apart, takeovers)
	}
	for i, at := range put {
		c.wrote(at, file{content: contents[i], size: int64(len(data[at])), version: versions[i], time: time.Now()})
		if apart[at].content == 0 {
			c.cache.keep(contents[i], versions[i], window{0, slices.Clone(data[at])})
		}
	}
	st.Files += int(files)
	st.Bytes += bytes
	return c.drop(left)
}

// drop removes contents that no longer have a name.
func (c *core) drop(contents []int64) error {
	if len(contents) == 0 {
		return nil
	}
	var ok bool
	return c.row("remove", "", `WITH g AS (DELETE FROM gone WHERE content=ANY($1::bigint[]) AND root=$2::bigint), p AS (DELETE FROM pieces WHERE content=ANY($1::bigint[]) AND root=$2::bigint) SELECT true`, []any{contents, c.root}, &ok)
}

// Move implements [store.Store].
func (s *Store) Move(how store.Durability, from, to string) error {
	old, err := s.at(from)
	now, err2 := s.at(to)
	if err := cmp.Or(err, err2); err != nil {
		return err
	}
	if old == "" || now == "" {
		return fmt.Errorf("move %s to %s: a root keeps its name", s.where(old), s.where(now))
	}
	if old == now {
		_, err := s.find("move", old)
		return err
	}
	if err := cmp.Or(s.leases.assure([]string{old, now}), s.settle([]string{old, now})); err != nil {
		return err
	}
	s.unsee(old)
	s.unsee(now)
	lo, hi := below(old)
	var moved int64
	var unsure bool
	err = s.change("move", how, []string{old, now}, &unsure, nil, `
		cur AS (SELECT path, content FROM files WHERE root=$1::bigint AND (path=$5::text OR path >= $6::text AND path < $7::text) AND (SELECT ok FROM ok) ORDER BY path FOR UPDATE),
		over AS (DELETE FROM files WHERE root=$1::bigint AND path IN (SELECT $8::text || substr(path, length($5::text)+1) FROM cur) RETURNING content, size),
		kept AS (INSERT INTO gone(root, content, size, time) SELECT $1::bigint, content, size, clock_timestamp() FROM over WHERE content=ANY($9::bigint[]) ON CONFLICT DO NOTHING),
		d AS (DELETE FROM pieces WHERE root=$1::bigint AND content IN (SELECT content FROM over WHERE content<>ALL($9::bigint[]))),
		m AS (UPDATE files AS f SET path=$8::text || substr(f.path, length($5::text)+1) FROM cur WHERE f.root=$1::bigint AND f.path=cur.path AND (SELECT count(*) FROM over) >= 0 RETURNING 1)
		SELECT ok.ok, (SELECT count(*) FROM m) FROM ok`, []any{old, lo, hi, now, s.open.all()}, &moved)
	if err != nil {
		return err
	}
	if moved == 0 {
		if _, err := s.find("move", now); unsure && err == nil {
			return nil // it was done before the answer was lost
		}
		return s.notThere("move", old)
	}
	return nil
}

// Remove implements [store.Store]. All names and their contents are removed in one transaction.
func (s *Store) Remove(how store.Durability, names ...string) (store.Stats, error) {
	var st store.Stats
	var paths, los, his []string
	for _, name := range names {
		at, err := s.at(name)
		if err != nil {
			return st, err
		}
		lo, hi := below(at)
		paths, los, his = append(paths, at), append(los, lo), append(his, hi)
	}
	if len(paths) == 0 {
		return st, nil
	}
	if err := s.settle(paths); err != nil {
		return st, err
	}
	var n int64
	err := s.change("remove", how, paths, nil, &st, `
		f AS (DELETE FROM files AS f USING unnest($5::text[], $6::text[], $7::text[]) AS n(path, lo, hi)
			WHERE f.root=$1::bigint AND (f.path=n.path OR f.path >= n.lo AND f.path < n.hi) AND (SELECT ok FROM ok) RETURNING f.content, f.size),
		kept AS (INSERT INTO gone(root, content, size, time) SELECT $1::bigint, content, size, clock_timestamp() FROM f WHERE content=ANY($8::bigint[]) ON CONFLICT DO NOTHING),
		d AS (DELETE FROM pieces WHERE root=$1::bigint AND content IN (SELECT content FROM f WHERE content<>ALL($8::bigint[])))
		SELECT ok.ok, (SELECT count(*) FROM f) FROM ok`, []any{paths, los, his, s.open.all()}, &n)
	for _, at := range paths {
		if err != nil {
			s.unsee(at)
		} else {
			s.wrote(at, file{})
		}
	}
	return st, err
}

// Tidy implements [store.Store]. It does nothing, because no operation is ever left half done
// here.
func (s *Store) Tidy(...string) error { return nil }

// Open implements [store.Store].
func (s *Store) Open(name string) (store.Reader, error) {
	at, err := s.at(name)
	if err != nil {
		return nil, err
	}
	f, err := s.find("open", at)
	if err == nil && f.content < 0 { // a held-back document gets its content when it is written
		if err = s.settle([]string{at}, f.content); err == nil {
			f, err = s.find("open", at)
		}
	}
	if err != nil {
		return nil, err
	}
	if f.folder {
		return nil, fmt.Errorf("open %s: is a folder", s.where(at))
	}
	s.open.add(f.content, 1)
	return &reader{c: s.core, at: at, content: f.content}, nil
}

// reader reads a content, even if its name gets another content meanwhile.
type reader struct {
	c       *core
	at      string
	content int64
	closed  bool
	win     window
	whole   bool // the window is the whole content
}

// known returns the file that has the content, if it is known without a query.
func (r *reader) known() (f file, ok bool) {
	if _, f, ok := r.c.seenContent(r.at, r.content); ok {
		return f, true
	}
	l := &r.c.leases
	l.mu.Lock()
	defer l.mu.Unlock()
	f, ok = l.beside(r.at)
	return f, ok && f.content == r.content
}

func (r *reader) Size() (int64, error) {
	if f, ok := r.known(); ok {
		return f.size, nil
	}
	var size int64
	err := r.c.row("read", r.at, `SELECT size FROM files WHERE content=$1::bigint AND root=$2::bigint UNION ALL SELECT size FROM gone WHERE content=$1::bigint AND root=$2::bigint LIMIT 1`, []any{r.content, r.c.root}, &size)
	if errors.Is(err, pgx.ErrNoRows) {
		err = r.c.notThere("read", r.at)
	}
	return size, err
}

func (r *reader) ReadAt(p []byte, off int64) (int, error) {
	n := r.win.copy(p, off)
	if r.whole {
		return ended(n, p, off, int64(len(r.win.data)))
	}
	if n == len(p) {
		return n, nil
	}
	f, ok := r.known()
	if ok {
		if n, err, done := r.c.cachedPart(f, p, off); done {
			return n, err
		}
		if err := r.c.settle([]string{r.at}, r.content); err != nil {
			return 0, err
		}
	}
	ahead := readAhead
	if was := int64(len(r.win.data)); was > 0 && off > r.win.off && off <= r.win.off+was {
		ahead = mostPart // it does read on
	}
	size, version, data, err := r.c.part(r.at, r.content, off, max(len(p), ahead))
	if err != nil {
		return 0, err
	}
	if len(data) == 0 && off < size {
		o, apart, err := r.c.findObject(r.at, r.content)
		if err != nil {
			return 0, err
		}
		if apart {
			if data, err = r.c.readObject(r.at, o); err != nil {
				return 0, err
			}
			r.win, r.whole = window{0, data}, true
			return r.ReadAt(p, off)
		}
	}
	r.win = window{off, data}
	if ok && version == f.version {
		r.c.cache.keep(r.content, f.version, r.win)
	}
	return ended(copy(p, data), p, off, size)
}

// cachedPart reads a file of known version from the cache.
func (c *core) cachedPart(f file, p []byte, off int64) (n int, err error, done bool) {
	w := c.cache.part(f.content, f.version)
	n = w.copy(p, off)
	if n == len(p) || off+int64(n) >= f.size {
		n, err = ended(n, p, off, f.size)
		return n, err, true
	}
	return 0, nil, false
}

// ended returns the result of a read of n bytes.
func ended(n int, p []byte, off, size int64) (int, error) {
	if n < len(p) {
		if off+int64(n) < size {
			return n, io.ErrUnexpectedEOF
		}
		return n, io.EOF
	}
	return n, nil
}

func (r *reader) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	if r.c.open.add(r.content, -1) > 0 {
		return nil
	}
	r.win, r.whole = window{}, false
	if _, ok := r.known(); ok {
		return nil // a name has the content
	}
	return r.c.dropGone(r.at, r.content)
}

// dropGone removes a content that was replaced while it was read.
func (c *core) dropGone(at string, content int64) error {
	var ok bool
	return c.row("close", at, `WITH g AS (DELETE FROM gone WHERE content=$1::bigint AND root=$2::bigint RETURNING content), p AS (DELETE FROM pieces WHERE root=$2::bigint AND content IN (SELECT content FROM g)) SELECT true`, []any{content, c.root}, &ok)
}

// readAhead is the fewest bytes that are read at once: a caller that reads a few bytes mostly
// reads on.
const readAhead = 64 << 10

// window is a part of a content.
type window struct {
	off  int64
	data []byte
}

func (w *window) copy(p []byte, off int64) int {
	if off < w.off || off >= w.off+int64(len(w.data)) {
		return 0
	}
	return copy(p, w.data[off-w.off:])
}

// part reads up to n bytes of a content from offset off. It returns them with the size and the
// version of the content.
func (c *core) part(at string, content, off int64, n int) (size, version int64, data []byte, err error) {
	there := false
	err = c.query("read", at, `SELECT z.size, z.version, coalesce(greatest(p.off, $2::bigint), 0),
			coalesce(substring(p.data FROM (greatest($2::bigint-p.off, 0)+1)::int FOR greatest(least(p.off+length(p.data), $3::bigint)-greatest(p.off, $2::bigint), 0)::int), '') FROM
		(SELECT size, version FROM files WHERE content=$1::bigint AND root=$4::bigint UNION ALL SELECT size, 0 FROM gone WHERE content=$1::bigint AND root=$4::bigint LIMIT 1) AS z
		LEFT JOIN pieces AS p ON p.content=$1::bigint AND p.root=$4::bigint AND p.off < $3::bigint AND p.off >= coalesce((SELECT max(off) FROM pieces WHERE content=$1::bigint AND root=$4::bigint AND off <= $2::bigint), 0)
		ORDER BY p.off`, []any{content, off, off + int64(n), c.root}, func(rows pgx.Rows) error {
		data = nil
		for rows.Next() {
			var from int64
			var piece []byte
			if err := rows.Scan(&size, &version, &from, &piece); err != nil {
				return err
			}
			there = true
			if skip := off - from; skip > 0 {
				piece = piece[min(skip, int64(len(piece))):]
			}
			data = append(data, piece...)
		}
		return nil
	})
	if err == nil && !there {
		err = c.notThere("read", at)
	}
	return size, version, data, err
}

// newMark makes a mark for a write.
func newMark() int64 { return rand.Int64() }
