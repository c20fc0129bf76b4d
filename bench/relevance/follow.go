package relevance

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Follow returns dir if no file or folder in it is a symbolic link. Otherwise it copies the
// Markdown of dir to the folder to, with that behind the links, and returns to. memkernel does not
// follow links to folders, and a set that is put together of links would be judged without them.
func Follow(dir, to string) (string, error) {
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

// copyInto copies a folder. above are the folders that it is in: a link to one of them would have
// no end.
func copyInto(to, dir string, above []string) error {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil || slices.Contains(above, dir) {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		from, dest := filepath.Join(dir, e.Name()), filepath.Join(to, e.Name())
		fi, err := os.Stat(from)
		switch {
		case err != nil: // a link to nothing
		case fi.IsDir():
			err = copyInto(dest, from, append(slices.Clone(above), dir))
		case filepath.Ext(from) == ".md":
			var text []byte
			if text, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(dest, text, 0o600)
			}
		}
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	return nil
}
