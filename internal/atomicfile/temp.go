package atomicfile

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	tempPrefix = ".mk~"
	tempSuffix = "~tmp"
	// foreignTempAge is the age from which a temp of another host or container counts as litter,
	// because this host can't check its process.
	foreignTempAge = 24 * time.Hour
)

var tempSeq atomic.Int64

// process identifies this process in temp names. The nonce distinguishes processes that have the
// same pid, because a restarted container starts at pid 1 again. host names the pid namespace to
// which the pid belongs.
var process = sync.OnceValue(func() (p struct {
	pid         int
	nonce, host string
}) {
	var b [4]byte
	rand.Read(b[:])
	p.pid = os.Getpid()
	p.nonce = hex.EncodeToString(b[:])
	name, _ := os.Hostname()
	ns, _ := os.Readlink("/proc/self/ns/pid")
	p.host = fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(name+ns)))
	return p
})

func tempPath(dir string) string {
	p := process()
	name := fmt.Sprintf("%s%d-%s-%s-%s%s", tempPrefix, p.pid, p.nonce, p.host, strconv.FormatInt(tempSeq.Add(1), 36), tempSuffix)
	return dir + string(filepath.Separator) + name
}

// IsTemp reports whether a file name is the name of a temp that this package made. Callers that
// list a directory should skip temps.
func IsTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}

// CleanTemps removes the temps of killed processes from dir, which may be missing. It keeps the
// temps of running processes.
func CleanTemps(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("clean temps: %w", err)
	}
	for _, e := range entries {
		if !IsTemp(e.Name()) || !stale(e) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		err := runHook("remove", path)
		if err == nil {
			err = os.Remove(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clean temps: %w", err)
		}
	}
	return nil
}

func stale(e fs.DirEntry) bool {
	id := strings.TrimSuffix(strings.TrimPrefix(e.Name(), tempPrefix), tempSuffix)
	f := strings.Split(id, "-")
	if len(f) != 4 {
		return false
	}
	pid, err := strconv.Atoi(f[0])
	if err != nil || pid <= 0 {
		return false
	}
	me := process()
	switch {
	case f[2] != me.host:
		fi, err := e.Info()
		return err == nil && time.Since(fi.ModTime()) > foreignTempAge
	case pid == me.pid:
		return f[1] != me.nonce
	default:
		return !alive(pid)
	}
}
