package kernel

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/memkernel/memkernel/checkpoint"
	"github.com/memkernel/memkernel/kernel/internal/ids"
	"github.com/memkernel/memkernel/markdownstore"
)

var bufferHeading = regexp.MustCompile(`^## (\S+Z), (turn \d+|dump) of session (\S+), (\d+) % full, message (\d+)$`)

func parseHead(l string) (h bufferHead, ok bool) {
	m := bufferHeading.FindStringSubmatch(strings.TrimSpace(l))
	if m == nil {
		return h, false
	}
	at, err := time.Parse(time.RFC3339, m[1])
	h = bufferHead{at: at, what: m[2], session: m[3]}
	h.captured, _ = strconv.Atoi(m[5]) // too many digits are a number that nobody asks for
	return h, err == nil
}

// fromBuffer joins what the buffer's entries of this session say.
func (s *session) fromBuffer() *checkpoint.Checkpoint {
	if s.lifeOpt.Buffer.Off {
		return nil
	}
	text, err := s.memory.bufferText()
	if err != nil {
		return nil
	}
	var out *checkpoint.Checkpoint
	for _, e := range bufferEntries(text) {
		if e.head.session != s.name {
			continue
		}
		c := checkpoint.FromLines(e.lines)
		c.Meta.SessionKey, c.Meta.Captured, c.Meta.CreatedAt = checkpoint.Name(s.key), e.head.captured, checkpoint.Time{Time: e.head.at.UTC()}
		if out != nil {
			c = checkpoint.Merge(out, c)
		}
		out = c
	}
	return out
}

// bufferText is the buffer, "" if there is none.
func (m *memory) bufferText() (string, error) {
	l, err := m.private.ReadFile(bufferPath)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return l.Text, err
}

// bufferEntry is an entry with its place in the file.
type bufferEntry struct {
	head     bufferHead
	lines    []checkpoint.Line
	from, to int // bytes, its marker included
}

// bufferEntries are those of the kernel's form; other text is nobody's entry.
func bufferEntries(text string) []bufferEntry {
	var out []bufferEntry
	at, open := 0, false
	for l := range strings.SplitAfterSeq(text, "\n") {
		from := at
		at += len(l)
		if h, ok := parseHead(l); ok {
			out, open = append(out, bufferEntry{head: h, from: from, to: at}), true
			continue
		}
		if !open {
			continue
		}
		e := &out[len(out)-1]
		if line, ok := checkpoint.ParseLine(l); ok {
			e.lines = append(e.lines, line)
		}
		e.to = at
		open = !strings.HasPrefix(l, "<!-- mk:")
	}
	return out
}

// bufferTitle is the first line of a cycle.
var bufferTitle = regexp.MustCompile(`^# Working buffer of session .+, \d{4}-\d{2}-\d{2}\s*$`)

// foreignBuffer is a text of the buffer without the kernel's entries: those that hold
// nothing but lines of the kernel's form, up to their markers. One that somebody wrote
// into stays whole.
func foreignBuffer(text string) string {
	var b strings.Builder
	gone := false
	for lines := strings.SplitAfter(text, "\n"); len(lines) > 0; {
		if n := ownEntry(lines); n > 0 {
			lines, gone = lines[n:], true
			continue
		}
		if kept := b.String(); gone && kept != "" && !strings.HasSuffix(kept, "\n\n") && !strings.HasSuffix(kept, "\n\r\n") {
			b.WriteString("\n")
		}
		b.WriteString(lines[0])
		lines, gone = lines[1:], false
	}
	if strings.TrimSpace(b.String()) == "" {
		return ""
	}
	return b.String()
}

// ownEntry counts the lines of an entry of the kernel's that a text begins with, the
// title of its cycle and blank lines behind it included; 0 if it begins with none.
func ownEntry(lines []string) int {
	n := 0
	blanks := func() {
		for n < len(lines) && lines[n] != "" && strings.TrimSpace(lines[n]) == "" {
			n++
		}
	}
	if bufferTitle.MatchString(lines[0]) {
		n++
		blanks()
	}
	if n == len(lines) {
		return 0
	}
	if _, ok := parseHead(lines[n]); !ok {
		return 0
	}
	for n++; n < len(lines); n++ {
		if strings.HasPrefix(lines[n], "<!-- mk:") {
			n++
			blanks()
			return n
		}
		if _, ok := checkpoint.ParseLine(lines[n]); !ok && strings.TrimSpace(lines[n]) != "" {
			return 0
		}
	}
	return 0
}

// forgetBuffer takes the session's entries out of the buffer.
func (s *session) forgetBuffer(ctx context.Context) error {
	l, err := s.memory.private.ReadFile(bufferPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	text := l.Text
	entries := bufferEntries(text)
	for i := len(entries) - 1; i >= 0; i-- {
		if e := &entries[i]; e.head.session == s.name {
			text = text[:e.from] + text[e.to:]
		}
	}
	if text == l.Text {
		return nil
	}
	_, err = s.memory.private.Redact(ctx, bufferPath, l.Hash, text)
	return err
}

// Buffered is the working buffer as it was read.
type Buffered struct {
	Text string `json:"text"`
	// Bytes and Hash name what was read, for [Kernel.ClearBuffer].
	Bytes   int    `json:"bytes"`
	Hash    string `json:"hash"`
	Entries int    `json:"entries"`
}

// ReadBuffer reads the working buffer, for a curation.
func (k *Kernel) ReadBuffer(ctx context.Context) (*Buffered, error) {
	if k.memory == nil {
		return nil, errors.New("read the working buffer: memory is switched off")
	}
	text, err := k.memory.bufferText()
	if err != nil {
		return nil, err
	}
	return &Buffered{Text: text, Bytes: len(text), Hash: ids.Hash(text), Entries: len(bufferEntries(text))}, ctx.Err()
}

// ClearBuffer takes away the kernel's entries that a curation has read and made durable
// elsewhere; what somebody else wrote, and what was appended since, stays. If the buffer does not begin with what was read, nothing is
// taken, and the error is a [markdownstore.ConflictError].
func (k *Kernel) ClearBuffer(ctx context.Context, read *Buffered) error {
	if k.memory == nil {
		return errors.New("clear the working buffer: memory is switched off")
	}
	l, err := k.memory.private.ReadFile(bufferPath)
	if err != nil {
		return fmt.Errorf("clear the working buffer: %w", err)
	}
	if read.Bytes < 0 || read.Bytes > len(l.Text) || ids.Hash(l.Text[:read.Bytes]) != read.Hash {
		return fmt.Errorf("clear the working buffer: %w", &markdownstore.ConflictError{Path: bufferPath, Want: read.Hash, Have: l.Hash})
	}
	kept, rest := foreignBuffer(l.Text[:read.Bytes]), l.Text[read.Bytes:]
	if kept == "" {
		rest = strings.TrimLeft(rest, "\r\n")
	}
	rest = kept + rest
	if _, err := k.memory.private.Replace(ctx, bufferPath, l.Hash, rest); err != nil {
		return fmt.Errorf("clear the working buffer: %w", err)
	}
	return ctx.Err()
}
