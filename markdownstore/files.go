package markdownstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// Files keeps the files of a workspace. Paths are relative to the workspace, with forward
// slashes. A [Store] has the rules for the meaning of the files. A Files must be safe for
// concurrent use, also with other Files of the same place in other processes. Its errors about
// missing files must wrap fs.ErrNotExist.
type Files interface {
	// FS opens files for reading, and folders as an fs.ReadDirFile. Links are followed
	// and lead to nothing outside.
	fs.FS
	// Lstat describes a path without following a link there. Stat follows a link within the
	// workspace.
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	// Resolve returns the target of a link, and reports whether the target is a folder. It returns
	// an error if the link leads nowhere or out of the workspace. In the second case folder is valid
	// too.
	Resolve(link string) (to string, folder bool, err error)
	// Same reports whether two infos are of one file under two names.
	Same(a, b fs.FileInfo) bool
	// Write runs f to change files. It either excludes other writers that use a Files, or
	// compares each change with the content that f has seen. In the second case a concurrent
	// write of others results in a *ConflictError, or in settled being false, and is never
	// overwritten. f sees all writes before the call, or before the moment of [Since].
	Write(ctx context.Context, f func(Writer) error) error
	Close() error
}

type sinceKey struct{}

// Since returns a context for the writes of a call that began at a moment. Such a write sees the writes
// of others before that moment. It may miss later writes, but never overwrites them. The same holds for
// a list of sessions.
func Since(ctx context.Context, began time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, began)
}

// SinceOf returns the moment of [Since], or the present time if Since was not used.
func SinceOf(ctx context.Context) time.Time {
	if began, ok := ctx.Value(sinceKey{}).(time.Time); ok {
		return began
	}
	return time.Now()
}

// Writer changes the files of a workspace. A change must be synced when it is reported as
// written.
type Writer interface {
	// Append calls add with the file's text and appends the result to the file. If the result is
	// "", it appends nothing. A missing file counts as empty and is made with its folders. now is
	// the file's text afterwards. settled is false if another program replaced the file
	// meanwhile. The caller must then repeat the append.
	Append(path string, add func(old string) (string, error)) (now string, settled bool, err error)
	// Create makes a file that does not exist yet. If it exists, Create returns a *ConflictError.
	Create(path, text string) error
	// Swap replaces a file's text by the result of change, at once and as a whole. If another
	// program changed the file meanwhile, it returns a *ConflictError and keeps that program's
	// text.
	Swap(path string, change func(fi fs.FileInfo, old string) (string, error)) error
	// Remove deletes a file if check returns no error. It also deletes the folders below memory/
	// that are then empty. If another program changed the file meanwhile, it returns a
	// *ConflictError and keeps that program's text.
	Remove(path string, check func(fi fs.FileInfo, old string) error) error
}

// Remote is a Files that several machines share. Nobody can watch it, and a machine's knowledge
// of it may be out of date.
type Remote interface {
	Files
	// Version returns a number that is larger whenever something may have been written since the
	// last call. The number is only valid in this process. The number and later reads are at most
	// as old as the parameter old. If old is 0, Version makes one request that also fetches the
	// changes.
	Version(ctx context.Context, old time.Duration) (int64, error)
	// Where names the place, for messages.
	Where() string
	// Moving marks the place as the target of a move of files from the place from. Only this
	// process reads or writes the place until Moving is called with "", which removes the mark.
	// was is the former mark.
	Moving(ctx context.Context, from string) (was string, err error)
}

// IsRemote reports whether other machines may write the files too, so that the files can't be
// watched.
func (s *Store) IsRemote() bool {
	_, ok := s.files.(Remote)
	return ok
}

// Version returns the version of files that are a [Remote]. The next reads see the writes of
// others, except writes that are no older than old. For a folder it returns 0, because a folder
// is always read as it is.
func (s *Store) Version(ctx context.Context, old time.Duration) (int64, error) {
	if r, ok := s.files.(Remote); ok {
		return r.Version(ctx, old)
	}
	return 0, nil
}

// Place names the place of the files. For a folder it returns the absolute path. It returns ""
// if the files have no name for their place.
func (s *Store) Place() string {
	if r, ok := s.files.(Remote); ok {
		return r.Where()
	}
	return s.dir
}

// OfFS returns a private store of memory's own files in a file system. It can't be
// written to.
func OfFS(fsys fs.FS) *Store { return New(readFS{fsys}, &Options{Private: true}) }

type readFS struct{ fs.FS }

func (f readFS) Lstat(p string) (fs.FileInfo, error) { return fs.Lstat(f.FS, p) }
func (f readFS) Stat(p string) (fs.FileInfo, error)  { return fs.Stat(f.FS, p) }
func (f readFS) Same(a, b fs.FileInfo) bool          { return os.SameFile(a, b) }
func (f readFS) Close() error                        { return nil }

func (f readFS) Resolve(link string) (string, bool, error) {
	return "", false, fmt.Errorf("resolve %s: links are not followed", link)
}

func (f readFS) Write(context.Context, func(Writer) error) error {
	return fmt.Errorf("write: %w", fs.ErrPermission)
}
