package index

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
	"github.com/memkernel/memkernel/index/internal/fts5"
)

// formatVersion is the version of the tables, kept in the file's header.
//
//	1: meta, files, chunks, embedding_cache, chunks_fts, chunks_vec
//	2: chunks has keywords; the column path of chunks_fts, which holds them too,
//	   is called file
//	3: chunks_fts has names
//	4: files has labels
const formatVersion = 4

// applicationID marks a SQLite file as one of ours in its header: "mkix".
const applicationID = 0x6d6b6978

// vecBlock is the number of vectors that chunks_vec stores in one block. The first vector
// allocates the whole block. Small blocks are several times faster to write.
const vecBlock = 256

// schema holds the statements that make a new file's tables except chunks_fts and chunks_vec. Package
// fts5 makes chunks_fts. createVec makes chunks_vec when a model is in use, because the table needs
// the length of the vectors.
var schema = []string{
	`CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,
	`CREATE TABLE files(
		id INTEGER PRIMARY KEY,
		path TEXT NOT NULL UNIQUE,
		size INTEGER NOT NULL,
		mtime INTEGER NOT NULL,          -- ns since 1970
		hash BLOB NOT NULL,              -- of its chunks; empty if never read
		chunks INTEGER NOT NULL,
		again INTEGER NOT NULL,          -- 1: read it next time, whatever its stat
		labels TEXT NOT NULL             -- one per line
	)`,
	`CREATE INDEX files_again ON files(id) WHERE again`,
	`CREATE TABLE chunks(
		row INTEGER PRIMARY KEY,         -- never used twice
		file INTEGER NOT NULL REFERENCES files(id),
		seq INTEGER NOT NULL,            -- place in the file, from 0
		id TEXT NOT NULL,
		hash BLOB NOT NULL,              -- sha256 of trail and body
		start_line INTEGER NOT NULL,
		end_line INTEGER NOT NULL,
		tokens INTEGER NOT NULL,
		lang TEXT NOT NULL,
		date TEXT NOT NULL,
		trail TEXT NOT NULL,             -- one heading per line
		keywords TEXT NOT NULL,
		body TEXT NOT NULL
	)`,
	`CREATE INDEX chunks_file ON chunks(file, seq)`,
	`CREATE TABLE embedding_cache(
		id INTEGER PRIMARY KEY,
		model TEXT NOT NULL,
		hash BLOB NOT NULL,
		dim INTEGER NOT NULL,
		vector BLOB NOT NULL,            -- dim float32, little-endian, length 1
		UNIQUE(hash, model)
	)`,
}

// createVec returns the statement that makes chunks_vec for vectors of length
// dim.
func createVec(dim int) string {
	return fmt.Sprintf(`CREATE VIRTUAL TABLE chunks_vec USING vec0(
		embedding float[%d] distance_metric=l2, chunk_size=%d)`, dim, vecBlock)
}

// create writes an empty index to a new file next to path and moves the new file to path. If
// Rebuild set a file aside, create copies the vectors of that file. A half-made file is never at
// path. The caller must hold the lock.
func create(ctx context.Context, path string, o *Options) error {
	tmp, old := path+newEnd, path+aside
	err := removeAll(tmp, tmp+"-journal")
	if err == nil {
		err = build(ctx, tmp, o)
	}
	if err == nil {
		err = salvage(ctx, old, tmp, o)
	}
	// SQLite would replay an old log into the new file.
	if err == nil {
		err = removeAll(path+"-wal", path+"-shm")
	}
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		removeAll(tmp, tmp+"-journal")
		return fmt.Errorf("create index: %w", err)
	}
	return removeAll(old, old+"-wal", old+"-shm")
}

// build writes the tables of an empty index.
func build(ctx context.Context, path string, o *Options) error {
	// A file that SQLite makes itself is readable by everybody.
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	db, err := drv.Open(path, drv.Create, o.BusyTimeout)
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if err := lay(ctx, db, o); err != nil {
		return err
	}
	return db.Close()
}

// lay makes the tables of an empty index.
func lay(ctx context.Context, db *sql.DB, o *Options) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	head := []string{
		"PRAGMA application_id=" + strconv.Itoa(applicationID),
		"PRAGMA user_version=" + strconv.Itoa(formatVersion),
	}
	for _, q := range slices.Concat(head, schema) {
		if _, err := tx.ExecContext(ctx, q); err != nil {
			return err
		}
	}
	if err := fts5.Make(ctx, tx); err != nil {
		return err
	}
	if err := newMeta(o).save(ctx, tx, nil); err != nil {
		return err
	}
	return tx.Commit()
}

// newEnd ends the name of a file that is being made.
const newEnd = ".new"

func removeAll(paths ...string) error {
	for _, p := range paths {
		if err := os.Remove(p); err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}

// defaultBusy is how long a statement waits for another process's lock.
const defaultBusy = 5 * time.Second
