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

// errTooLarge is returned when a file is larger than Options.MaxFileBytes.
var errTooLarge = errors.New("file is too large")

// loadTries is the number of attempts to read a file that changes while it is read.
const loadTries = 3

// Loaded is a whole file at one moment.
type Loaded struct {
	File
	// Text is the content of the file, byte for byte unless the file is in UTF-16.
	Text string
	// Hash is the sha256 of the file in hex. Callers must pass it to Replace.
	Hash string
	// UTF16 reports whether the file is in UTF-16. Such a file is read and never written.
	UTF16 bool
	// Unsettled reports whether the file changed during every attempt to read it. Text may then
	// be incomplete and ModTime is zero. The caller should read the file again.
	Unsettled bool
}

// ReadFile loads any file that Walk lists, even a file that is not memory. It is for the kernel's
// own use, not for a model's requests. It returns fs.ErrNotExist for a missing file and
// errTooLarge for a file above the limit.
func (s *Store) ReadFile(path string) (Loaded, error) {
	pl, err := s.locate(path)
	if err != nil {
		return Loaded{}, wrapped("read", path, err)
	}
	if pl.info == nil {
		return Loaded{}, fmt.Errorf("read %s: %w", path, fs.ErrNotExist)
	}
	l, err := s.load(pl)
	if err != nil {
		return Loaded{}, wrapped("read", path, err)
	}
	return l, nil
}

// wrapped adds the verb and the path to an error. It returns a refusal unchanged.
func wrapped(verb, path string, err error) error {
	if errors.Is(err, ErrDenied) {
		return err
	}
	return fmt.Errorf("%s %s: %w", verb, path, err)
}

// load reads a whole file. If the file changes meanwhile, it reads the file again, up to loadTries
// times.
func (s *Store) load(pl place) (l Loaded, err error) {
	for range loadTries {
		if l, err = s.loadOnce(pl); err != nil || !l.Unsettled {
			return l, err
		}
	}
	l.ModTime = time.Time{}
	return l, nil
}

// loadOnce reads a file once. It sets Unsettled if the file changed meanwhile.
func (s *Store) loadOnce(pl place) (l Loaded, err error) {
	f, before, err := s.open(pl)
	if err != nil {
		return l, err
	}
	defer f.Close()
	if before.Size() > s.opts.MaxFileBytes {
		return l, tooLarge(before.Size(), s.opts.MaxFileBytes)
	}
	text, err := readAll(f, before.Size(), s.opts.MaxFileBytes)
	if err != nil {
		return l, err
	}
	after, err := f.Stat()
	if err != nil {
		return l, err
	}
	if int64(len(text)) > s.opts.MaxFileBytes {
		return l, tooLarge(after.Size(), s.opts.MaxFileBytes)
	}
	l = Loaded{File: fileOf(pl.path, pl.class, after, s.opts.MaxFileBytes), Text: textutil.UTF8(text), Hash: hashOf(text)}
	l.Unsettled = after.Size() != int64(len(text)) || !after.ModTime().Equal(before.ModTime())
	l.UTF16 = l.Text != text
	if s.opts.Shown != nil {
		l.Text = s.opts.Shown(l.Text)
	}
	return l, nil
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes, the limit is %d; split it, or raise the limit", errTooLarge, size, limit)
}

// readAll reads f to its end, but at most max+1 bytes. size is the expected size.
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

// binarySample is the number of bytes that are searched for signs of a binary file.
const binarySample = 8000 // as git does

// binaryWhy returns the reason why a file is not text, or "" if it is text. A file with a zero
// byte or many other control characters at its beginning is not text. Bytes that are not UTF-8 do
// not make a file binary, since old encodings are text too.
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
