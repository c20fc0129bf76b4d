package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// The parts of a SQLite header that identify the application of a file
// (sqlite.org/fileformat.html, 1.3).
const (
	headerSize    = 100
	versionOffset = 60 // user version, big-endian
	appOffset     = 68 // application id, big-endian
	probeSize     = 64 << 10
)

// probe reads the file itself before SQLite opens it. It returns nil for an index of our version,
// and otherwise ErrMissing, ErrForeign, ErrNewer, ErrOlder or ErrDamaged. The header fields that
// it reads are set when the file is made and never change, so probe need not read the log.
func probe(path string) error {
	if err := probeKind(path); err != nil {
		return err
	}
	head, err := readHead(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Problem("open index", path, ErrMissing, nil)
	case err != nil:
		return explain("open index", path, err)
	case len(head) == 0:
		return Problem("open index", path, ErrMissing, nil)
	}
	if len(head) < headerSize || string(head[:len(BorrowedMagic)]) != BorrowedMagic ||
		binary.BigEndian.Uint32(head[appOffset:]) != applicationID {
		if looksOurs(head) {
			return Problem("open index", path, ErrDamaged, errors.New("its header is not what it was"))
		}
		return Problem("open index", path, ErrForeign, nil)
	}
	switch v := binary.BigEndian.Uint32(head[versionOffset:]); {
	case v > formatVersion:
		return Problem("open index", path, ErrNewer, versions(v))
	case v < formatVersion:
		return Problem("open index", path, ErrOlder, versions(v))
	}
	return nil
}

// probeKind returns an error if the file, or one of its companion files, is a link or a folder.
// SQLite would follow a link out of the folder, and can't read a folder.
func probeKind(path string) error {
	for _, c := range companions {
		fi, err := os.Lstat(path + c)
		if err != nil || fi.Mode().IsRegular() {
			continue // a file that stat can't read can't be opened either
		}
		what := errors.New("it is no regular file")
		switch {
		case fi.Mode()&fs.ModeSymlink != 0:
			what = errors.New("it is a symbolic link, which is not followed")
		case fi.IsDir():
			what = errors.New("it is a folder")
		}
		if c == "" {
			return Problem("open index", path, ErrForeign, what)
		}
		return Problem("open index", path, ErrDamaged, fmt.Errorf("%s beside it: %w", c, what))
	}
	return nil
}

func versions(v uint32) error {
	return fmt.Errorf("format %d, this program writes %d", v, formatVersion)
}

// readHead reads the beginning of a file.
func readHead(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	head := make([]byte, headerSize)
	n, err := io.ReadFull(f, head)
	if head = head[:n]; err == nil && binary.BigEndian.Uint32(head[appOffset:]) == applicationID {
		return head, nil
	}
	// The header does not have our application id. More of the file is needed to distinguish a
	// foreign file from a damaged index.
	more, err := io.ReadAll(io.LimitReader(f, probeSize-int64(n)))
	return append(head, more...), err
}

// looksOurs reports whether a file with a damaged header was an index, because the beginning of the
// file names our tables. A file with only zeros, or shorter than a header, counts as an index too.
func looksOurs(head []byte) bool {
	if len(head) < headerSize && string(head[:min(len(head), len(BorrowedMagic))]) == BorrowedMagic[:min(len(head), len(BorrowedMagic))] ||
		len(bytes.Trim(head, "\x00")) == 0 {
		return true
	}
	return bytes.Contains(head, []byte("chunks_fts")) && bytes.Contains(head, []byte("embedding_cache")) ||
		len(head) >= appOffset+4 && binary.BigEndian.Uint32(head[appOffset:]) == applicationID
}
