package rows

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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

// inUse selects the names of the states that have something.
const inUse = `SELECT name FROM ` + OldSchema + `.roots AS r WHERE EXISTS(SELECT FROM ` + OldSchema + `.files WHERE root=r.id) OR EXISTS(SELECT FROM ` + OldSchema + `.workspace WHERE root=r.id)`

// notMoved returns an error if the state with this name is still in the tables of an earlier
// version.
func notMoved(ctx context.Context, pool *pgxpool.Pool, root string) error {
	var there bool
	err := pool.QueryRow(ctx, `SELECT EXISTS(SELECT FROM pg_class AS c JOIN pg_namespace AS n ON n.oid=c.relnamespace WHERE n.nspname=$1::text AND c.relname='workspace')`, OldSchema).Scan(&there)
	if err == nil && there {
		err = pool.QueryRow(ctx, `SELECT $1::text IN (`+inUse+`)`, root).Scan(&there)
	}
	if err == nil && there {
		err = &Error{Kind: ErrNotMoved, Hint: "end all programs that use it, and run 'memkernel-server migrate --state --from tables --to postgres', which moves it",
			Err: errors.New("they are in the schema " + OldSchema)}
	}
	return err
}

// Old is a state in the tables of an earlier version, as it was when it was opened. Callers may
// call only methods that read: the embedded Disk is nil.
type Old struct {
	store.Disk
	*old
	folder string
}

type old struct {
	*core
	tx    pgx.Tx
	paths []string // in order
	files map[string]oldFile
}

type oldFile struct {
	content, size int64
	written       time.Time
}

// begin opens the tables of an earlier version.
func begin(ctx context.Context, o Options) (*old, error) {
	c, cfg, err := prepare(&o)
	if err != nil {
		return nil, err
	}
	c.place += " in " + OldSchema
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return nil, c.explain("open", c.place, err)
	}
	t := &old{core: c, files: map[string]oldFile{}}
	version := 0
	if t.tx, err = conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}); err == nil {
		err = t.tx.QueryRow(ctx, `SELECT max(version) FROM `+OldSchema+`.versions`).Scan(&version)
	}
	if version != oldVersion {
		err = &Error{Kind: ErrSchema, Hint: "name the database of the earlier version in the DSN, and open it once with the last version before this one",
			Err: cmp.Or(err, fmt.Errorf("the tables are of version %d, not %d", version, oldVersion))}
	}
	if err != nil {
		_ = conn.Close(ctx)
	}
	return t, c.explain("open", c.place, err)
}

// Close closes the connection.
func (t *old) Close() error { return t.tx.Conn().Close(context.Background()) }

// OldRoots returns the names of all states in the tables of an earlier version, in order.
func OldRoots(ctx context.Context, o Options) ([]string, error) {
	t, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	rows, _ := t.tx.Query(ctx, inUse+` ORDER BY name`) // CollectRows returns the error
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return names, t.explain("read", t.place, err)
}

// OpenOld opens a state in the tables of an earlier version. It refuses a state that a program
// uses, and a state of which a part is elsewhere.
func OpenOld(ctx context.Context, o Options) (*Old, error) {
	t, err := begin(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := t.list(ctx, o.Root); err != nil {
		t.Close()
		return nil, t.explain("open", t.place, err)
	}
	return &Old{old: t}, nil
}

// list reads the names of all files.
func (t *old) list(ctx context.Context, root string) error {
	var holder, bucket, moving string
	err := t.tx.QueryRow(ctx, strings.ReplaceAll(`SELECT id,
		coalesce((SELECT max(holder) FROM $S.locks AS l WHERE l.root=r.id AND EXISTS(SELECT FROM jsonb_each(l.held) WHERE value::bigint > `+now+`)), ''),
		coalesce((SELECT max(o.place) FROM $S.objects AS o JOIN $S.files AS f ON f.root=o.root AND f.content=o.content WHERE o.root=r.id), ''),
		coalesce((SELECT moving FROM $S.workspaces WHERE root=r.id), '') FROM $S.roots AS r WHERE name=$1::text`, "$S", OldSchema), root).Scan(&t.tenant, &holder, &bucket, &moving)
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
	var at string
	var f oldFile
	rows, _ := t.tx.Query(ctx, `SELECT path, content, size, time FROM `+OldSchema+`.files WHERE root=$1::bigint ORDER BY path`, t.tenant)
	_, err = pgx.ForEachRow(rows, []any{&at, &f.content, &f.size, &f.written}, func() error {
		t.paths, t.files[at] = append(t.paths, at), f
		return nil
	})
	return err
}

// In implements [store.Store].
func (s *Old) In(folder string) store.Store { return &Old{old: s.old, folder: s.at(folder)} }

// Where implements [store.Store].
func (s *Old) Where(name string) string { return s.where(s.at(name)) }

func (s *Old) at(name string) string { return path.Join(s.folder, name) }

// Get implements [store.Store].
func (s *Old) Get(name string) (data []byte, err error) {
	f, ok := s.files[s.at(name)]
	if !ok {
		return nil, s.notThere("read", s.at(name))
	}
	var piece []byte
	rows, _ := s.tx.Query(context.Background(), `SELECT data FROM `+OldSchema+`.pieces WHERE root=$1::bigint AND content=$2::bigint ORDER BY off`, s.tenant, f.content)
	_, err = pgx.ForEachRow(rows, []any{&piece}, func() error {
		data = append(data, piece...)
		return nil
	})
	if err == nil && int64(len(data)) != f.size {
		return nil, fmt.Errorf("%s: it has %d bytes and should have %d: restore it from a backup", s.Where(name), len(data), f.size)
	}
	return data, s.explain("read", s.Where(name), err)
}

// Open implements [store.Store].
func (s *Old) Open(name string) (store.Reader, error) {
	data, err := s.Get(name)
	return content{bytes.NewReader(data)}, err
}

// Stat implements [store.Store].
func (s *Old) Stat(name string) (store.Info, error) {
	f, ok := s.files[s.at(name)]
	if folder := len(s.below(name)) > 0; ok || folder {
		return store.Info{Size: f.size, Time: f.written, Folder: !ok}, nil
	}
	return store.Info{}, s.notThere("stat", s.at(name))
}

// below returns the paths in a folder, in order.
func (s *Old) below(name string) []string {
	at := s.at(name)
	if at == "" {
		return s.paths
	}
	from, _ := slices.BinarySearch(s.paths, at+"/")
	to, _ := slices.BinarySearch(s.paths, at+"0") // the character after the slash
	return s.paths[from:to]
}

// List implements [store.Store].
func (s *Old) List(name string) ([]store.Entry, error) {
	in := map[string]store.Info{}
	for _, at := range s.below(name) {
		first, _, deeper := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(at, s.at(name)), "/"), "/")
		in[first] = store.Info{Size: s.files[at].size, Time: s.files[at].written, Folder: deeper}
	}
	var out []store.Entry
	for _, n := range slices.Sorted(maps.Keys(in)) {
		out = append(out, store.Entry{Name: n, Folder: in[n].Folder, Info: func() (store.Info, error) { return in[n], nil }})
	}
	if len(out) == 0 {
		return nil, s.notThere("list", s.at(name))
	}
	return out, nil
}

// OpenLog implements [store.Store].
func (s *Old) OpenLog(name string, o store.LogOptions) (store.Log, error) {
	return store.OpenLineLog(s, name, o), nil
}

// Lock implements [store.Store]. No process can write to an opened state.
func (s *Old) Lock(string, store.Share) (release func(), err error) { return func() {}, nil }

// MoveFiles copies the workspace's files into another workspace, and reads and compares each. It
// continues a copy that was interrupted.
func (s *Old) MoveFiles(ctx context.Context, to *Workspace) (files, copied int, size int64, err error) {
	if _, err := to.Moving(ctx, s.place); err != nil {
		return 0, 0, 0, err
	}
	rows, _ := s.tx.Query(ctx, `SELECT path, data FROM `+OldSchema+`.workspace WHERE root=$1::bigint ORDER BY path`, s.tenant)
	var name string
	var text []byte
	_, err = pgx.ForEachRow(rows, []any{&name, &text}, func() error {
		files, size = files+1, size+int64(len(text))
		err := to.Write(ctx, func(w markdownstore.Writer) error { return w.Create(name, string(text)) })
		var there *markdownstore.ConflictError
		if err == nil {
			copied++
		} else if !errors.As(err, &there) {
			return err
		}
		now, _, err := to.c.get(place{filesIn + "/" + name, filesIn, name})
		if err != nil {
			return err
		}
		if !bytes.Equal(now.data, text) {
			return fmt.Errorf("%s has another text than %s/%s: take it out of one, and run it again", to.c.where(name), s.place, name)
		}
		return nil
	})
	if err == nil {
		_, err = to.Moving(ctx, "")
	}
	return files, copied, size, s.explain("move", s.place, err)
}
