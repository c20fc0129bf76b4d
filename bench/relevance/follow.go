package relevance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// follow returns dir if no file or folder in it is a symbolic link. Otherwise it copies the
// Markdown of dir, and the Markdown that its links lead to, to the folder to, and returns to.
// memkernel does not follow links to folders, so a set made of links would be judged without them.
func follow(dir, to string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	linked := false
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		linked = linked || err == nil && e.Type()&fs.ModeSymlink != 0
		return err
	})
	if err != nil || !linked {
		return dir, err
	}
	return to, copyInto(to, dir, nil)
}

// copyInto copies the Markdown of a folder. above are the folders that it is in: a link to one of
// them would have no end.
func copyInto(to, dir string, above []string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.Contains(above, dir) {
		return err
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		from, dest := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		if fi, bad := os.Stat(from); bad != nil {
			continue // a link to nothing
		} else if fi.IsDir() {
			err = errors.Join(err, copyInto(dest, from, append(slices.Clone(above), dir)))
		} else if filepath.Ext(from) == ".md" {
			text, bad := os.ReadFile(from)
			err = errors.Join(err, bad, os.MkdirAll(to, 0o700), os.WriteFile(dest, text, 0o600))
		}
	}
	return err
}
