package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// maxEach is the largest number of files or directories that a group syncs one by one. For more,
// one syncfs call is cheaper (BenchmarkGroup), although it also flushes the writes of other
// programs to the file system.
const maxEach = 4

// File is a file of a group.
type File struct {
	Path string
	Data []byte
}

// WriteGroup makes many new files durable together: it writes each file as a temp in the directory
// stage, syncs all temps, renames them, and syncs each directory once. It also syncs dirs, the
// directories of files that the caller relies on, and adds the others to it. It creates missing
// directories. stage must exist and be on the file system of the files. On Linux a large group costs
// two syncfs calls whatever its size. Small groups, and all groups on other systems, cost one fsync per file and directory.
//
// A group is not a transaction: if a rename fails, the files renamed before it keep their new
// names. No file is ever seen half written. After an error no temp is left.
func WriteGroup(stage string, files []File, perm fs.FileMode, dirs map[string]bool) (st Stats, err error) {
	if len(files)+len(dirs) == 0 {
		return st, nil
	}
	var root *os.File // opened before the first write, as syncFS requires
	if haveSyncFS {
		if root, err = os.Open(stage); err != nil {
			return st, err
		}
		defer root.Close()
	}
	var temps []string
	defer func() {
		for _, tmp := range temps {
			os.Remove(tmp)
		}
	}()
	for _, f := range files {
		tmp, err := writeTemp(stage, f.Data, perm, false, &st)
		if err != nil {
			return st, fmt.Errorf("stage %s: %w", f.Path, err)
		}
		temps = append(temps, tmp)
		st.Files++
		st.Bytes += int64(len(f.Data))
	}
	err = syncAll(root, temps, &st, syncTemp)
	for _, f := range files {
		if err == nil {
			err = place(temps[0], f.Path, dirs)
		}
		if err != nil {
			break
		}
		temps = temps[1:]
	}
	if err == nil {
		err = syncAll(root, slices.Sorted(maps.Keys(dirs)), &st, SyncDir)
	}
	if err != nil {
		err = fmt.Errorf("commit group: %w", err)
	}
	return st, err
}

// syncAll syncs files or directories, with one call if that is cheaper and the system can.
func syncAll(root *os.File, paths []string, st *Stats, sync func(string, *Stats) error) error {
	if root != nil && len(paths) > maxEach {
		err := syncFS(root, st)
		// Sandboxes refuse the call itself.
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	for _, p := range paths {
		if err := sync(p, st); err != nil {
			return err
		}
	}
	return nil
}

func syncTemp(path string, st *Stats) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(syncFile(f, st), f.Close())
}

// place renames a temp to its target, and adds the directories that must be synced to dirs. It makes
// the target's directory if that is missing.
func place(tmp, path string, dirs map[string]bool) error {
	dir := filepath.Dir(path)
	err := rename(tmp, path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, gone := os.Stat(dir); gone == nil {
			return err
		}
		if err := mkdir(dir, 0o700); err != nil {
			return err
		}
		dirs[filepath.Dir(dir)] = true
		err = rename(tmp, path)
	}
	dirs[dir] = true
	return err
}
