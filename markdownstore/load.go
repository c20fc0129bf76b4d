package markdownstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/memkernel/memkernel/internal/textutil"
)

// ErrTooLarge is returned when a file is above Options.MaxFileBytes.
var ErrTooLarge = errors.New("file is too large")

// loadTries is how often a file that changes while it is read is read again.
const loadTries = 3

// Loaded is a whole file at one moment.
type Loaded struct {
	File
	// Text is the file, byte for byte unless that is UTF-16.
	Text string
	// Hash is the sha256 of the file in hex. Callers must pass it to Replace.
	Hash string
	// UTF16 reports whether the file is in UTF-16: it is read and never written to.
	UTF16 bool
	// Unsettled reports whether the file was being written each time that it was read. Text may
	// then be incomplete and ModTime is zero. The caller should read the file again.
	Unsettled bool
}

// ReadFile loads any file that Walk lists, also one that is not memory. It is for the kernel's
// own use, not for a model's requests. It returns fs.ErrNotExist for a missing file and
// ErrTooLarge for one above the limit.
func (s *Store) ReadFile(path string) (Loaded, error) {
	pl, err := s.locate(path)
	if err != nil {
		return Loaded{}, wrapRead(path, err)
	}
	if pl.info == nil {
		return Loaded{}, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	}
	l, err := s.load(pl)
	if err != nil {
		return Loaded{}, wrapRead(path, err)
	}
	return l, nil
}

func wrapRead(path string, err error) error {
	if errors.Is(err, ErrDenied) {
		return err
	}
	return fmt.Errorf("read %s: %w", path, err)
}

func (s *Store) load(pl place) (l Loaded, err error) {
	for range loadTries {
		var again bool
		if l, again, err = s.loadOnce(pl); err != nil || !again {
			return l, err
		}
	}
	l.Unsettled, l.ModTime = true, time.Time{}
	return l, nil
}

// loadOnce reads a file and reports whether it changed meanwhile.
func (s *Store) loadOnce(pl place) (Loaded, bool, error) {
	f, before, err := s.open(pl)
	if err != nil {
		return Loaded{}, false, err
	}
	defer f.Close()
	if before.Size() > s.opts.MaxFileBytes {
		return Loaded{}, false, tooLarge(before.Size(), s.opts.MaxFileBytes)
	}
	text, err := readAll(f, before.Size(), s.opts.MaxFileBytes)
	if err != nil {
		return Loaded{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return Loaded{}, false, err
	}
	if int64(len(text)) > s.opts.MaxFileBytes {
		return Loaded{}, false, tooLarge(after.Size(), s.opts.MaxFileBytes)
	}
	changed := after.Size() != int64(len(text)) || !after.ModTime().Equal(before.ModTime())
	l := Loaded{File: fileOf(pl.path, pl.class, after, s.opts.MaxFileBytes), Text: textutil.UTF8(text), Hash: hashOf(text)}
	l.UTF16 = l.Text != text
	return l, changed, nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes, the limit is %d; split it, or raise the limit", ErrTooLarge, size, limit)
}

// readAll reads to the end, whatever the size was, and stops one byte past max.
func readAll(f io.Reader, size, max int64) (string, error) {
	var b strings.Builder
	b.Grow(int(size))
	_, err := io.Copy(&b, io.LimitReader(f, max+1))
	return b.String(), err
}

// hashOf returns the sha256 of a text, in hex.
func hashOf(text string) string {
	h := sha256.New()
	io.WriteString(h, text)
	return hex.EncodeToString(h.Sum(nil))
}

// binarySample is how much of a file is looked at to find that it is not text.
const binarySample = 8000 // as git does

// binaryWhy returns why a file is not text, "" if it is. One zero byte at its
// beginning will do, or many other control characters. Bytes that are not
// UTF-8 make nothing binary: old encodings are text too.
func binaryWhy(text string) string {
	head := text[:min(len(text), binarySample)]
	switch {
	case strings.HasPrefix(head, "\xff\xfe"), strings.HasPrefix(head, "\xfe\xff"):
		return "it is UTF-16; save it as UTF-8"
	case strings.IndexByte(head, 0) >= 0:
		return "it holds zero bytes"
	}
	control := 0
	for i := range len(head) {
		c := head[i]
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b || c == 0x7f {
			control++
		}
	}
	if control*10 > len(head) {
		return "more than a tenth of it is control characters"
	}
	return ""
}
