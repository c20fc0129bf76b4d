package index

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/memkernel/memkernel/index/internal/drv"
)

// FileError is the error of a file that could not be listed, read or cut into chunks.
type FileError struct {
	// Path is "" if the listing as a whole was cut short.
	Path string
	Err  error
}

func (e FileError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("list files: %v", e.Err)
	}
	return fmt.Sprintf("index %s: %v", e.Path, e.Err)
}

func (e FileError) Unwrap() error { return e.Err }

// Listing is the result of listing a source of files.
type Listing struct {
	// Files are sorted by path. Each occurs once.
	Files []FileStat
	// Stamp is the sum of the files' stat hashes. Two listings with equal sums have the same
	// files.
	Stamp uint64
	// Problems are the paths that could not be listed. The index keeps its rows of these paths
	// and of the files below them.
	Problems []FileError
}

// List reads a source to its end.
func List(ctx context.Context, source iter.Seq2[FileStat, error]) (*Listing, error) {
	l := &Listing{}
	for f, err := range source {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			l.Problems = append(l.Problems, FileError{f.Path, err})
			continue
		}
		l.Files = append(l.Files, f)
	}
	if !slices.IsSortedFunc(l.Files, byPath) {
		slices.SortStableFunc(l.Files, byPath)
	}
	l.Files = slices.CompactFunc(l.Files, func(a, b FileStat) bool { return a.Path == b.Path })
	for _, f := range l.Files {
		l.Stamp += f.hash()
	}
	return l, ctx.Err()
}

func byPath(a, b FileStat) int { return strings.Compare(a.Path, b.Path) }

// unsure reports whether a file that was not listed may still exist.
func (l *Listing) unsure(path string) bool {
	return slices.ContainsFunc(l.Problems, func(p FileError) bool {
		return p.Path == "" || p.Path == path || strings.HasPrefix(path, p.Path+"/")
	})
}

// fileRow is a row of files.
type fileRow struct {
	id     int64
	path   string
	size   int64
	mtime  int64
	hash   []byte
	chunks int
	again  bool
}

// readFiles reads the table of files, sorted by path.
func readFiles(ctx context.Context, db drv.Conn) ([]fileRow, error) {
	out, err := drv.All(ctx, db, func(f *fileRow) []any {
		return []any{&f.id, &f.path, &f.size, &f.mtime, &f.hash, &f.chunks, &f.again}
	}, "SELECT id, path, size, mtime, hash, chunks, again FROM files")
	slices.SortFunc(out, func(a, b fileRow) int { return strings.Compare(a.path, b.path) })
	return out, err
}

// Work lists what brings an index up to date with a listing: files to be read and rows to be removed.
type Work[R any] struct {
	Read      []Job[R]
	Remove    []*R
	Unchanged int
}

// Job is a file to be read. Row is nil if the file is new.
type Job[R any] struct {
	Stat FileStat
	Row  *R
}

// Bytes returns the sizes of the files to be read.
func (w *Work[R]) Bytes() (n int64) {
	for _, j := range w.Read {
		n += j.Stat.Size
	}
	return n
}

// Compare returns the work to do. The caller must sort known by path. current reports whether a
// row is about the file as it is now.
func Compare[R any](l *Listing, known []R, path func(*R) string, current func(*R, FileStat) bool) Work[R] {
	var w Work[R]
	i := 0
	goneBefore := func(next *FileStat) {
		for ; i < len(known) && (next == nil || path(&known[i]) < next.Path); i++ {
			if row := &known[i]; !l.unsure(path(row)) {
				w.Remove = append(w.Remove, row)
			}
		}
	}
	for _, f := range l.Files {
		goneBefore(&f)
		var row *R
		if i < len(known) && path(&known[i]) == f.Path {
			row = &known[i]
			i++
		}
		if row != nil && current(row, f) {
			w.Unchanged++
		} else {
			w.Read = append(w.Read, Job[R]{f, row})
		}
	}
	goneBefore(nil)
	return w
}

// job is a file to be read.
type job = Job[fileRow]

// compare calls Compare with the rows of this index. If again is set, files that are marked to be
// read again are included although their stat is unchanged.
func (l *Listing) compare(known []fileRow, again bool) Work[fileRow] {
	return Compare(l, known, func(r *fileRow) string { return r.path }, func(r *fileRow, f FileStat) bool {
		return r.size == f.Size && r.mtime == f.Nanos() && !(again && r.again)
	})
}

// statHash returns one file's part of the stamp. It is FNV-1a over the path, size and time,
// scrambled by the finaliser of splitmix64 so that the sums of similar files differ. It guards
// against accidents, not against attacks. The sum is stored, so statHash must never change.
func statHash(path string, size, mtime int64) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	for i := 0; i < len(path); i++ {
		h = (h ^ uint64(path[i])) * prime
	}
	for _, v := range [2]uint64{uint64(size), uint64(mtime)} {
		h = (h ^ v) * prime
		h ^= h >> 29
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}

func (f FileStat) hash() uint64 { return statHash(f.Path, f.Size, f.Nanos()) }

// nanos returns the stored form of a time. A time out of range, which only a broken clock writes,
// becomes the nearest time in range.
func nanos(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/int64(time.Second):
		return math.MaxInt64
	case s <= math.MinInt64/int64(time.Second):
		return math.MinInt64
	}
	return t.UnixNano()
}

// The grain of file times. fineGrain is the grain of the kernel's clock. coarseGrain is for file
// systems that store whole seconds, or two seconds as FAT does.
const (
	fineGrain   = 10 * time.Millisecond
	coarseGrain = 2 * time.Second
)

// Young reports whether a file may change once more without a change of its time. This is so if
// the file was written so shortly before it was read that both fall into one tick of the clock. A
// time far in the future is not young, because the present clock did not make it.
func (f FileStat) Young(read time.Time) bool {
	grain := fineGrain
	if f.ModTime.Nanosecond() == 0 {
		grain = coarseGrain
	}
	age := read.Sub(f.ModTime)
	return age < grain && age > -coarseGrain
}
