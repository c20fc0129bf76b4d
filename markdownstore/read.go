package markdownstore

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memkernel/memkernel/internal/textutil"
)

// reason is the outcome of a read, with the names that recall uses.
type reason string

const (
	reasonOK      reason = "OK"
	ReasonNoMatch reason = "NO_MATCH"
)

// Content is the result of Read. If a file or a line does not exist, Text is empty and Detail is
// the reason. Read then returns no error.
type Content struct {
	Text string `json:"text"`
	// Path is the file that was read. It is memory.md if MEMORY.md was requested and only
	// memory.md exists.
	Path string `json:"path"`
	// StartLine and EndLine are the first and last line of Text, counted from 1. They are zero if
	// Text is empty.
	StartLine int    `json:"start_line,omitempty"`
	EndLine   int    `json:"end_line,omitempty"`
	Reason    reason `json:"reason"`
	Detail    string `json:"detail,omitempty"`
	// Truncated reports whether Text was cut at Options.MaxFileBytes.
	Truncated bool `json:"truncated,omitempty"`
	// Hash is the sha256 of the whole file in hex, as it was when Text was read. It is "" for a
	// file of more than a mebibyte.
	Hash string `json:"hash,omitempty"`
}

// mostHashed is the size of the largest file that Read hashes.
const mostHashed = 1 << 20

// Read returns lines of a memory file. The parameter from is the first line; 0 means 1. The
// parameter lines is the number of lines; 0 means all. Read streams, so a large file costs no
// more than the returned part. Text has the bytes of the file without the byte-order mark. A file
// in UTF-16 is returned as UTF-8. For a file that is not memory it returns a *DeniedError.
func (s *Store) Read(path string, from, lines int) (Content, error) {
	if from < 0 || lines < 0 {
		return Content{}, fmt.Errorf("read %s: line %d, count %d: neither may be negative", path, from, lines)
	}
	pl, err := s.locate(path)
	if err != nil {
		return Content{}, wrapped("read", path, err)
	}
	switch c := &pl.class; {
	case c.Memory:
	case c.Kind == KindInstructions, c.Kind == KindRoutine:
		return Content{}, deny(path, denyStanding)
	default:
		return Content{}, deny(path, DenyNotMemory)
	}
	c := Content{Path: pl.path, Reason: ReasonNoMatch}
	f, _, err := s.open(pl)
	if err != nil && gone(err) == nil {
		c.Detail = "there is no such file"
		return c, nil
	}
	if err != nil {
		return Content{}, wrapped("read", path, err)
	}
	defer f.Close()
	var r io.Reader
	if s.opts.Shown == nil {
		r, err = hashed(&c, f)
	} else {
		var l Loaded
		l, err = s.load(pl)
		r = strings.NewReader(l.Text)
	}
	if err == nil {
		err = readLines(&c, r, max(from, 1), lines, s.opts.MaxFileBytes)
	}
	if err != nil {
		return Content{}, wrapped("read", path, err)
	}
	return c, nil
}

// Lines returns lines of a text in the same way as [Store.Read] returns lines of a file.
func Lines(path, text string, from, lines int) (*Content, error) {
	c := &Content{Path: path, Reason: ReasonNoMatch}
	return c, readLines(c, strings.NewReader(text), max(from, 1), lines, DefaultMaxFileBytes)
}

// hashed returns a reader of the file's content. It reads a small file whole and sets its hash, so that
// the lines and the hash belong to the same content.
func hashed(c *Content, f io.Reader) (io.Reader, error) {
	head, err := io.ReadAll(io.LimitReader(f, mostHashed+1))
	if err != nil {
		return nil, err
	}
	if len(head) > mostHashed {
		return io.MultiReader(bytes.NewReader(head), f), nil
	}
	c.Hash = hashOf(string(head))
	return bytes.NewReader(head), nil
}

// readLines fills c with a number of lines of a text, beginning at line from, and at most limit bytes.
func readLines(c *Content, r io.Reader, from, lines int, limit int64) error {
	br := bufio.NewReaderSize(textutil.UTF8Reader(r), 64<<10)
	head, err := br.Peek(binarySample)
	if err != nil && err != io.EOF {
		return err
	}
	if why := binaryWhy(string(head)); why != "" {
		c.Detail = "the file is not text: " + why
		return nil
	}
	if strings.HasPrefix(string(head), bom) {
		br.Discard(len(bom))
	}
	var b strings.Builder
	line, begun := 1, false // the line that is read, and whether a part of it was
	for ended := false; !ended && (lines == 0 || line < from+lines); {
		part, err := br.ReadSlice('\n') // a part of the line if the line is long
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
		ended = err == io.EOF
		if line >= from {
			if room := int(limit) - b.Len(); len(part) > room {
				part, ended, c.Truncated = part[:runeStart(string(part), room)], true, true
			}
			b.Write(part)
		}
		if begun = begun || len(part) > 0; begun && (err == nil || ended) {
			line, begun = line+1, false
		}
	}
	if line <= from {
		c.Detail = fmt.Sprintf("line %d is behind the end, the file has %d lines", from, line-1)
		return nil
	}
	c.Text, c.Reason = b.String(), reasonOK
	c.StartLine, c.EndLine = from, line-1
	return nil
}
