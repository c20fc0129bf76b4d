package index

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

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

// numbered returns the numbers after an ending that are taken, in ascending order.
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
