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

// Reason is the outcome of a read, by the names that recall uses.
type Reason string

const (
	ReasonOK      Reason = "OK"
	ReasonNoMatch Reason = "NO_MATCH"
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
	Reason    Reason `json:"reason"`
	Detail    string `json:"detail,omitempty"`
	// Truncated reports whether Text was cut at Options.MaxFileBytes.
	Truncated bool `json:"truncated,omitempty"`
	// Hash is the sha256 of the whole file in hex, as it was when Text was read. It is "" for a
	// file of more than a mebibyte.
	Hash string `json:"hash,omitempty"`
}

// mostHashed is the size up to which a file is read whole to be hashed.
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
		return Content{}, wrapRead(path, err)
	}
	switch c := &pl.class; {
	case c.Memory:
	case c.Kind == KindInstructions, c.Kind == KindRoutine:
		return Content{}, deny(path, denyStanding)
	default:
		return Content{}, deny(path, DenyNotMemory)
	}
	c := Content{Path: pl.path, Reason: ReasonNoMatch}
	if pl.info == nil {
		c.Detail = "there is no such file"
		return c, nil
	}
	f, _, err := s.open(pl)
	if gone(err) == nil && err != nil {
		c.Detail = "there is no such file"
		return c, nil
	}
	if err != nil {
		return Content{}, wrapRead(path, err)
	}
	defer f.Close()
	if s.opts.Shown != nil {
		l, err := s.load(pl)
		if err != nil {
			return Content{}, wrapRead(path, err)
		}
		return c, readLines(&c, strings.NewReader(l.Text), max(from, 1), lines, s.opts.MaxFileBytes)
	}
	r, err := hashed(&c, f)
	if err == nil {
		err = readLines(&c, r, max(from, 1), lines, s.opts.MaxFileBytes)
	}
	if err != nil {
		return Content{}, wrapRead(path, err)
	}
	return c, nil
}

// Lines returns lines of a text as [Store.Read] returns those of a file.
func Lines(path, text string, from, lines int) (*Content, error) {
	c := &Content{Path: path, Reason: ReasonNoMatch}
	return c, readLines(c, strings.NewReader(text), max(from, 1), lines, DefaultMaxFileBytes)
}

// hashed reads a small file whole, so that its lines and its hash are of one moment.
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
	n, err := skipLines(br, from-1)
	if err != nil {
		return err
	}
	if n < from-1 {
		c.Detail = fmt.Sprintf("line %d is behind the end, the file has %d lines", from, n)
		return nil
	}
	return takeLines(c, br, from, lines, n, limit)
}

// skipLines skips n lines and returns the number of lines that it skipped. A last line without a
// line feed counts.
func skipLines(br *bufio.Reader, n int) (int, error) {
	partial := false
	for i := 0; i < n; {
		b, err := br.ReadSlice('\n')
		switch {
		case err == nil:
			i, partial = i+1, false
		case errors.Is(err, bufio.ErrBufferFull):
			partial = true
		case err == io.EOF:
			if partial || len(b) > 0 {
				i++
			}
			return i, nil
		default:
			return i, err
		}
	}
	return n, nil
}

// takeLines fills c with lines from the reader's place on.
func takeLines(c *Content, br *bufio.Reader, from, lines, before int, limit int64) error {
	var b strings.Builder
	taken := 0
	for lines == 0 || taken < lines {
		part, err := br.ReadSlice('\n')
		if room := int(limit) - b.Len(); len(part) > room {
			b.WriteString(trimPartialRune(string(part[:room])))
			if c.Truncated = true; room > 0 {
				taken++
			}
			break
		}
		b.Write(part)
		if err == nil || err == io.EOF && b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			taken++
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if err != io.EOF {
				return err
			}
			break
		}
	}
	if taken == 0 {
		c.Detail = fmt.Sprintf("line %d is behind the end, the file has %d lines", from, before)
		return nil
	}
	c.Text, c.Reason = b.String(), ReasonOK
	c.StartLine, c.EndLine = from, from+taken-1
	return nil
}
