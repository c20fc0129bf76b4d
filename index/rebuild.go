package index

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/vec"
)

// Rebuild replaces the index at path, whatever its state, with an empty index, and opens the new
// index. The caller must then call Sync to fill it. Rebuild takes over the vectors of the old
// file that can be read and are whole, since they may have cost money. A damaged file is kept in
// the same folder as index.sqlite.damaged-1. Only the newest three damaged files stay. A file of
// a newer format is kept as index.sqlite.aside-1. For a file that is no index, or that can't be
// read, Rebuild returns an error, such as ErrForeign, and leaves the file alone. With
// Options.Force it moves such a file aside too. If path is a link, the link itself is moved. If
// another process is syncing the index, Rebuild returns ErrBusy. Handles that are open on the old
// file, in any process, find the new one.
func Rebuild(ctx context.Context, path string, opts *Options) (*Index, error) {
	const op = "rebuild index"
	o := opts.orDefaults()
	if err := o.Writable(op, path); err != nil {
		return nil, err
	}
	if err := replaceFile(ctx, path, o); err != nil {
		return nil, explain(op, path, err)
	}
	return Open(path, o)
}

// replaceFile makes the new file under the lock.
func replaceFile(ctx context.Context, path string, o *Options) error {
	release, err := lock(ctx, path, defaultWait)
	if err != nil {
		return err
	}
	defer release()
	old := path + aside
	switch err := probe(path); {
	case errors.Is(err, ErrMissing):
		return create(ctx, path, o)
	case errors.Is(err, ErrDamaged):
		return replaceKept(ctx, path, damagedEnd, err, o)
	case err == nil && o.Damaged != nil:
		return replaceKept(ctx, path, damagedEnd, o.Damaged, o)
	case err == nil, errors.Is(err, ErrOlder):
	case o.Force, errors.Is(err, ErrNewer):
		return replaceKept(ctx, path, asideEnd, err, o)
	default:
		return err
	}
	// An earlier Rebuild may have left an old file. Its vectors were copied before the file at path
	// was made.
	if err := removeAll(old, old+"-wal", old+"-shm"); err != nil {
		return err
	}
	// The log moves too, because the old file is only whole with its log.
	for _, end := range []string{"", "-wal"} {
		if err := os.Rename(path+end, old+end); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	err = create(ctx, path, o)
	if err != nil && errors.Is(probe(path), ErrMissing) {
		os.Rename(old+"-wal", path+"-wal")
		os.Rename(old, path)
	}
	return err
}

// replaceKept moves the file at path aside, and makes the new file.
func replaceKept(ctx context.Context, path, end string, why error, o *Options) error {
	to, err := putAside(path, end)
	if err != nil {
		return err
	}
	if o.Aside != nil {
		o.Aside(to, why)
	}
	if err := create(ctx, path, o); err != nil {
		return err
	}
	dropDamaged(path)
	return nil
}

// aside ends the name of the old file while the new file is made.
const aside = ".old"

// salvage copies the readable vectors of the old file, if there is an old file. It ignores faults
// of the old file.
func salvage(ctx context.Context, from, to string, o *Options) error {
	mode := drv.ReadWrite
	if _, err := os.Stat(from); err != nil {
		// A file that was moved aside because it was damaged stays as it is.
		if from, mode = newestDamaged(to[:len(to)-len(newEnd)]), drv.ReadOnly; from == "" {
			return nil
		}
		if fi, err := os.Lstat(from); err != nil || !fi.Mode().IsRegular() {
			return nil
		}
	}
	src, err := drv.Open(from, mode, o.BusyTimeout)
	if err != nil {
		return nil
	}
	defer src.Close()
	src.SetMaxOpenConns(1)
	dst, err := drv.Open(to, drv.Create, o.BusyTimeout)
	if err != nil {
		return err
	}
	defer dst.Close()
	dst.SetMaxOpenConns(1)
	tx, err := dst.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if err := salvageVectors(ctx, src, tx); err != nil {
		return err
	}
	if old, err := loadMeta(ctx, src); err == nil && old.model != "" && old.dim > 0 {
		m := newMeta(o)
		was := m.clone()
		m.model, m.dim, m.reliance = old.model, old.dim, old.reliance
		if _, err := tx.ExecContext(ctx, "CREATE INDEX chunks_hash ON chunks(hash)"); err != nil {
			return err
		}
		if err := fillVectors(ctx, tx, m); err != nil {
			return err
		}
		if err := m.save(ctx, tx, was); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// salvageVectors copies the rows of embedding_cache up to the first unreadable row, and then from
// the last row down to an unreadable row.
func salvageVectors(ctx context.Context, src drv.Conn, tx *sql.Tx) error {
	for _, order := range []string{"ASC", "DESC"} {
		rows, err := src.QueryContext(ctx, "SELECT model, hash, dim, vector FROM embedding_cache ORDER BY id "+order)
		if err != nil {
			return ctx.Err()
		}
		whole, err := copyVectors(ctx, rows, tx)
		rows.Close()
		if err != nil || whole {
			return err
		}
	}
	return nil
}

func copyVectors(ctx context.Context, rows *sql.Rows, tx *sql.Tx) (whole bool, err error) {
	for rows.Next() {
		var model string
		var hash, vector []byte
		var dim int
		if rows.Scan(&model, &hash, &dim, &vector) != nil {
			return false, nil
		}
		if _, ok := vec.Decode(vector, dim); !ok || len(hash) != len(Hash{}) || model == "" {
			continue
		}
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO embedding_cache(model, hash, dim, vector)
			VALUES(?, ?, ?, ?)`, model, hash, dim, vector); err != nil {
			return false, err
		}
	}
	return rows.Err() == nil, ctx.Err()
}

// The name of a file that was moved aside ends with one of these endings and a number.
const (
	// damagedEnd is the ending for damaged indexes. Only the newest keepDamaged of them stay.
	damagedEnd = ".damaged-"
	// asideEnd is the ending for files that another program, or a newer version of this one,
	// wrote. They are never removed.
	asideEnd = ".aside-"
)

// keepDamaged is how many damaged indexes are kept.
const keepDamaged = 3

// companions are the endings of the names of the files that belong to an index file.
var companions = []string{"", "-wal", "-shm", "-journal"}

// putAside moves the file at path, with its log files, to a free name. A link is moved itself.
// The caller must hold the lock.
func putAside(path, end string) (to string, err error) {
	n := 1
	if all := numbered(path, end); len(all) > 0 {
		n = all[len(all)-1] + 1
	}
	to = path + end + strconv.Itoa(n)
	for _, c := range companions {
		if err := os.Rename(path+c, to+c); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return to, nil
}

// dropDamaged removes all damaged indexes except the newest keepDamaged. It ignores errors.
func dropDamaged(path string) {
	all := numbered(path, damagedEnd)
	for _, n := range all[:max(0, len(all)-keepDamaged)] {
		for _, c := range companions {
			os.Remove(path + damagedEnd + strconv.Itoa(n) + c)
		}
	}
}

// newestDamaged returns the path of the damaged index that was moved aside last, or "".
func newestDamaged(path string) string {
	all := numbered(path, damagedEnd)
	if len(all) == 0 {
		return ""
	}
	return path + damagedEnd + strconv.Itoa(all[len(all)-1])
}

// numbered returns the numbers that names of files moved aside have after an ending, in ascending
// order.
func numbered(path, end string) (out []int) {
	entries, _ := os.ReadDir(filepath.Dir(path)) // in a folder that can't be listed, files can't be renamed either
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), filepath.Base(path)+end)
		for _, c := range companions {
			rest = strings.TrimSuffix(rest, c)
		}
		if n, err := strconv.Atoi(rest); ok && err == nil && n > 0 && !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}
