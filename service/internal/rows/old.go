package rows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/memkernel/memkernel/internal/store"
	"github.com/memkernel/memkernel/markdownstore"
)

// OldSchema is the schema in which earlier versions kept the state, as files that were cut into
// pieces. oldVersion is the version of its tables.
const OldSchema, oldVersion = "memkernel_state", 6

// Old is the state in the tables of earlier versions, as it was when it was opened. It writes
// nothing.
type Old struct {
	c    *core
	conn *pgx.Conn
	tx   pgx.Tx
}

// hasOld reports whether a database has the tables of earlier versions.
const hasOld = `SELECT EXISTS(SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid=c.relnamespace WHERE n.nspname='` + OldSchema + `' AND c.relname='workspace')`

// inUse selects the roots that have something.
const inUse = `SELECT name FROM ` + OldSchema + `.roots AS r WHERE EXISTS(SELECT FROM ` + OldSchema + `.files WHERE root=r.id) OR EXISTS(SELECT FROM ` + OldSchema + `.workspace WHERE root=r.id)`

// notMoved returns an error if the state with this name is still in the tables of earlier
// versions.
func notMoved(ctx context.Context, pool *pgxpool.Pool, root string) error {
	var there bool
	if err := pool.QueryRow(ctx, hasOld).Scan(&there); err != nil || !there {
		return err
	}
	if err := pool.QueryRow(ctx, `SELECT $1::text IN (`+inUse+`)`, root).Scan(&there); err != nil || !there {
		return err
	}
	return &Error{Kind: ErrSchema, Hint: "end all programs that use it, and run 'memkernel-server migrate --state --from tables --to postgres', which moves it",
		Err: errors.New("the state is in the tables of an earlier version, in the schema " + OldSchema)}
}

// OpenOld opens the tables of earlier versions. o names the database.
func OpenOld(ctx context.Context, o Options) (*Old, error) {
	c, cfg, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, c.explain("open", c.place, err)
	}
	old := &Old{c: c, conn: conn}
	if err := old.begin(ctx); err != nil {
		old.Close()
		return nil, c.explain("open", c.place, err)
	}
	return old, nil
}

func (o *Old) begin(ctx context.Context) (err error) {
	if o.tx, err = o.conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err != nil {
		return err
	}
	var there bool
	version := 0
	if err := o.tx.QueryRow(ctx, hasOld).Scan(&there); err != nil {
		return err
	}
	if there {
		err = o.tx.QueryRow(ctx, `SELECT max(version) FROM `+OldSchema+`.versions`).Scan(&version)
	}
	if err == nil && version != oldVersion {
		err = &Error{Kind: ErrSchema, Hint: "see that the DSN names the database of the earlier version; if it does, open it once with the last version before this one",
			Err: fmt.Errorf("it has no tables of version %d in the schema %s", oldVersion, OldSchema)}
	}
	return err
}

// Close closes the connection.
func (o *Old) Close() { _ = o.conn.Close(context.Background()) }

// Roots returns the names of all states, in order.
func (o *Old) Roots(ctx context.Context) ([]string, error) {
	rows, err := o.tx.Query(ctx, inUse+` ORDER BY name`)
	if err != nil {
		return nil, o.c.explain("read", o.c.place, err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, o.c.explain("read", o.c.place, err)
}

// OldRoot is one state in the tables of earlier versions. Only what reads may be called: nothing is
// below the Disk that it embeds.
type OldRoot struct {
	store.Disk
	*oldRoot
	folder string
}

type oldRoot struct {
	old   *Old
	id    int64
	place string
	paths []string
	files map[string]oldFile
}

type oldFile struct {
	content, size int64
	written       time.Time
}

// Root opens a state. It refuses one that a program uses, and one of which a part is elsewhere.
func (o *Old) Root(ctx context.Context, name string) (*OldRoot, error) {
	r := &oldRoot{old: o, place: o.c.place[:strings.LastIndex(o.c.place, "#")] + "#" + name + " in " + OldSchema, files: map[string]oldFile{}}
	if err := r.open(ctx, name); err != nil {
		return nil, o.c.explain("open", r.place, err)
	}
	return &OldRoot{oldRoot: r}, nil
}

func (r *oldRoot) open(ctx context.Context, name string) error {
	var holder, bucket, moving string
	err := r.old.tx.QueryRow(ctx, strings.ReplaceAll(`SELECT id,
		coalesce((SELECT max(holder) FROM $S.locks AS l WHERE l.root=r.id AND EXISTS(SELECT FROM jsonb_each(l.held) WHERE value::bigint > `+now+`)), ''),
		coalesce((SELECT max(o.place) FROM $S.objects AS o JOIN $S.files AS f ON f.root=o.root AND f.content=o.content WHERE o.root=r.id), ''),
		coalesce((SELECT moving FROM $S.workspaces WHERE root=r.id), '') FROM $S.roots AS r WHERE name=$1::text`, "$S", OldSchema), name).Scan(&r.id, &holder, &bucket, &moving)
	switch {
	case err != nil:
		return err
	case holder != "":
		return &Error{Kind: errBusy, Hint: "end it; one that was killed counts until its lease ends", Err: errors.New("it is in use by " + holder)}
	case bucket != "":
		return &Error{Kind: ErrSchema, Hint: "move it into a folder with the earlier version ('memkernel-server migrate --state --to files'), and from there with this one ('memkernel-server migrate --state --to postgres')",
			Err: errors.New("large contents are in the bucket " + bucket)}
	case moving != "":
		return &Error{Kind: ErrSchema, Hint: "run 'memkernel-server migrate --memory' of the earlier version again, which goes on there", Err: errors.New("it has a part of the files of " + moving)}
	}
	rows, err := r.old.tx.Query(ctx, `SELECT path, content, size, time FROM `+OldSchema+`.files WHERE root=$1::bigint ORDER BY path`, r.id)
	if err != nil {
		return err
	}
	var at string
	var f oldFile
	_, err = pgx.ForEachRow(rows, []any{&at, &f.content, &f.size, &f.written}, func() error {
		r.paths, r.files[at] = append(r.paths, at), f
		return nil
	})
	return err
}

// In implements [store.Store].
func (r *OldRoot) In(folder string) store.Store {
	return &OldRoot{oldRoot: r.oldRoot, folder: path.Join(r.folder, folder)}
}

// Where implements [store.Store].
func (r *OldRoot) Where(name string) string {
	return strings.TrimSuffix(r.place+"/"+path.Join(r.folder, name), "/")
}

func (r *OldRoot) find(name string) (oldFile, error) {
	f, ok := r.files[path.Join(r.folder, name)]
	if !ok {
		return f, &fs.PathError{Op: "read", Path: r.Where(name), Err: fs.ErrNotExist}
	}
	return f, nil
}

// Get implements [store.Store].
func (r *OldRoot) Get(name string) ([]byte, error) {
	f, err := r.find(name)
	if err != nil {
		return nil, err
	}
	data := make([]byte, 0, f.size)
	rows, err := r.old.tx.Query(context.Background(), `SELECT data FROM `+OldSchema+`.pieces WHERE root=$1::bigint AND content=$2::bigint ORDER BY off`, r.id, f.content)
	if err == nil {
		var piece []byte
		_, err = pgx.ForEachRow(rows, []any{&piece}, func() error {
			data = append(data, piece...)
			return nil
		})
	}
	if err == nil && int64(len(data)) != f.size {
		err = fmt.Errorf("%s: it has %d bytes and should have %d: restore it from a backup", r.Where(name), len(data), f.size)
	}
	return data, r.old.c.explain("read", r.Where(name), err)
}

// Open implements [store.Store].
func (r *OldRoot) Open(name string) (store.Reader, error) {
	data, err := r.Get(name)
	return content{bytes.NewReader(data)}, err
}

// Stat implements [store.Store].
func (r *OldRoot) Stat(name string) (store.Info, error) {
	f, err := r.find(name)
	if err == nil || len(r.below(name)) == 0 {
		return store.Info{Size: f.size, Time: f.written}, err
	}
	return store.Info{Folder: true}, nil
}

// below returns the paths in a folder, in order.
func (r *OldRoot) below(name string) []string {
	at := path.Join(r.folder, name)
	if at == "" {
		return r.paths
	}
	from, _ := slices.BinarySearch(r.paths, at+"/")
	to, _ := slices.BinarySearch(r.paths, at+"0") // the character after the slash
	return r.paths[from:to]
}

// List implements [store.Store].
func (r *OldRoot) List(name string) (out []store.Entry, err error) {
	above := path.Join(r.folder, name)
	for _, at := range r.below(name) {
		first, _, deeper := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, above), "/"), "/")
		if n := len(out); n > 0 && out[n-1].Name == first {
			continue // a folder's files are adjacent
		}
		f := r.files[at]
		info := store.Info{Size: f.size, Time: f.written, Folder: deeper}
		out = append(out, store.Entry{Name: first, Folder: deeper, Info: func() (store.Info, error) { return info, nil }})
	}
	if len(out) == 0 && above != "" {
		_, err = r.find(name)
	}
	slices.SortFunc(out, func(a, b store.Entry) int { return strings.Compare(a.Name, b.Name) })
	return out, err
}

// OpenLog implements [store.Store].
func (r *OldRoot) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	return store.OpenLineLog(r, name, o), nil
}

// Lock implements [store.Store]. Nobody can write to what was opened.
func (r *OldRoot) Lock(string, store.Share) (release func(), err error) { return func() {}, nil }

// MoveFiles copies the workspace's files into another workspace, and reads and compares each. It
// continues a copy that was interrupted.
func (r *OldRoot) MoveFiles(ctx context.Context, to *Workspace) (files int, size int64, err error) {
	if _, err := to.Moving(ctx, r.place); err != nil {
		return 0, 0, err
	}
	rows, err := r.old.tx.Query(ctx, `SELECT path, data FROM `+OldSchema+`.workspace WHERE root=$1::bigint ORDER BY path`, r.id)
	if err != nil {
		return 0, 0, r.old.c.explain("read", r.place, err)
	}
	var name string
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &text}, func() error {
		files, size = files+1, size+int64(len(text))
		err := to.Write(ctx, func(w markdownstore.Writer) error { return w.Create(name, string(text)) })
		var there *markdownstore.ConflictError
		if err != nil && !errors.As(err, &there) {
			return err
		}
		var now doc
		if _, err := to.c.one(&get, filesIn+"/"+name, []any{filesIn, name, ""}, &now.data, &now.rev, &now.written, &now.mark); err != nil {
			return err
		}
		if !bytes.Equal(now.data, text) {
			return fmt.Errorf("%s has another text than %s/%s: take it out of one, and run it again", to.c.where(name), r.place, name)
		}
		return nil
	})
	if err == nil {
		_, err = to.Moving(ctx, "")
	}
	return files, size, r.old.c.explain("move", r.place, err)
}
