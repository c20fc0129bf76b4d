package pgstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// Workspace keeps the files of a workspace in rows of a store's root. A row has a path, a text
// and a version. A Workspace has no links, and a folder exists as long as a file is below it.
//
// A Workspace trusts the rows that it knows for a moment. Taking a lock that keeps others out of
// a folder, such as a session's lock, also reads the changed rows, in the same round trip. So a
// plan under a session's lock sees the earlier writes of others. A write sees all writes from
// before its call began, and compares the version that was read. A write needs no lock unless
// somebody has the lock of all writers. A holder of that lock, such as a move, makes other
// writers wait.
type Workspace struct {
	c     *core
	locks *Store
	// writing is held by the one writer of this process.
	writing chan struct{}

	mu      sync.Mutex // guards the fields below
	version int64      // up to which the rows are known
	news    int64      // counts new versions, and how often all rows were forgotten
	stood   int64      // up to which the rows are known to survive a crash
	checked time.Time  // when the version was last read
	moving  string
	mover   bool // this process moves the files
	rows    map[string]row
	names   []string // the paths in order, nil if they must be sorted again
	texts   map[string]rowText
	bytes   int
}

// row is a file without its text.
type row struct {
	version, size int64
	time          time.Time
}

// rowText is a text that a file had in a version.
type rowText struct {
	version int64
	text    string
}

var _ markdownstore.Remote = (*Workspace)(nil)

const (
	// writersLock is the lock of all writers of a root's workspace. Only one writer may hold it.
	// It fences writes by names in writersFolder, where there are no documents.
	writersLock   = writersFolder + "/write.lock"
	writersFolder = "workspace"
	// believed is how long the known rows are trusted to be current.
	believed = 200 * time.Millisecond
	// mostTexts bounds the texts that are kept, in bytes.
	mostTexts = 16 << 20
	// mostRow bounds one text, in bytes.
	mostRow = 256 << 20
	// mostName is the longest name that folders can have, and mostPath the longest path that an
	// index can hold.
	mostName, mostPath = 255, 1024
)

// Workspace returns the files of the workspace in this root. All callers share them.
func (s *Store) Workspace() *Workspace {
	w := &Workspace{c: s.core, locks: &Store{core: s.core}, writing: make(chan struct{}, 1), rows: map[string]row{}, texts: map[string]rowText{}}
	if !s.rows.CompareAndSwap(nil, w) {
		w = s.rows.Load()
	}
	return w
}

// Where implements [markdownstore.Remote].
func (w *Workspace) Where() string { return w.c.place }

// Close does nothing: the opener of the store must close it.
func (w *Workspace) Close() error { return nil }

// changedRows reads the rows that are newer than a version, with the newest of their small texts.
const changedRows = `SELECT w.version, w.moving, w.removed > $2::bigint OR w.version < $2::bigint,
		coalesce(f.path, ''), coalesce(f.version, 0), coalesce(length(f.data), 0), coalesce(f.time, 'epoch'),
		CASE WHEN length(f.data) <= 32768 AND f.version > w.version - 64 THEN f.data END
	FROM workspaces AS w LEFT JOIN workspace AS f ON f.root=w.root AND f.version > CASE WHEN w.removed > $2::bigint OR w.version < $2::bigint THEN 0 ELSE $2::bigint END
	WHERE w.root=$1::bigint AND w.version<>$2::bigint`

// known returns the version up to which the rows are known.
func (w *Workspace) known() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.version
}

// changes is the result of changedRows.
type changes struct {
	since, version int64
	moving         string
	whole          bool
	rows           map[string]row
	texts          map[string]rowText
}

func readChanges(rows pgx.Rows, since int64) (changes, error) {
	defer rows.Close()
	n := changes{since: since, version: since, rows: map[string]row{}, texts: map[string]rowText{}}
	for rows.Next() {
		var at string
		var r row
		var data []byte
		if err := rows.Scan(&n.version, &n.moving, &n.whole, &at, &r.version, &r.size, &r.time, &data); err != nil {
			return n, err
		}
		if at == "" {
			continue
		}
		n.rows[at] = r
		if int64(len(data)) == r.size {
			n.texts[at] = rowText{r.version, string(data)}
		}
	}
	rows.Close()
	return n, rows.Err()
}

// learn takes in changes that were requested at time asked.
func (w *Workspace) learn(n changes, asked time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.version < n.since { // all rows were forgotten meanwhile
		return
	}
	if asked.After(w.checked) {
		w.checked = asked
	}
	if n.version == n.since || n.version <= w.version && !(n.whole && n.version < n.since) {
		return
	}
	if n.whole {
		clear(w.rows)
		w.names = nil
	}
	if n.version < n.since { // the database was restored, so versions begin again
		clear(w.texts)
		w.bytes, w.stood = 0, 0
	}
	for at, r := range n.rows {
		w.put(at, r)
	}
	for at, t := range n.texts {
		w.keep(at, t)
	}
	w.version, w.moving = n.version, n.moving
	w.news++
}

// forget drops the known rows, so that they are read again.
func (w *Workspace) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version, w.stood, w.checked, w.moving = 0, 0, time.Time{}, ""
	w.news++
	clear(w.rows)
	clear(w.texts)
	w.names, w.bytes = nil, 0
}

// put sets the row of a path. Callers must hold w.mu.
func (w *Workspace) put(at string, r row) {
	old, there := w.rows[at]
	if !there {
		w.names = nil
	}
	if !there || old.version < r.version {
		w.rows[at] = r
	}
}

// keep caches a text. Callers must hold w.mu.
func (w *Workspace) keep(at string, t rowText) {
	if len(t.text) > mostTexts/4 || w.texts[at].version > t.version {
		return
	}
	w.bytes += len(t.text) - len(w.texts[at].text)
	w.texts[at] = t
	for other := range w.texts {
		if w.bytes <= mostTexts {
			break
		}
		if other != at {
			w.bytes -= len(w.texts[other].text)
			delete(w.texts, other)
		}
	}
}

// refresh reads the changed rows.
func (w *Workspace) refresh() error {
	return w.c.run("look at", writersFolder, look, nil, func(ctx context.Context, conn conn) error {
		since, asked := w.known(), time.Now() // a new connection may have made the workspace forget its rows
		rows, err := conn.Query(ctx, changedRows, w.c.root, since)
		if err != nil {
			return err
		}
		n, err := readChanges(rows, since)
		if err == nil {
			w.learn(n, asked)
		}
		return err
	})
}

// Version implements [markdownstore.Remote]. Version does not return the version of the rows,
// because a server that takes over may give the same version to other texts.
func (w *Workspace) Version(ctx context.Context, old time.Duration) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if err := w.lockedRows(old); err != nil {
		return 0, err
	}
	defer w.mu.Unlock()
	return w.news, nil
}

// half returns an error if a move has brought only some of the files. Callers must hold w.mu.
func (w *Workspace) half() error {
	if w.moving == "" || w.mover {
		return nil
	}
	return fmt.Errorf("%s has a part of the files of %s: a move was cut short; run 'memkernel migrate --memory' again, which goes on there", w.c.place, w.moving)
}

// lockedRows locks w.mu, with rows that were current at most old ago.
func (w *Workspace) lockedRows(old time.Duration) error {
	w.mu.Lock()
	if time.Since(w.checked) >= old {
		w.mu.Unlock()
		if err := w.refresh(); err != nil {
			return err
		}
		w.mu.Lock()
	}
	if err := w.half(); err != nil {
		w.mu.Unlock()
		return err
	}
	return nil
}

// rowInfo is the stat of a file or a folder.
type rowInfo struct {
	path   string
	row    row
	folder bool
}

func (i rowInfo) Name() string               { return path.Base(i.path) }
func (i rowInfo) Size() int64                { return i.row.size }
func (i rowInfo) ModTime() time.Time         { return i.row.time }
func (i rowInfo) IsDir() bool                { return i.folder }
func (i rowInfo) Sys() any                   { return nil }
func (i rowInfo) Type() fs.FileMode          { return i.Mode().Type() }
func (i rowInfo) Info() (fs.FileInfo, error) { return i, nil }
func (i rowInfo) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o755
	}
	return 0o644
}

// below returns the paths in a folder, in order. Callers must hold w.mu.
func (w *Workspace) below(dir string) []string {
	if w.names == nil {
		w.names = slices.Sorted(maps.Keys(w.rows))
	}
	if dir == "." {
		return w.names
	}
	lo, hi := below(dir)
	from, _ := slices.BinarySearch(w.names, lo)
	to, _ := slices.BinarySearch(w.names, hi)
	return w.names[from:to]
}

// look looks a path up. Callers must hold w.mu.
func (w *Workspace) look(op, name string) (rowInfo, error) {
	if !fs.ValidPath(name) {
		return rowInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if r, ok := w.rows[name]; ok {
		return rowInfo{path: name, row: r}, nil
	}
	if name == "." || len(w.below(name)) > 0 {
		return rowInfo{path: name, folder: true}, nil
	}
	return rowInfo{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (w *Workspace) find(op, name string) (rowInfo, error) {
	if err := w.lockedRows(believed); err != nil {
		return rowInfo{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	defer w.mu.Unlock()
	return w.look(op, name)
}

// Lstat implements [markdownstore.Files].
func (w *Workspace) Lstat(name string) (fs.FileInfo, error) {
	i, err := w.find("lstat", name)
	if err != nil {
		return nil, err
	}
	return i, nil
}

// Stat implements [markdownstore.Files].
func (w *Workspace) Stat(name string) (fs.FileInfo, error) { return w.Lstat(name) }

// Resolve implements [markdownstore.Files].
func (w *Workspace) Resolve(link string) (string, bool, error) {
	i, err := w.find("lstat", link)
	return link, err == nil && i.folder, err
}

// Same implements [markdownstore.Files].
func (w *Workspace) Same(a, b fs.FileInfo) bool {
	x, ok := a.(rowInfo)
	y, too := b.(rowInfo)
	return ok && too && x.path == y.path
}

// openRow is a file as it was when it was opened.
type openRow struct {
	*strings.Reader
	info rowInfo
}

func (o *openRow) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openRow) Close() error               { return nil }

// openFolder is a folder as it was when it was opened.
type openFolder struct {
	info    rowInfo
	entries []fs.DirEntry
}

func (o *openFolder) Stat() (fs.FileInfo, error) { return o.info, nil }
func (o *openFolder) Close() error               { return nil }
func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.info.path, Err: syscall.EISDIR}
}

func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n > 0 {
		return nil, &fs.PathError{Op: "readdir", Path: o.info.path, Err: errors.ErrUnsupported}
	}
	return o.entries, nil
}

// Open implements [fs.FS].
func (w *Workspace) Open(name string) (fs.File, error) {
	if err := w.lockedRows(believed); err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	i, err := w.look("open", name)
	if err == nil && i.folder {
		defer w.mu.Unlock()
		return &openFolder{i, w.list(name)}, nil
	}
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r, text, err := w.text("open", name, i.row)
	if err != nil {
		return nil, err
	}
	return &openRow{strings.NewReader(text), rowInfo{path: name, row: r}}, nil
}

// list lists a folder. Callers must hold w.mu.
func (w *Workspace) list(dir string) []fs.DirEntry {
	out := []fs.DirEntry{}
	last := ""
	for _, at := range w.below(dir) {
		rest := at
		if dir != "." {
			rest = at[len(dir)+1:]
		}
		first, _, deeper := strings.Cut(rest, "/")
		if first == last {
			continue // a folder's files are adjacent
		}
		last = first
		if deeper {
			out = append(out, rowInfo{path: path.Join(dir, first), folder: true})
		} else {
			out = append(out, rowInfo{path: at, row: w.rows[at]})
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out
}

// text reads a file that was seen. It may return a newer version of the file.
func (w *Workspace) text(op, name string, seen row) (row, string, error) {
	w.mu.Lock()
	t, ok := w.texts[name]
	w.mu.Unlock()
	if ok && t.version == seen.version {
		return seen, t.text, nil
	}
	takeovers := w.c.takeovers.Load()
	var r row
	var data []byte
	err := w.c.row("read", writersFolder+"/"+name, `SELECT version, time, data FROM workspace WHERE root=$1::bigint AND path=$2::text`, []any{w.c.root, name}, &r.version, &r.time, &data)
	if errors.Is(err, pgx.ErrNoRows) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return r, "", &fs.PathError{Op: op, Path: name, Err: err}
	}
	r.size = int64(len(data))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.c.takeovers.Load() != takeovers { // the text may be from another server, whose texts are forgotten already
		return r, string(data), nil
	}
	if _, there := w.rows[name]; there {
		w.put(name, r)
	}
	w.keep(name, rowText{r.version, string(data)})
	return r, string(data), nil
}

// Write implements [markdownstore.Files]. Taking the lock also brings the writes of others.
func (w *Workspace) Write(ctx context.Context, f func(markdownstore.Writer) error) error {
	select {
	case w.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("lock workspace: %w", ctx.Err())
	}
	defer func() { <-w.writing }()
	if err := ctx.Err(); err != nil { // the context may have ended while it waited
		return fmt.Errorf("lock workspace: %w", err)
	}
	since, takeover := markdownstore.SinceOf(ctx), w.c.takeovers.Load()
	w.mu.Lock()
	old := !w.checked.After(since)
	w.mu.Unlock()
	if old {
		if err := w.refresh(); err != nil {
			return err
		}
	}
	w.mu.Lock()
	err := w.half()
	w.mu.Unlock()
	if err != nil {
		return err
	}
	rw := rowWriter{w, &writersTurn{ctx: ctx, takeover: takeover}}
	defer rw.turn.end()
	err = f(rw)
	if err == nil || errors.Is(err, fs.ErrNotExist) { // a missing file may be a valid answer too
		err = cmp.Or(rw.stand(), err)
		if rw.moved() { // f has read another server's rows
			return rw.lost(writersFolder)
		}
	}
	return err
}

// writersTurn is the state of one writer. It has whether the writer has met another writer, and
// how it releases the lock of all writers. The writer takes that lock when it has met another
// writer or somebody holds the lock.
type writersTurn struct {
	ctx      context.Context
	met      bool
	release  func()
	takeover int64 // like lease.takeover
}

func (t *writersTurn) end() {
	if t.release != nil {
		t.release()
	}
}

// moved reports whether another server has taken over since the writer began. That server may
// lack the rows that were read.
func (w rowWriter) moved() bool { return w.turn.takeover != w.c.takeovers.Load() }

func (w rowWriter) lost(at string) error {
	return &store.LostError{Name: w.c.where(at), Lock: w.c.where(writersLock)}
}

// take waits for the lock of all writers. Taking the lock also brings the writes of others.
func (w rowWriter) take() (err error) {
	if w.turn.release, err = store.Wait(w.turn.ctx, w.locks, writersLock, store.Alone); err != nil {
		return fmt.Errorf("lock workspace: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.half()
}

// without is the head of a write that holds no lock. The write is done only while nobody has the
// lock of all writers and no move is under way. A taker of that lock waits until the write has
// ended.
const without = fence + `,
	idle AS MATERIALIZED (SELECT l.path FROM locks AS l WHERE l.root=$1::bigint AND l.path='` + writersLock + `' AND NOT EXISTS(SELECT FROM jsonb_each(l.held) WHERE value::bigint > ` + now + `) FOR SHARE OF l),
	ok AS MATERIALIZED (SELECT (SELECT count(*) FROM fence) = cardinality($2::text[]) AND (SELECT count(*) FROM idle)=1
		AND NOT EXISTS(SELECT FROM workspaces WHERE root=$1::bigint AND moving<>'') AS ok, set_config('synchronous_commit', $4::text, true)), `

// change is [core.change] for a file. It takes the lock of all writers only if somebody has that
// lock.
func (w rowWriter) change(op, name string, unsure *bool, q string, args []any, into ...any) error {
	at := []string{writersFolder + "/" + name}
	if w.turn.release == nil {
		w.mu.Lock()
		moves := w.mover
		w.mu.Unlock()
		if !moves && !w.turn.met {
			err := w.c.changeBehind(without, w.moved, op, store.Synced, at, unsure, nil, q, args, into...)
			if !errors.As(err, new(*store.LostError)) || w.moved() {
				return err
			}
		}
		if err := w.take(); err != nil {
			return err
		}
		if w.moved() {
			return w.lost(at[0])
		}
	}
	return w.c.change(op, store.Synced, at, unsure, nil, q, args, into...)
}

// stand waits until the rows of others that were read are as durable as a write. A caller that
// finds its text there already reports that text as written.
func (w rowWriter) stand() error {
	w.mu.Lock()
	version := w.version
	known := version <= w.stood
	w.mu.Unlock()
	if known {
		return nil
	}
	if err := w.locks.Stands(writersLock); err != nil {
		return err
	}
	w.stands(version)
	return nil
}

// stands records that a version is durable. A synchronous commit waits for all earlier commits.
func (w rowWriter) stands(version int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.moved() { // another server has other versions
		w.stood = max(w.stood, version)
	}
}

// Moving implements [markdownstore.Remote].
func (w *Workspace) Moving(ctx context.Context, from string) (was string, err error) {
	if err := w.refresh(); err != nil {
		return "", err
	}
	w.mu.Lock()
	other := w.moving
	w.mu.Unlock()
	if from != "" && other != "" && other != from {
		return other, fmt.Errorf("%s has a part of the files of %s: move those first, or name another root", w.c.place, other)
	}
	var ok bool
	err = w.c.change("write", store.Synced, []string{writersFolder}, nil, nil, `
		m AS (INSERT INTO workspaces AS w(root, version, removed, time, moving) SELECT $1::bigint, 1, 0, clock_timestamp(), $5::text FROM ok WHERE ok.ok
			ON CONFLICT(root) DO UPDATE SET version=w.version+1, moving=excluded.moving)
		SELECT ok.ok, true FROM ok`, []any{from}, &ok)
	if err != nil {
		return other, err
	}
	w.mu.Lock()
	w.mover = from != ""
	w.mu.Unlock()
	return other, w.refresh()
}

// rowWriter is a workspace that this process's one writer writes to.
type rowWriter struct {
	*Workspace
	turn *writersTurn
}

// now reads a file. there is false if the file is missing.
func (w rowWriter) now(op, name string) (r row, text string, there bool, err error) {
	w.mu.Lock()
	i, err := w.look(op, name)
	w.mu.Unlock()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return r, "", false, nil
	case err != nil:
		return r, "", false, err
	case i.folder:
		return r, "", false, &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	}
	r, text, err = w.text(op, name, i.row)
	if errors.Is(err, fs.ErrNotExist) {
		return row{}, "", false, nil
	}
	return r, text, err == nil, err
}

// checkName returns an error for a name that a folder or a row can't have.
func checkName(op, name string) error {
	var err error
	switch {
	case !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0) || !utf8.ValidString(name):
		err = fs.ErrInvalid
	case len(name) > mostPath, slices.ContainsFunc(strings.Split(name, "/"), func(n string) bool { return len(n) > mostName }):
		err = syscall.ENAMETOOLONG
	default:
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// errOther reports that a file no longer has the version that was read.
var errOther = errors.New("the file has changed")

// write replaces version before of a file, 0 for none, with a text, or appends the text.
func (w rowWriter) write(op, name string, before int64, text string, appends bool) error {
	if err := checkName(op, name); err != nil {
		return err
	}
	w.mu.Lock()
	size, known := int64(len(text)), w.version
	if appends {
		size += w.rows[name].size
	}
	w.mu.Unlock()
	if size > mostRow {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("it would have %d bytes, and a file in the database has %d at most; split it", size, mostRow)}
	}
	above := []string{}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		above = append(above, dir)
	}
	lo, hi := below(name)
	mark := newMark()
	var r row
	var inTheWay string
	var unsure bool
	// If the mark is in the row already, this same write was done and its answer was lost. A file
	// is created only if no file was removed since: this statement may run so late that the
	// removed file is the one it created.
	err := w.change(op, name, &unsure, `
		cur AS MATERIALIZED (SELECT version, mark, length(data) AS size, time FROM workspace WHERE root=$1::bigint AND path=$5::text FOR UPDATE),
		other AS MATERIALIZED (SELECT path FROM workspace WHERE $6::bigint=0 AND root=$1::bigint AND (path=ANY($10::text[]) OR path >= $11::text AND path < $12::text) LIMIT 1),
		may AS MATERIALIZED (SELECT FROM ok WHERE ok.ok AND coalesce((SELECT version FROM cur), 0)=$6::bigint AND NOT EXISTS(SELECT FROM other)
			AND ($6::bigint<>0 OR coalesce((SELECT removed FROM workspaces WHERE root=$1::bigint), 0) <= $13::bigint)),
		v AS (INSERT INTO workspaces AS w(root, version, removed, time, moving) SELECT $1::bigint, 1, 0, clock_timestamp(), '' FROM may
			ON CONFLICT(root) DO UPDATE SET version=w.version+1, time=greatest(clock_timestamp(), w.time + interval '1 microsecond') RETURNING version, time),
		i AS (INSERT INTO workspace(root, path, version, data, mark, time) SELECT $1::bigint, $5::text, v.version, $7::bytea, $9::bigint, v.time FROM v WHERE $6::bigint=0
			ON CONFLICT DO NOTHING RETURNING version, length(data) AS size, time),
		u AS (UPDATE workspace AS f SET version=v.version, data=CASE WHEN $8::boolean THEN f.data || $7::bytea ELSE $7::bytea END, mark=$9::bigint, time=v.time FROM v
			WHERE f.root=$1::bigint AND f.path=$5::text AND f.version=$6::bigint AND $6::bigint<>0 RETURNING f.version, length(f.data) AS size, f.time),
		done AS (SELECT version, size, time FROM i UNION ALL SELECT version, size, time FROM u UNION ALL SELECT version, size, time FROM cur WHERE mark=$9::bigint)
		SELECT ok.ok, coalesce(done.version, 0), coalesce(done.size, 0), coalesce(done.time, 'epoch'), coalesce((SELECT path FROM other), '') FROM ok LEFT JOIN done ON true`,
		[]any{name, before, []byte(text), appends, mark, above, lo, hi, known}, &r.version, &r.size, &r.time, &inTheWay)
	switch {
	case err != nil:
		return err
	case r.version != 0:
		w.wrote(name, r, text, appends, before)
		return nil
	case inTheWay != "" && len(inTheWay) > len(name):
		return &fs.PathError{Op: op, Path: name, Err: syscall.EISDIR}
	case inTheWay != "":
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%s is a file: %w", inTheWay, syscall.ENOTDIR)}
	}
	w.turn.met = true
	if err := w.refresh(); err != nil {
		return err
	}
	if unsure && !appends {
		return &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("an answer was lost, and others wrote since, so that it is not known whether it was done: read it and %w", store.ErrAgain)}
	}
	return errOther // the caller reads the file and checks whether its text is there
}

// wrote records a write. If others wrote meanwhile, the next refresh brings their writes.
func (w rowWriter) wrote(name string, r row, text string, appends bool, before int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.moved() {
		return
	}
	if old := w.texts[name]; appends && before != 0 && old.version == before {
		w.keep(name, rowText{r.version, old.text + text})
	} else if !appends || before == 0 {
		w.keep(name, rowText{r.version, text})
	}
	w.put(name, r)
	if r.version == w.version+1 {
		w.version = r.version
		w.news++
	}
	w.stood = max(w.stood, r.version)
}

// conflict returns the error for a file that has changed since it was read.
func (w rowWriter) conflict(op, name, want string) error {
	c := &markdownstore.ConflictError{Path: name, Want: want}
	_, text, there, err := w.now(op, name)
	if err != nil {
		return err
	}
	if there {
		c.Have = hashText(text)
	}
	return c
}

func hashText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Append implements [markdownstore.Writer].
func (w rowWriter) Append(name string, add func(old string) (string, error)) (now string, settled bool, err error) {
	r, old, _, err := w.now("append", name)
	if err != nil {
		return "", false, err
	}
	block, err := add(old)
	if err != nil || block == "" {
		return old, true, err
	}
	err = w.write("append", name, r.version, block, true)
	if errors.Is(err, errOther) {
		return "", false, nil
	}
	return old + block, err == nil, err
}

// Create implements [markdownstore.Writer].
func (w rowWriter) Create(name, text string) error {
	err := w.write("create", name, 0, text, false)
	if errors.Is(err, errOther) {
		return w.conflict("create", name, "")
	}
	return err
}

// Swap implements [markdownstore.Writer].
func (w rowWriter) Swap(name string, change func(fi fs.FileInfo, old string) (string, error)) error {
	r, old, there, err := w.now("swap", name)
	if err == nil && !there {
		err = &fs.PathError{Op: "swap", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	text, err := change(rowInfo{path: name, row: r}, old)
	if err != nil || text == old {
		return err
	}
	err = w.write("swap", name, r.version, text, false)
	if errors.Is(err, errOther) {
		return w.conflict("swap", name, hashText(old))
	}
	return err
}

// Remove implements [markdownstore.Writer].
func (w rowWriter) Remove(name string, check func(fi fs.FileInfo, old string) error) error {
	r, old, there, err := w.now("remove", name)
	if err == nil && !there {
		err = &fs.PathError{Op: "remove", Path: name, Err: fs.ErrNotExist}
	}
	if err != nil {
		return err
	}
	if err := check(rowInfo{path: name, row: r}, old); err != nil {
		return err
	}
	var gone, left bool
	var version int64
	var unsure bool
	err = w.change("remove", name, &unsure, `
		cur AS MATERIALIZED (SELECT version FROM workspace WHERE root=$1::bigint AND path=$5::text FOR UPDATE),
		v AS (UPDATE workspaces SET version=version+1, removed=version+1, time=greatest(clock_timestamp(), time + interval '1 microsecond')
			WHERE root=$1::bigint AND (SELECT ok FROM ok) AND (SELECT version FROM cur)=$6::bigint RETURNING version),
		d AS (DELETE FROM workspace WHERE root=$1::bigint AND path=$5::text AND version=$6::bigint AND EXISTS(SELECT FROM v) RETURNING 1)
		SELECT ok.ok, EXISTS(SELECT FROM d), EXISTS(SELECT FROM cur), coalesce((SELECT version FROM v), 0) FROM ok`, []any{name, r.version}, &gone, &left, &version)
	if err != nil {
		return err
	}
	if err := w.refresh(); err != nil {
		return err
	}
	if gone {
		w.stands(version)
	}
	if !gone && (left || !unsure) {
		return w.conflict("remove", name, hashText(old))
	}
	return nil
}

// ask adds a query for changes to a batch that is sent anyway.
func (w *Workspace) ask(b *pgx.Batch) (since int64) {
	since = w.known()
	b.Queue(changedRows, w.c.root, since)
	return since
}

// heard takes in the answer to the query of ask.
func (w *Workspace) heard(res pgx.BatchResults, since int64, asked time.Time) error {
	rows, err := res.Query()
	if err != nil {
		return err
	}
	n, err := readChanges(rows, since)
	if err == nil {
		w.learn(n, asked)
	}
	return err
}
