package markdownstore

import (
	"context"
	"io/fs"
	"time"
)

// Files keeps the files of a workspace, by paths relative to it with forward slashes; a [Store]
// has the rules of their meaning. Files must be safe for concurrent use, and so must several of
// one place, in several processes. Its errors about files that don't exist must be an
// fs.ErrNotExist.
type Files interface {
	// FS opens files for reading, and folders as an fs.ReadDirFile. Links are followed
	// and lead to nothing outside.
	fs.FS
	// Lstat looks at a path without following a link there, Stat at the target of a link within
	// the workspace.
	Lstat(path string) (fs.FileInfo, error)
	Stat(path string) (fs.FileInfo, error)
	// Resolve returns the path that a link leads to, and reports whether a folder
	// is there. It returns an error if the link leads nowhere, or out of the
	// workspace, and then folder may be true too.
	Resolve(link string) (to string, folder bool, err error)
	// Same reports whether two infos are of one file under two names.
	Same(a, b fs.FileInfo) bool
	// Write runs f while nobody else writes to the workspace through a Files, or compares each
	// change that f makes with the content of the file that f has seen. In the second case a
	// write of others meanwhile is a *ConflictError, or unsettled, and never written over. f sees
	// all writes before the call, or before the moment of [Since].
	Write(ctx context.Context, f func(Writer) error) error
	Close() error
}

type sinceKey struct{}

// Since makes a write, which is part of a call that began at a moment, see the writes of others
// before that moment. It need not see their later writes, and does not write over them.
func Since(ctx context.Context, began time.Time) context.Context {
	return context.WithValue(ctx, sinceKey{}, began)
}

// SinceOf is the moment of [Since], now without it.
func SinceOf(ctx context.Context) time.Time {
	if began, ok := ctx.Value(sinceKey{}).(time.Time); ok {
		return began
	}
	return time.Now()
}

// Writer changes the files of a workspace. A change must be synced when it is reported as
// written.
type Writer interface {
	// Append adds the result of add, which gets the file's text, at the end of the file, or
	// nothing for "". A file that does not exist is empty, and made with its folders. now is the
	// file's text afterwards; settled is false if another program has put another file in the
	// place of the one that was written to, and the caller must then repeat the append.
	Append(path string, add func(old string) (string, error)) (now string, settled bool, err error)
	// Create makes a file that does not exist yet. If it exists, Create returns a *ConflictError.
	Create(path, text string) error
	// Swap replaces a file's text by the result of change, at once and as a whole. If another
	// program changed the file meanwhile, it returns a *ConflictError and keeps that program's
	// text.
	Swap(path string, change func(fi fs.FileInfo, old string) (string, error)) error
	// Remove takes a file away at once, if check has nothing against it, and the folders below
	// memory/ that are empty then. If another program changed the file meanwhile, it returns a
	// *ConflictError and keeps that program's text.
	Remove(path string, check func(fi fs.FileInfo, old string) error) error
}
