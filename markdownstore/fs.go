package markdownstore

import (
	"context"
	"fmt"
	"io/fs"
	"os"
)

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
