package markdownstore

import (
	"context"
	"io/fs"
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
	// Resolve returns the path that a link leads to, and reports whether a folder
	// is there. It returns an error if the link leads nowhere, or out of the
	// workspace, and then folder may be true too.
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

// Since makes a write, which is part of a call that began at a moment, see the writes of others
// before that moment. It need not see their later writes, and does not write over them. The same
// holds for a list of sessions.
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
